import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type DynamoDbEndpoint,
  startDynamoDbEndpoint,
} from '../../local/dynamodb-endpoint/index.ts';
import { ManualClock } from '../../shared/base/index.ts';
import {
  createCatalogTable,
  DynamoDbCatalog,
  formatTableIdentifier,
  parseTableIdentifier,
} from '../../shared/catalog/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testCatalogConformance } from './catalog.conformance.ts';
import {
  type DynamoDbHarness,
  type Item,
  itemKey,
  localConnection,
  openDynamoDbHarness,
} from './dynamodb-harness.ts';

testCatalogConformance('DynamoDB', async (clock) => {
  const server = await startDynamoDbEndpoint();
  const harness = await openDynamoDbHarness(server.endpoint, clock);
  return {
    ...harness,
    close: async () => {
      await harness.close();
      await server.close();
    },
  };
});

describe('DynamoDbCatalog: items', () => {
  const clock = new ManualClock(1_700_000_000_000);
  const identifier = parseTableIdentifier('db.orders');
  let server: DynamoDbEndpoint;
  let harness: DynamoDbHarness;
  before(async () => {
    server = await startDynamoDbEndpoint();
    harness = await openDynamoDbHarness(server.endpoint, clock);
  });
  after(async () => {
    await harness.close();
    await server.close();
  });

  /** What Iceberg Java's createTable puts. */
  const javaItem = (): Item => ({
    ...itemKey(identifier),
    v: { S: 'b2a0f1f6-0000-4000-8000-000000000001' },
    created_at: { N: '1600000000000' },
    updated_at: { N: '1600000000000' },
    'p.table_type': { S: 'ICEBERG' },
    'p.metadata_location': { S: 's3://w/orders/metadata/00000-a.metadata.json' },
  });

  test('registers the item that Java would put', async () => {
    const table = parseTableIdentifier('db.registered');

    const pointer = await harness.catalog.registerTable(table, 's3://w/0.json');

    assert.deepEqual(await harness.raw.readItem(table), {
      identifier: { S: 'db.registered' },
      namespace: { S: 'db' },
      v: { S: pointer.version },
      created_at: { N: '1700000000000' },
      updated_at: { N: '1700000000000' },
      'p.table_type': { S: 'ICEBERG' },
      'p.metadata_location': { S: 's3://w/0.json' },
    });
  });

  test('commits on an item of Java and changes what Java would change', async () => {
    await harness.raw.putItem({ ...javaItem(), 'p.owner': { S: 'team-a' }, extra: { N: '17' } });
    const base = await harness.catalog.loadTable(identifier);

    await harness.catalog.commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });

    assert.deepEqual(base.properties, { owner: 'team-a' });
    assert.deepEqual(await harness.raw.readItem(identifier), {
      ...javaItem(),
      'p.owner': { S: 'team-a' },
      extra: { N: '17' },
      v: { S: 'v1' },
      updated_at: { N: '1700000000000' },
      'p.metadata_location': { S: 's3://w/1.json' },
      'p.previous_metadata_location': { S: 's3://w/orders/metadata/00000-a.metadata.json' },
    });
  });

  test('a fence changes v and updated_at only', async () => {
    await harness.raw.putItem(javaItem());
    const base = await harness.catalog.loadTable(identifier);

    await harness.catalog.fenceTable({ base, version: 'fence-1' });

    assert.deepEqual(await harness.raw.readItem(identifier), {
      ...javaItem(),
      v: { S: 'fence-1' },
      updated_at: { N: '1700000000000' },
    });
  });

  test('reads an item of PyIceberg: empty previous location, type in lower case', async () => {
    await harness.raw.putItem({
      ...javaItem(),
      'p.table_type': { S: 'iceberg' },
      'p.previous_metadata_location': { S: '' },
      'p.write.format.default': { S: 'parquet' },
    });

    const pointer = await harness.catalog.loadTable(identifier);

    assert.equal(pointer.previousMetadataLocation, undefined);
    assert.deepEqual(pointer.properties, { 'write.format.default': 'parquet' });
  });

  test('leaves attributes of other types out of the properties', async () => {
    await harness.raw.putItem({ ...javaItem(), 'p.number': { N: '1' }, other: { S: 'x' } });

    assert.deepEqual((await harness.catalog.loadTable(identifier)).properties, {});
  });

  const unreadable: [string, Item, RegExp][] = [
    [
      'without a metadata location',
      { 'p.metadata_location': { NULL: true } },
      /metadata_location is empty or not/,
    ],
    [
      'with an empty metadata location',
      { 'p.metadata_location': { S: '' } },
      /metadata_location is empty/,
    ],
    [
      'of another table type',
      { 'p.table_type': { S: 'HUDI' } },
      /p\.table_type is HUDI, not ICEBERG/,
    ],
    ['without a version', { v: { N: '1' } }, /v is empty or not a string/],
  ];
  for (const [what, attributes, message] of unreadable) {
    test(`refuses an item ${what}`, async () => {
      await harness.raw.putItem({ ...javaItem(), ...attributes });

      await assert.rejects(
        harness.catalog.loadTable(identifier),
        errorOfKind('invalid-data', message),
      );
    });
  }

  test('refuses an item that lacks what a table has', async () => {
    await harness.raw.putItem({ ...itemKey(identifier), v: { S: 'x' } });

    await assert.rejects(
      harness.catalog.loadTable(identifier),
      errorOfKind('invalid-data', /catalog item of db\.orders: p\.table_type is missing/),
    );
  });

  test('names the table and the catalog table when there is no item', async () => {
    await assert.rejects(
      harness.catalog.loadTable(parseTableIdentifier('db.nowhere')),
      errorOfKind('not-found', /^catalog table iceberg: has no table db\.nowhere$/),
    );
  });

  test('names the catalog table when that is not there', async () => {
    const options = { ...localConnection(server.endpoint, clock), tableName: 'other' };
    const catalog = new DynamoDbCatalog(options);
    const base = { identifier, metadataLocation: 's3://w/0', version: 'v0', properties: {} };
    const message = /catalog table other: no such table/;

    await assert.rejects(catalog.loadTable(identifier), errorOfKind('not-found', message));
    await assert.rejects(
      catalog.registerTable(identifier, 's3://w/0'),
      errorOfKind('not-found', message),
    );
    await assert.rejects(
      catalog.commitTable({ base, metadataLocation: 's3://w/1', version: 'v1' }),
      errorOfKind('not-found', message),
    );
  });

  test('lists neither namespaces nor items whose key is no table name', async () => {
    for (const [key, namespace] of [
      ['NAMESPACE', 'listed'],
      ['listed.a.b', 'listed'],
      ['listed.', 'listed'],
      ['unrelated', 'listed'],
      ['..x', '.'],
      ['listed.orders', 'listed'],
    ] as const) {
      await harness.raw.putItem({ identifier: { S: key }, namespace: { S: namespace } });
    }
    const names: string[] = [];

    for await (const table of harness.catalog.listTables(['listed'])) {
      names.push(formatTableIdentifier(table));
    }
    for await (const table of harness.catalog.listTables()) {
      if (table.namespace[0] !== 'db') names.push(formatTableIdentifier(table));
    }

    assert.deepEqual(names, ['listed.orders', 'listed.orders']);
  });

  test('creating a catalog table that exists changes nothing', async () => {
    await harness.raw.putItem(javaItem());

    await createCatalogTable(localConnection(server.endpoint, clock));

    assert.deepEqual(await harness.raw.readItem(identifier), javaItem());
  });
});
