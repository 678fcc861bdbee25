import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type JsonObject,
  type JsonValue,
  parseJson,
  serializeJson,
} from '../../shared/base/index.ts';
import { decodeUtf8, encodeUtf8 } from '../../shared/bytes/index.ts';
import { compress } from '../../shared/compress/index.ts';
import {
  currentSchema,
  describeUnsupported,
  isEncrypted,
  parseTableMetadata,
  schemaById,
  serializeTableMetadata,
  snapshotById,
  snapshotOfRef,
  sortOrderById,
  specById,
  type TableMetadata,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';
import { minimalMetadata } from './java-goldens.ts';

const LOCATION = 's3://bucket/wh/db.db/tbl/metadata/00001-a.metadata.json';
const GZIP_LOCATION = 's3://bucket/wh/db.db/tbl/metadata/00001-a.gz.metadata.json';
const BIG_ID = 9_223_372_036_854_775_807n;

function bytesOf(json: JsonObject): Uint8Array {
  return encodeUtf8(serializeJson(json));
}

function parse(json: JsonObject): TableMetadata {
  return parseTableMetadata(bytesOf(json), LOCATION);
}

function snapshot(snapshotId: JsonValue, keys: JsonObject = {}): JsonObject {
  return {
    'snapshot-id': snapshotId,
    'sequence-number': 1,
    'timestamp-ms': 1_700_000_000_000,
    'manifest-list': 's3://bucket/snap.avro',
    summary: { operation: 'append' },
    ...keys,
  };
}

/** A table of one snapshot that is current. */
function withSnapshot(keys: JsonObject = {}): JsonObject {
  return minimalMetadata({
    'last-sequence-number': 1,
    'current-snapshot-id': 7,
    snapshots: [snapshot(7)],
    refs: { main: { 'snapshot-id': 7, type: 'branch' } },
    ...keys,
  });
}

const V1_OF_LONG_AGO: JsonObject = {
  'format-version': 1,
  location: 's3://bucket/old',
  'last-updated-ms': 1_500_000_000_000,
  'last-column-id': 1,
  schema: { type: 'struct', fields: [{ id: 1, name: 'id', required: false, type: 'int' }] },
  'partition-spec': [{ name: 'id', transform: 'identity', 'source-id': 1 }],
  'current-snapshot-id': -1,
};

test('reads a v1 table that has only the singular keys', () => {
  const metadata = parse(V1_OF_LONG_AGO);

  assert.equal(metadata.tableUuid, undefined);
  assert.equal(metadata.lastSequenceNumber, 0n);
  assert.equal(metadata.currentSnapshotId, undefined);
  assert.equal(currentSchema(metadata).fields.length, 1);
  assert.deepEqual(specById(metadata, 0).fields[0]?.fieldId, 1000);
  assert.equal(metadata.lastPartitionId, 1000);
  assert.equal(sortOrderById(metadata, 0).fields.length, 0);
  assert.equal(metadata.refs.size, 0);
});

test('writes the singular keys of a v1 table, from the plural ones where they are missing', () => {
  const schema = { type: 'struct', 'schema-id': 4, fields: [] };
  const spec = { 'spec-id': 2, fields: [] };
  const plural = minimalMetadata({
    'format-version': 1,
    'current-schema-id': 4,
    schemas: [schema],
    'default-spec-id': 2,
    'partition-specs': [spec],
  });

  const written = reread(serializeTableMetadata(parse(plural), LOCATION));

  assert.deepEqual(written['schema'], schema);
  assert.deepEqual(written['partition-spec'], []);
  assert.equal(written['last-sequence-number'], 0);
  const old = reread(serializeTableMetadata(parse(V1_OF_LONG_AGO), LOCATION));
  assert.deepEqual(old['schema'], V1_OF_LONG_AGO['schema']);
  assert.equal(old['last-sequence-number'], undefined);
  assert.equal(old['schemas'], undefined);
});

test('a v1 snapshot may list manifests, and has sequence number 0', () => {
  const old = { 'snapshot-id': 1, 'timestamp-ms': 5, manifests: ['s3://bucket/m.avro'] };

  const metadata = parse({ ...V1_OF_LONG_AGO, snapshots: [old], 'current-snapshot-id': 1 });

  assert.equal(metadata.snapshots[0]?.manifestList, undefined);
  assert.equal(metadata.snapshots[0]?.sequenceNumber, 0n);
  assert.deepEqual(metadata.snapshots[0]?.summary, {});
  const without = { 'snapshot-id': 1, 'timestamp-ms': 5 };
  throwsKind(() => parse({ ...V1_OF_LONG_AGO, snapshots: [without] }), 'invalid-data', /manifests/);
});

test('no current snapshot may be written as -1, null or not at all', () => {
  for (const keys of [{ 'current-snapshot-id': -1 }, { 'current-snapshot-id': null }, {}]) {
    const metadata = parse(minimalMetadata({ ...keys, refs: {} }));
    assert.equal(metadata.currentSnapshotId, undefined);
    const written = reread(serializeTableMetadata(metadata, LOCATION));
    assert.deepEqual(written['current-snapshot-id'], keys['current-snapshot-id']);
  }
});

test('the main branch is there where refs leave it out', () => {
  for (const refs of [undefined, null, {}, { t: { 'snapshot-id': 7, type: 'TAG' } }]) {
    const { refs: _refs, ...without } = withSnapshot();
    const metadata = parse(refs === undefined ? without : { ...without, refs });

    assert.equal(metadata.refs.get('main')?.snapshotId, 7n);
    assert.equal(snapshotOfRef(metadata)?.snapshotId, 7n);
  }
});

test('keys that Firn does not know survive at every level', () => {
  const unknown = { 'x-new': { deep: [1, BIG_ID, { y: null }] } };
  const schema = {
    ...unknown,
    type: 'struct',
    'schema-id': 0,
    fields: [{ id: 1, name: 'a', required: false, type: 'int', ...unknown }],
  };
  const field = { 'source-id': 1, 'field-id': 1000, name: 'a', transform: 'zorder[3]', ...unknown };
  const statistics = { 'snapshot-id': 7, 'statistics-path': 's3://s', ...unknown };
  const json = withSnapshot({
    ...unknown,
    schemas: [schema],
    'partition-specs': [{ 'spec-id': 0, fields: [field], ...unknown }],
    'sort-orders': [{ 'order-id': 0, fields: [], ...unknown }],
    snapshots: [snapshot(7, { ...unknown, summary: { operation: 'append', 'x-key': 'v' } })],
    refs: { main: { 'snapshot-id': 7, type: 'branch', ...unknown } },
    'snapshot-log': [{ 'snapshot-id': 7, 'timestamp-ms': 5, ...unknown }],
    'metadata-log': [{ 'metadata-file': 's3://m', 'timestamp-ms': 5, ...unknown }],
    statistics: [statistics],
    'partition-statistics': [statistics],
  });

  const written = serializeTableMetadata(parse(json), LOCATION);

  assert.deepEqual(reread(written), parseJson(serializeJson(json), 'json'));
});

test('ids beyond 2^53 survive, and stay bare numbers', () => {
  const json = withSnapshot({
    'format-version': 3,
    'last-sequence-number': BIG_ID,
    'next-row-id': BIG_ID,
    'current-snapshot-id': BIG_ID,
    snapshots: [snapshot(BIG_ID, { 'sequence-number': BIG_ID, 'parent-snapshot-id': BIG_ID - 1n })],
    refs: { main: { 'snapshot-id': BIG_ID, type: 'branch' } },
  });

  const metadata = parse(json);

  assert.equal(metadata.currentSnapshotId, BIG_ID);
  assert.equal(snapshotById(metadata, BIG_ID)?.parentSnapshotId, BIG_ID - 1n);
  assert.equal(metadata.nextRowId, BIG_ID);
  const text = decodeUtf8(serializeTableMetadata(metadata, LOCATION), 'text');
  assert.ok(text.includes(`"current-snapshot-id":${BIG_ID}`));
});

test('reads gzip by its name or by its first bytes, and writes it by name', () => {
  const plain = bytesOf(withSnapshot());
  const zipped = compress('gzip', plain);
  const oldName = LOCATION.replace('.metadata.json', '.metadata.json.gz');

  for (const location of [LOCATION, GZIP_LOCATION, oldName]) {
    assert.equal(parseTableMetadata(zipped, location).formatVersion, 2);
  }
  throwsKind(() => parseTableMetadata(plain, GZIP_LOCATION), 'invalid-data', /gzip/);
  const written = serializeTableMetadata(parse(withSnapshot()), GZIP_LOCATION);
  assert.deepEqual([...written.subarray(0, 2)], [0x1f, 0x8b]);
  assert.equal(parseTableMetadata(written, GZIP_LOCATION).currentSnapshotId, 7n);
});

test('refuses gzip that would give more than the limit', () => {
  const bomb = compress('gzip', new Uint8Array(300 * 1024 * 1024));
  throwsKind(() => parseTableMetadata(bomb, LOCATION), 'invalid-data', /exceeds 268435456/);
});

test('refuses format versions above 3 as unsupported, and can say what the table is', () => {
  const v4 = minimalMetadata({ 'format-version': 4, schemas: 'unreadable' });

  throwsKind(() => parse(v4), 'unsupported', /format version 4 exceeds 3/);
  assert.deepEqual(describeUnsupported(bytesOf(v4), LOCATION), {
    formatVersion: 4,
    tableUuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    location: 's3://bucket/wh/db.db/tbl',
  });
  assert.deepEqual(describeUnsupported(bytesOf({ 'format-version': 5 }), LOCATION), {
    formatVersion: 5,
  });
  throwsKind(() => describeUnsupported(encodeUtf8('[]'), LOCATION), 'invalid-data');
});

test('recognizes encrypted tables by keys, snapshots and properties', () => {
  const key = { 'key-id': 'k', 'encrypted-key-metadata': 'AA==' };
  assert.equal(isEncrypted(parse(withSnapshot())), false);
  assert.equal(isEncrypted(parse(withSnapshot({ 'encryption-keys': [] }))), false);
  assert.equal(isEncrypted(parse(withSnapshot({ 'encryption-keys': [key] }))), true);
  assert.equal(
    isEncrypted(parse(withSnapshot({ properties: { 'encryption.key-id': 'k' } }))),
    true,
  );
  assert.equal(
    isEncrypted(parse(withSnapshot({ snapshots: [snapshot(7, { 'key-id': 'k' })] }))),
    true,
  );
});

test('names the file that it refuses', () => {
  assert.throws(
    () => parseTableMetadata(encodeUtf8('{'), LOCATION),
    (error: { context?: { metadataLocation?: string } }) =>
      error.context?.metadataLocation === LOCATION,
  );
});

test('refuses documents that break the spec', () => {
  const order = { 'order-id': 0, fields: [] };
  const spec = { 'spec-id': 0, fields: [] };
  const schema = { type: 'struct', 'schema-id': 0, fields: [] };
  const v3 = { 'format-version': 3, 'next-row-id': 10 };
  const cases: readonly (readonly [JsonObject, RegExp])[] = [
    [{ 'format-version': 0 }, /format version 0 is below 1/],
    [{ 'format-version': '2' }, /format-version is not a 32-bit integer/],
    [{ 'table-uuid': null }, /table-uuid is missing/],
    [{ location: null }, /location is not a string/],
    [{ location: '' }, /location is empty/],
    [{ 'last-sequence-number': null }, /last-sequence-number is not an integer/],
    [{ 'last-sequence-number': -1 }, /last-sequence-number -1 is negative/],
    [{ 'last-sequence-number': 0 }, /sequence-number 1 exceeds last-sequence-number 0/],
    [{ 'last-updated-ms': 1.5 }, /last-updated-ms is not an integer/],
    [{ 'last-column-id': 2 ** 31 }, /last-column-id is not a 32-bit integer/],
    [{ schemas: null }, /schemas: is not a JSON array/],
    [{ schemas: [schema, schema] }, /schemas: id 0 occurs twice/],
    [{ 'current-schema-id': 5 }, /current-schema-id 5 is not in schemas/],
    [{ 'partition-specs': [spec, spec] }, /partition-specs: id 0 occurs twice/],
    [{ 'default-spec-id': 5 }, /default-spec-id 5 is not in partition-specs/],
    [{ 'last-partition-id': null }, /last-partition-id is not a 32-bit integer/],
    [{ 'sort-orders': [order, order] }, /sort-orders: id 0 occurs twice/],
    [{ 'default-sort-order-id': 5 }, /default-sort-order-id 5 is not in sort-orders/],
    [{ properties: { a: 1 } }, /value of a is not a string/],
    [{ 'current-snapshot-id': 8 }, /current-snapshot-id 8 is not in snapshots/],
    [{ 'current-snapshot-id': null }, /ref main points to 7, current-snapshot-id is absent/],
    [{ snapshots: [snapshot(7), snapshot(7)] }, /snapshots: id 7 occurs twice/],
    [{ snapshots: [snapshot(7), snapshot(-1)] }, /snapshot -1: the id means no snapshot/],
    [{ snapshots: [snapshot(7, { summary: { a: 1 } })] }, /value of a is not a string/],
    [{ snapshots: [snapshot(7, { 'timestamp-ms': -1 })] }, /timestamp-ms: -1 is negative/],
    [{ snapshots: [snapshot(2n ** 63n)] }, /does not fit 64 bits/],
    [{ refs: { main: { 'snapshot-id': 7, type: 'tag' } } }, /ref main is a tag/],
    [{ refs: { b: { 'snapshot-id': 9, type: 'branch' } } }, /ref b points to snapshot 9/],
    [{ refs: { b: { 'snapshot-id': 7, type: 'trunk' } } }, /type trunk is neither/],
    [
      { refs: { b: { 'snapshot-id': 7, type: 'branch', 'max-ref-age-ms': 0 } } },
      /0 is not positive/,
    ],
    [
      { refs: { b: { 'snapshot-id': 7, type: 'tag', 'min-snapshots-to-keep': 1 } } },
      /settings of a branch/,
    ],
    [
      { 'snapshot-log': [{ 'snapshot-id': 7, 'timestamp-ms': 1_700_000_060_001 }] },
      /snapshot-log: timestamp/,
    ],
    [
      { 'metadata-log': [{ 'metadata-file': 7, 'timestamp-ms': 1 }] },
      /metadata-file is not a string/,
    ],
    [{ statistics: [{ 'snapshot-id': 7 }] }, /statistics-path is not a string/],
    [{ 'format-version': 3 }, /next-row-id is not an integer/],
    [
      { ...v3, snapshots: [snapshot(7, { 'first-row-id': 5, 'added-rows': 6 })] },
      /end at 11, beyond next-row-id 10/,
    ],
    [{ ...v3, snapshots: [snapshot(7, { 'first-row-id': 5 })] }, /added-rows is not an integer/],
    [{ ...v3, snapshots: [snapshot(7, { 'first-row-id': -5, 'added-rows': 6 })] }, /negative/],
  ];
  assert.equal(parse(withSnapshot()).formatVersion, 2);
  for (const [keys, message] of cases) {
    throwsKind(() => parse(withSnapshot(keys)), 'invalid-data', message);
  }
});

test('log timestamps may step back by a minute, not more', () => {
  const log = (timestampMs: number) => ({
    'snapshot-log': [{ 'snapshot-id': 7, 'timestamp-ms': timestampMs }],
  });
  const lastUpdatedMs = 1_700_000_000_000;

  assert.equal(parse(withSnapshot(log(lastUpdatedMs + 60_000))).snapshotLog.length, 1);
  throwsKind(() => parse(withSnapshot(log(lastUpdatedMs + 60_001))), 'invalid-data');
});

test('lookups by an id that does not exist are invalid-data, of a snapshot undefined', () => {
  const metadata = parse(withSnapshot());
  throwsKind(() => schemaById(metadata, 9), 'invalid-data', /schema 9 does not exist/);
  throwsKind(() => specById(metadata, 9), 'invalid-data', /partition spec 9/);
  throwsKind(() => sortOrderById(metadata, 9), 'invalid-data', /sort order 9/);
  assert.equal(snapshotById(metadata, 9n), undefined);
  assert.equal(snapshotOfRef(metadata, 'audit'), undefined);
});

function reread(bytes: Uint8Array): JsonObject {
  return parseJson(decodeUtf8(bytes, 'metadata'), 'metadata') as JsonObject;
}
