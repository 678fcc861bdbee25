import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDbEndpoint,
  startDynamoDbEndpoint,
} from '../../local/dynamodb-endpoint/index.ts';
import { type Clock, ManualClock, seededRandom } from '../../shared/base/index.ts';
import {
  createLedger,
  createLedgerTable,
  DynamoDbItemStore,
  type Ledger,
} from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import {
  type FaultyProxy,
  type ProxyFault,
  serviceError,
  startFaultyProxy,
} from '../dynamodb/faulty-proxy.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testLedgerConformance } from './ledger.conformance.ts';

function localConnection(endpoint: string, clock: Clock, seed = 1) {
  return {
    endpoint,
    clock,
    tableName: 'firn-ledger',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    random: seededRandom(seed),
  };
}

function openLedger(endpoint: string, clock: Clock, seed: number): Ledger {
  const state = { store: new MemoryObjectStore(), prefix: 's3://state/ledger/' };
  const items = new DynamoDbItemStore(localConnection(endpoint, clock, seed));
  return createLedger({ items, state, clock, random: seededRandom(seed) });
}

testLedgerConformance('dynamodb', async (clock) => {
  const server = await startDynamoDbEndpoint();
  await createLedgerTable(localConnection(server.endpoint, clock));
  const state = { store: new MemoryObjectStore(), prefix: 's3://state/ledger/' };
  const items = new DynamoDbItemStore(localConnection(server.endpoint, clock, 1));
  const otherItems = new DynamoDbItemStore(localConnection(server.endpoint, clock, 2));
  return {
    ledger: createLedger({ items, state, clock, random: seededRandom(3) }),
    other: createLedger({ items: otherItems, state, clock, random: seededRandom(4) }),
    items,
    close: () => server.close(),
  };
});

describe('DynamoDbItemStore', () => {
  const clock = new ManualClock(1_800_000_000_000);
  let server: DynamoDbEndpoint;
  let proxy: FaultyProxy;
  let client: DynamoDBClient;
  let items: DynamoDbItemStore;
  let ledger: Ledger;
  before(async () => {
    server = await startDynamoDbEndpoint();
    proxy = await startFaultyProxy(server.endpoint);
    await createLedgerTable(localConnection(server.endpoint, clock));
    client = new DynamoDBClient(localConnection(server.endpoint, clock));
    items = new DynamoDbItemStore(localConnection(proxy.endpoint, clock));
    ledger = openLedger(proxy.endpoint, clock, 5);
  });
  afterEach(() => {
    proxy.operations.length = 0;
    assert.deepEqual(proxy.faults.splice(0), []);
  });
  after(async () => {
    client.destroy();
    await proxy.close();
    await server.close();
  });

  test('creates the table where it is missing, and leaves it where it is not', async () => {
    await items.write({ partition: 'create', sort: 'x', revision: 'v', body: {} }, undefined);

    await createLedgerTable(localConnection(server.endpoint, clock));

    assert.equal((await items.read({ partition: 'create', sort: 'x' }))?.revision, 'v');
  });

  test('writes the documented attributes, and no other', async () => {
    const item = {
      partition: 'db.orders',
      sort: 'report#1',
      revision: 'v1',
      body: { id: 9_007_199_254_740_993n },
      expiresAtMs: 1_800_000_000_001,
      dueAtMs: 1_800_000_000_002,
    };

    await items.write(item, undefined);

    const key = { table: { S: 'db.orders' }, item: { S: 'report#1' } };
    const command = new GetItemCommand({ TableName: 'firn-ledger', Key: key });
    assert.deepEqual((await client.send(command)).Item, {
      ...key,
      revision: { S: 'v1' },
      body: { S: '{"id":9007199254740993}' },
      expires_at: { N: '1800000001' },
      due_at: { N: '1800000000002' },
    });
    assert.deepEqual(await items.read(item), { ...item, expiresAtMs: 1_800_000_001_000 });
  });

  test('an item without revision or body, or with a body that is none, is invalid', async () => {
    const key = { table: { S: 'broken' }, item: { S: 'x' } };
    for (const attributes of [
      { revision: { S: 'v' } },
      { body: { S: '{}' } },
      { revision: { S: 'v' }, body: { S: '{"half":' } },
      { revision: { S: 'v' }, body: { S: '[]' } },
      { revision: { N: '1' }, body: { S: '{}' } },
    ]) {
      const command = { TableName: 'firn-ledger', Item: { ...key, ...attributes } };
      await client.send(new PutItemCommand(command));

      await assert.rejects(
        items.read({ partition: 'broken', sort: 'x' }),
        errorOfKind('invalid-data'),
      );
    }
  });

  const lost: [string, ProxyFault, string[]][] = [
    [
      'a 500 after it was applied',
      { kind: 'apply-then-answer', status: 500, body: serviceError('InternalServerError') },
      ['GetItem', 'PutItem', 'GetItem'],
    ],
    [
      'a connection cut after it was applied',
      { kind: 'apply-then-cut', afterBytes: 0 },
      ['GetItem', 'PutItem', 'GetItem'],
    ],
    [
      'a connection cut before it was applied',
      { kind: 'cut' },
      ['GetItem', 'PutItem', 'GetItem', 'PutItem'],
    ],
    [
      'throttling',
      { kind: 'answer', status: 400, body: serviceError('ThrottlingException') },
      ['GetItem', 'PutItem', 'GetItem', 'PutItem'],
    ],
  ];
  for (const [index, [what, fault, operations]] of lost.entries()) {
    test(`a grant that meets ${what} is settled by reading it back`, async () => {
      proxy.faults.push({ kind: 'pass' }, fault);

      const request = { scope: 'rewrite', owner: 'a', durationMs: 1000 };
      const outcome = await ledger.leases.acquire({ ...request, table: `lost.t${index}` });

      assert.ok(outcome.outcome === 'acquired');
      assert.equal(outcome.lease.fencingNumber, 1);
      assert.deepEqual(proxy.operations, operations);
    });
  }

  test('a service that never answers a write is unavailable', async () => {
    const request = { scope: 'rewrite', owner: 'a', durationMs: 1000 };
    // Reads pass, before the first attempt and after each.
    const attempts = Array.from({ length: 6 }, () => [{ kind: 'cut' }, { kind: 'pass' }] as const);
    proxy.faults.push({ kind: 'pass' }, ...attempts.flat());

    await assert.rejects(
      ledger.leases.acquire({ ...request, table: 'lost.for-good' }),
      errorOfKind('unavailable', /not written after 6 attempts/),
    );

    assert.equal(proxy.operations.filter((operation) => operation === 'PutItem').length, 6);
  });

  const denied: [string, () => Promise<unknown>][] = [
    ['GetItem', () => items.read({ partition: 'a', sort: 'b' })],
    [
      'Query',
      () => items.query({ partition: 'a', sortPrefix: 'b', order: 'ascending', itemCountMax: 1 }),
    ],
    ['Query', () => items.queryDue({ sort: 'state', dueAtMsMax: 1, itemCountMax: 1 })],
    [
      'PutItem',
      () => items.write({ partition: 'a', sort: 'b', revision: 'v', body: {} }, undefined),
    ],
    ['DeleteItem', () => items.remove({ partition: 'a', sort: 'b' }, 'v')],
    ['CreateTable', () => createLedgerTable(localConnection(proxy.endpoint, clock))],
  ];
  for (const [operation, call] of denied) {
    test(`a missing right to ${operation} is named, and not asked for again`, async () => {
      const body = serviceError('AccessDeniedException');
      proxy.faults.push({ kind: 'answer', status: 400, body });

      await assert.rejects(
        call(),
        errorOfKind(
          'access-denied',
          new RegExp(`^ledger table firn-ledger: access denied for dynamodb:${operation}`),
        ),
      );

      assert.deepEqual(proxy.operations, [operation]);
    });
  }

  test('a table that is not there is not found', async () => {
    const options = { ...localConnection(server.endpoint, clock), tableName: 'other' };

    await assert.rejects(
      new DynamoDbItemStore(options).read({ partition: 'a', sort: 'b' }),
      errorOfKind('not-found', /^ledger table other: no such table/),
    );
  });

  test('a query reads page after page, and no further than it was asked to', async () => {
    const key = (name: string) => ({ table: { S: 'paged' }, item: { S: name } });
    const page = (name: string) =>
      JSON.stringify({
        Items: [{ ...key(name), revision: { S: 'v' }, body: { S: '{}' } }],
        LastEvaluatedKey: key(name),
      });
    proxy.faults.push(
      { kind: 'answer', status: 200, body: page('a') },
      { kind: 'answer', status: 200, body: page('b') },
    );

    const query = { partition: 'paged', sortPrefix: '', order: 'ascending' } as const;
    const found = await items.query({ ...query, itemCountMax: 2 });

    assert.deepEqual(
      found.map(({ sort }) => sort),
      ['a', 'b'],
    );
    assert.deepEqual(proxy.operations, ['Query', 'Query']);
  });

  test('the index is read page after page, and no further than it was asked to', async () => {
    const key = (name: string, dueAtMs: number) => ({
      table: { S: name },
      item: { S: 'state' },
      due_at: { N: String(dueAtMs) },
    });
    const page = (name: string, dueAtMs: number) =>
      JSON.stringify({ Items: [key(name, dueAtMs)], LastEvaluatedKey: key(name, dueAtMs) });
    proxy.faults.push(
      { kind: 'answer', status: 200, body: page('a', 1) },
      { kind: 'answer', status: 200, body: page('b', 2) },
    );

    const found = await items.queryDue({ sort: 'state', dueAtMsMax: 9, itemCountMax: 2 });

    assert.deepEqual(found, [
      { partition: 'a', sort: 'state', dueAtMs: 1 },
      { partition: 'b', sort: 'state', dueAtMs: 2 },
    ]);
    assert.deepEqual(proxy.operations, ['Query', 'Query']);
  });

  test('an index entry without its keys is invalid', async () => {
    for (const entry of [
      { item: { S: 'state' }, due_at: { N: '1' } },
      { table: { S: 'a' }, item: { S: 'state' } },
    ]) {
      const body = JSON.stringify({ Items: [entry] });
      proxy.faults.push({ kind: 'answer', status: 200, body });

      await assert.rejects(
        items.queryDue({ sort: 'state', dueAtMsMax: 9, itemCountMax: 2 }),
        errorOfKind('invalid-data', /^ledger index due/),
      );
    }
  });
});
