import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  type DynamoDbEndpoint,
  startDynamoDbEndpoint,
} from '../../local/dynamodb-endpoint/index.ts';
import { type ErrorKind, ManualClock } from '../../shared/base/index.ts';
import {
  createCatalogTable,
  DynamoDbCatalog,
  parseTableIdentifier,
  type TablePointer,
} from '../../shared/catalog/index.ts';
import {
  type FaultyProxy,
  type ProxyFault,
  serviceError,
  startFaultyProxy,
} from '../dynamodb/faulty-proxy.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { type DynamoDbHarness, localConnection, openDynamoDbHarness } from './dynamodb-harness.ts';

/** For answers that never come; everything else has the usual 10 s, however busy the machine is. */
const REQUEST_TIMEOUT_MS_SHORT = 200;

describe('DynamoDbCatalog: faults', () => {
  const clock = new ManualClock(0);
  let tables = 0;
  let server: DynamoDbEndpoint;
  let proxy: FaultyProxy;
  let harness: DynamoDbHarness;
  let catalog: DynamoDbCatalog;
  let impatientCatalog: DynamoDbCatalog;
  before(async () => {
    server = await startDynamoDbEndpoint();
    harness = await openDynamoDbHarness(server.endpoint, clock);
    proxy = await startFaultyProxy(server.endpoint);
    catalog = new DynamoDbCatalog(localConnection(proxy.endpoint, clock));
    impatientCatalog = new DynamoDbCatalog({
      ...localConnection(proxy.endpoint, clock),
      requestTimeoutMs: REQUEST_TIMEOUT_MS_SHORT,
    });
  });
  afterEach(() => {
    proxy.operations.length = 0;
    assert.deepEqual(proxy.faults.splice(0), []);
  });
  after(async () => {
    await proxy.close();
    await harness.close();
    await server.close();
  });

  const register = (): Promise<TablePointer> =>
    harness.catalog.registerTable(parseTableIdentifier(`db.t${++tables}`), 's3://w/0.json');
  const commit = (base: TablePointer, by = catalog) =>
    by.commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });

  const lost: [string, ProxyFault, string][] = [
    [
      'a 500 after it was applied',
      { kind: 'apply-then-answer', status: 500, body: serviceError('InternalServerError') },
      's3://w/1.json',
    ],
    ['a 503 with an HTML body', { kind: 'answer', status: 503, body: '<html>' }, 's3://w/0.json'],
    [
      'a 400 that names nothing known',
      { kind: 'answer', status: 400, body: serviceError('Mystery') },
      's3://w/0.json',
    ],
    [
      'a 200 that cannot be read',
      { kind: 'apply-then-answer', status: 200, body: '{"half":' },
      's3://w/1.json',
    ],
    [
      'a connection cut after it was applied',
      { kind: 'apply-then-cut', afterBytes: 0 },
      's3://w/1.json',
    ],
    [
      'a connection cut within the answer',
      { kind: 'apply-then-cut', afterBytes: 5 },
      's3://w/1.json',
    ],
    ['a connection cut before it was applied', { kind: 'cut' }, 's3://w/0.json'],
    ['no answer within the time limit', { kind: 'hang' }, 's3://w/0.json'],
    ['an answer that stops half-way', { kind: 'hang-in-body' }, 's3://w/0.json'],
  ];
  for (const [what, fault, location] of lost) {
    test(`a commit that meets ${what} is not repeated, and its state is unknown`, async () => {
      const base = await register();
      proxy.faults.push(fault);

      await assert.rejects(
        commit(base, fault.kind.startsWith('hang') ? impatientCatalog : catalog),
        errorOfKind('commit-state-unknown', /no readable answer to dynamodb:UpdateItem of db\.t/),
      );

      assert.deepEqual(proxy.operations, ['UpdateItem']);
      const loaded = await harness.catalog.loadTable(base.identifier);
      assert.equal(loaded.metadataLocation, location);
    });
  }

  const refused: [string, number, ErrorKind, RegExp][] = [
    ['ConditionalCheckFailedException', 400, 'commit-conflict', /condition does not hold/],
    ['TransactionConflictException', 400, 'commit-conflict', /condition does not hold/],
    ['ReplicatedWriteConflictException', 400, 'commit-conflict', /condition does not hold/],
    ['AccessDeniedException', 400, 'access-denied', /access denied for dynamodb:UpdateItem/],
    ['ExpiredTokenException', 400, 'access-denied', /access denied for dynamodb:UpdateItem/],
    ['IncompleteSignatureException', 400, 'access-denied', /access denied/],
    ['InvalidSignatureException', 400, 'access-denied', /access denied/],
    ['MissingAuthenticationTokenException', 400, 'access-denied', /access denied/],
    ['UnrecognizedClientException', 400, 'access-denied', /access denied/],
    ['ResourceNotFoundException', 400, 'not-found', /^catalog table iceberg: no such table/],
    ['LimitExceededException', 400, 'unavailable', /no success/],
    ['ProvisionedThroughputExceededException', 400, 'unavailable', /no success/],
    ['RequestLimitExceeded', 400, 'unavailable', /no success/],
    ['ThrottlingException', 400, 'unavailable', /no success/],
    ['ItemCollectionSizeLimitExceededException', 400, 'invalid-config', /refused as malformed/],
    ['SerializationException', 400, 'invalid-config', /refused as malformed/],
    ['UnknownOperationException', 400, 'invalid-config', /refused as malformed/],
    ['ValidationException', 400, 'invalid-config', /refused as malformed/],
  ];
  for (const [name, status, kind, message] of refused) {
    test(`a commit refused with ${name} is ${kind}, and is not repeated`, async () => {
      const base = await register();
      proxy.faults.push({ kind: 'answer', status, body: serviceError(name) });

      await assert.rejects(commit(base), (error: Error) => {
        errorOfKind(kind, message)(error);
        assert.match(error.message, new RegExp(`dynamodb:UpdateItem of db\\.t\\d+ \\(${name}\\)$`));
        return true;
      });

      assert.deepEqual(proxy.operations, ['UpdateItem']);
    });
  }

  test('a commit that finds nobody listening was not applied', async () => {
    const base = await register();
    const gone = await startFaultyProxy(server.endpoint);
    await gone.close();
    const unconnected = new DynamoDbCatalog(localConnection(gone.endpoint, clock));

    const update = { base, metadataLocation: 's3://w/1.json', version: 'v1' };

    await assert.rejects(
      unconnected.commitTable(update),
      errorOfKind('unavailable', /ECONNREFUSED/),
    );
  });

  test('a registration or a fence without an answer is not repeated either', async () => {
    const base = await register();
    proxy.faults.push({ kind: 'apply-then-cut', afterBytes: 0 }, { kind: 'cut' });

    await assert.rejects(
      catalog.registerTable(parseTableIdentifier('db.lost'), 's3://w/0.json'),
      errorOfKind('commit-state-unknown'),
    );
    await assert.rejects(
      catalog.fenceTable({ base, version: 'fence-1' }),
      errorOfKind('commit-state-unknown'),
    );

    assert.deepEqual(proxy.operations, ['PutItem', 'UpdateItem']);
  });

  test('a read is repeated with jitter until it succeeds', async () => {
    const base = await register();
    const startMs = clock.nowMs();
    proxy.faults.push(
      { kind: 'answer', status: 500, body: serviceError('InternalServerError') },
      { kind: 'cut' },
      { kind: 'answer', status: 400, body: serviceError('ThrottlingException') },
      { kind: 'answer', status: 200, body: '<html>' },
    );

    const loaded = await catalog.loadTable(base.identifier);

    assert.deepEqual(loaded, base);
    assert.deepEqual(
      proxy.operations,
      Array.from({ length: 5 }, () => 'GetItem'),
    );
    const waitedMs = clock.nowMs() - startMs;
    assert.ok(waitedMs > 0 && waitedMs < 200 + 400 + 800 + 1600, `${waitedMs} ms`);
  });

  test('a read gives up after six attempts', async () => {
    const base = await register();
    proxy.faults.push(...Array.from({ length: 6 }, () => ({ kind: 'cut' }) as const));

    await assert.rejects(
      catalog.loadTable(base.identifier),
      errorOfKind('unavailable', /no success for dynamodb:GetItem of db\.t\d+ \(ECONNRESET\)/),
    );

    assert.equal(proxy.operations.length, 6);
  });

  const denied: [string, string, () => Promise<unknown>][] = [
    ['GetItem', 'dynamodb:GetItem', () => catalog.loadTable(parseTableIdentifier('db.x'))],
    ['Scan', 'dynamodb:Scan', () => first(catalog.listTables())],
    ['Query', 'dynamodb:Query', () => first(catalog.listTables(['db']))],
    [
      'PutItem',
      'dynamodb:PutItem',
      () => catalog.registerTable(parseTableIdentifier('db.x'), 's3://w'),
    ],
    [
      'CreateTable',
      'dynamodb:CreateTable',
      () => createCatalogTable(localConnection(proxy.endpoint, clock)),
    ],
  ];
  for (const [operation, action, call] of denied) {
    test(`a missing right to ${operation} is named, and not asked for again`, async () => {
      const body = serviceError('AccessDeniedException');
      proxy.faults.push({ kind: 'answer', status: 400, body });

      await assert.rejects(
        call(),
        errorOfKind(
          'access-denied',
          new RegExp(`^catalog table iceberg: access denied for ${action}`),
        ),
      );

      assert.deepEqual(proxy.operations, [operation]);
    });
  }

  test('a listing reads page after page', async () => {
    const key = (name: string) => ({
      identifier: { S: `paged.${name}` },
      namespace: { S: 'paged' },
    });
    const page = (name: string, isLast: boolean) =>
      JSON.stringify({ Items: [key(name)], ...(isLast ? {} : { LastEvaluatedKey: key(name) }) });
    proxy.faults.push(
      { kind: 'answer', status: 200, body: page('a', false) },
      {
        kind: 'answer',
        status: 200,
        body: JSON.stringify({ Items: [], LastEvaluatedKey: key('b') }),
      },
      { kind: 'answer', status: 200, body: page('c', true) },
    );
    const names: string[] = [];

    for await (const table of catalog.listTables(['paged'])) names.push(table.name);

    assert.deepEqual(names, ['a', 'c']);
    assert.deepEqual(proxy.operations, ['Query', 'Query', 'Query']);
  });

  test('a catalog table that does not become active is unavailable', async () => {
    const creating = JSON.stringify({ Table: { TableStatus: 'CREATING' } });
    proxy.faults.push({
      kind: 'answer',
      status: 400,
      body: serviceError('ResourceInUseException'),
    });
    for (let poll = 0; poll < 240; poll++) {
      proxy.faults.push({ kind: 'answer', status: 200, body: creating });
    }

    await assert.rejects(
      createCatalogTable(localConnection(proxy.endpoint, clock)),
      errorOfKind('unavailable', /not active after 240 polls/),
    );
  });

  test('absent credentials are a missing right, and nothing is sent', async () => {
    const base = await register();
    const { credentials: _, ...connection } = localConnection(proxy.endpoint, clock);
    const unsigned = new DynamoDbCatalog({
      ...connection,
      credentials: () =>
        Promise.reject(Object.assign(new Error(), { name: 'CredentialsProviderError' })),
    });

    await assert.rejects(
      unsigned.commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' }),
      errorOfKind('access-denied', /CredentialsProviderError/),
    );

    assert.deepEqual(proxy.operations, []);
  });
});

async function first<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}
