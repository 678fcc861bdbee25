import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAvroFile } from '../../shared/avro/index.ts';
import { decodeUtf8, fromHex } from '../../shared/bytes/index.ts';
import {
  createPartitionSpec,
  createSchema,
  type DataFile,
  type FormatVersion,
  type ManifestContent,
  type ManifestEntry,
  type NewManifestEntry,
  type Partition,
  type PrimitiveType,
  parseTransform,
  readManifest,
  type SingleValue,
  toManifestFile,
  type UnknownField,
  writeManifest,
} from '../../shared/iceberg/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { CONTEXT, dataFile, existing, SCHEMA, SPEC } from './manifest-builders.ts';

const PLACE = { manifestPath: 's3://b/m.avro', addedSnapshotId: 9n, sequenceNumber: 5n };

test('counts files and rows by status', () => {
  const written = write({
    entries: [
      added({ recordCount: 1 }),
      added({ recordCount: 2 }),
      existing({ recordCount: 4 }),
      { ...existing({ recordCount: 8 }), status: 'deleted' },
    ],
  });

  assert.deepEqual(written.counts, {
    addedFilesCount: 2,
    existingFilesCount: 1,
    deletedFilesCount: 1,
    addedRowsCount: 3,
    existingRowsCount: 4,
    deletedRowsCount: 8,
  });
});

test('takes the least sequence number of live files, and the commit’s where none is explicit', () => {
  const deleted = { ...existing(), status: 'deleted' as const, dataSequenceNumber: 1n };
  const mixed = write({ entries: [deleted, existing(), added({})] });
  const fresh = write({ entries: [added({})] });

  assert.equal(toManifestFile(mixed, PLACE).minSequenceNumber, 3n);
  assert.equal(toManifestFile(fresh, PLACE).minSequenceNumber, 5n);
});

test('counts the rows that will inherit row ids', () => {
  const written = write({
    entries: [
      added({ recordCount: 1 }),
      existing({ recordCount: 2 }),
      existing({ recordCount: 4, firstRowId: 0n }),
      { ...existing({ recordCount: 8 }), status: 'deleted' },
    ],
  });

  assert.equal(written.unassignedRowsCount, 3);
});

test('writes the header entries of each version', () => {
  assert.deepEqual(header(write({ formatVersion: 1 }).bytes), {
    schema: JSON.stringify(SCHEMA.source),
    'schema-id': '0',
    'partition-spec': JSON.stringify(SPEC.source['fields']),
    'partition-spec-id': '0',
    'format-version': '1',
  });
  assert.equal(header(write({ formatVersion: 2 }).bytes)['content'], 'data');
  assert.equal(header(write({ formatVersion: 3 }).bytes)['format-version'], '3');
});

test('writes what v1 requires and leaves out what it does not know', () => {
  const file = dataFile({ firstRowId: 5n, sortOrderId: 1 });
  const written = write({ formatVersion: 1, entries: [{ ...existing(), dataFile: file }] });

  const [record] = [...parseAvroFile(written.bytes, 'm').records()];

  assert.deepEqual(Object.keys(Object(record)), ['status', 'snapshot_id', 'data_file']);
  const struct = Object(Object(record)['data_file']);
  assert.equal(struct['block_size_in_bytes'], 67108864n);
  assert.equal(struct['sort_order_id'], 1);
  assert.ok(!('content' in struct) && !('first_row_id' in struct));
});

test('gives the same bytes for the same entries, in whatever order maps were filled', () => {
  const one = dataFile({
    valueCounts: new Map([
      [1, 5],
      [2, 6],
    ]),
  });
  const other = dataFile({
    valueCounts: new Map([
      [2, 6],
      [1, 5],
    ]),
  });

  assert.deepEqual(
    write({ entries: [{ ...existing(), dataFile: one }] }).bytes,
    write({ entries: [{ ...existing(), dataFile: other }] }).bytes,
  );
});

test('keeps the unknown fields of every entry and file', () => {
  const later: UnknownField = {
    avroField: { name: 'later', type: ['null', 'long'], default: null, 'field-id': 900 },
    value: 5n,
  };
  const fixed: UnknownField = {
    avroField: { name: 'content', type: { type: 'fixed', name: 'r2', size: 1 }, 'field-id': 901 },
    value: Uint8Array.of(7),
  };
  const entries = [
    { ...existing({ unknownFields: [later, fixed] }), unknownFields: [later] },
    existing(),
    existing({ unknownFields: [fixed] }),
  ];

  const read = readBack(write({ entries }));

  assert.deepEqual(
    read.map((entry) => entry.dataFile.unknownFields.map(({ value }) => value)),
    [[5n, Uint8Array.of(7)], [], [Uint8Array.of(7)]],
  );
  assert.deepEqual(read[0]?.unknownFields, [later]);
  assert.deepEqual(readBack(write({ entries: read.map(toNew) })), read);
});

test('reports no bounds of uuids that readers order differently', () => {
  const low = fromHex('00000000000000000000000000000001');
  const high = fromHex('f0000000000000000000000000000001');

  assert.equal(writePartitions({ kind: 'uuid' }, [low, high]).partitions, undefined);
  assert.deepEqual(writePartitions({ kind: 'uuid' }, [high, high, null]).partitions, [
    { containsNull: true, containsNan: false, lowerBound: high, upperBound: high },
  ]);
});

test('summarizes partition values with nulls, NaN and signed zero', () => {
  const double = (value: number) => new Uint8Array(new Float64Array([value]).buffer);

  assert.deepEqual(writePartitions({ kind: 'double' }, [0, NaN, null, -0]).partitions, [
    { containsNull: true, containsNan: true, lowerBound: double(-0), upperBound: double(0) },
  ]);
  assert.deepEqual(writePartitions({ kind: 'double' }, [NaN]).partitions, [
    { containsNull: false, containsNan: true },
  ]);
});

const PARTITION_VALUES: readonly (readonly [PrimitiveType, readonly (SingleValue | null)[]])[] = [
  [{ kind: 'boolean' }, [true, false, null]],
  [{ kind: 'int' }, [-1, 0, 2 ** 31 - 1]],
  [{ kind: 'long' }, [-(2n ** 63n), 0n]],
  [{ kind: 'float' }, [1.5, -0.25]],
  [{ kind: 'double' }, [0.1]],
  [{ kind: 'date' }, [-719162]],
  [{ kind: 'time' }, [86_399_999_999n]],
  [{ kind: 'timestamp' }, [-1n]],
  [{ kind: 'timestamptz' }, [2n ** 62n]],
  [{ kind: 'timestamp_ns' }, [-1n]],
  [{ kind: 'timestamptz_ns' }, [1n]],
  [{ kind: 'string' }, ['', 'é😀']],
  [{ kind: 'uuid' }, [new Uint8Array(16).fill(7)]],
  [{ kind: 'binary' }, [Uint8Array.of(), Uint8Array.of(1)]],
  [{ kind: 'fixed', lengthBytes: 3 }, [Uint8Array.of(1, 2, 3)]],
  [{ kind: 'decimal', precision: 9, scale: 2 }, [-999_999_999n, 0n, 128n, -128n]],
  [{ kind: 'decimal', precision: 38, scale: 10 }, [10n ** 38n - 1n, -(10n ** 38n) + 1n]],
];

for (const [type, values] of PARTITION_VALUES) {
  test(`reads back partition values of type ${type.kind}`, () => {
    const { written, context } = writeWithPartitions(type, values);

    const entries = [...readManifest(written.bytes, toManifestFile(written, PLACE), context)];

    assert.deepEqual(
      entries.map((entry) => entry.dataFile.partition),
      values.map((value) => [value]),
    );
  });
}

test('writes partition fields whose names Avro does not allow', () => {
  const names = ['été', '1st', 'a b', 'a_x20b'];
  const spec = createPartitionSpec(
    0,
    names.map((name, index) => ({ ...SPEC.fields[0]!, name, fieldId: 1000 + index })),
  );
  const partition = ['a', 'b', 'c', 'd'];

  const written = write({ spec, entries: [existing({ partition })] });

  const manifest = toManifestFile(written, PLACE);
  const [entry] = [...readManifest(written.bytes, manifest, { ...CONTEXT, specs: [spec] })];
  assert.deepEqual(entry?.dataFile.partition, partition);
});

test('refuses a decimal beyond its precision', () => {
  assert.throws(
    () => writePartitions({ kind: 'decimal', precision: 2, scale: 0 }, [40_000n]),
    errorOfKind('invalid-data'),
  );
});

test('does not write a spec with an unrecognized transform', () => {
  const field = { ...SPEC.fields[0]!, transform: parseTransform('later[3]', 'spec') };

  assert.throws(() => write({ spec: createPartitionSpec(0, [field]) }), errorOfKind('unsupported'));
});

test('does not write a spec whose source column is lost', () => {
  const spec = createPartitionSpec(0, [{ ...SPEC.fields[0]!, sourceIds: [99] }]);

  assert.throws(() => write({ spec }), errorOfKind('unsupported'));
});

test('does not write deletes for v1', () => {
  assert.throws(() => write({ formatVersion: 1, content: 'deletes' }), errorOfKind('unsupported'));
});

test('refuses an entry whose sequence number is not known', () => {
  const entry = { ...existing(), status: 'deleted' as const, dataSequenceNumber: -1n };

  assert.throws(() => write({ entries: [entry] }), errorOfKind('invalid-data'));
});

const COUNTS = fc.dictionary(
  fc.integer({ min: 0, max: 2 ** 31 - 1 }).map(String),
  fc.maxSafeNat(),
  { maxKeys: 5 },
);
const COUNT_MAP = COUNTS.map((counts) => {
  return new Map(Object.entries(counts).map(([id, count]) => [Number(id), count]));
});
const BYTES_MAP = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.uint8Array({ maxLength: 20 })))
  .map((pairs) => new Map(pairs.toSorted(([one], [other]) => one - other)));

const FILE: fc.Arbitrary<DataFile> = fc.record(
  {
    content: fc.constant('data' as const),
    filePath: fc.string({ unit: 'binary', maxLength: 40 }),
    fileFormat: fc.constantFrom('PARQUET', 'orc', 'AVRO'),
    partition: fc.tuple(fc.option(fc.string({ unit: 'binary' }))).map((tuple): Partition => tuple),
    recordCount: fc.nat(),
    fileSizeBytes: fc.maxSafeNat(),
    columnSizes: COUNT_MAP,
    valueCounts: COUNT_MAP,
    nullValueCounts: COUNT_MAP,
    nanValueCounts: COUNT_MAP,
    lowerBounds: BYTES_MAP,
    upperBounds: BYTES_MAP,
    keyMetadata: fc.uint8Array(),
    splitOffsets: fc.array(fc.maxSafeNat()),
    sortOrderId: fc.integer(),
    referencedDataFile: fc.string(),
    unknownFields: fc.constant([]),
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      'content',
      'filePath',
      'fileFormat',
      'partition',
      'recordCount',
      'fileSizeBytes',
      'unknownFields',
    ],
  },
);

const LONG = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
/** Sequence numbers of files that were there before the snapshot that wrote their manifest. */
const KNOWN_SEQUENCE_NUMBER = fc.bigInt({ min: 0n, max: PLACE.sequenceNumber });
const ENTRY: fc.Arbitrary<NewManifestEntry> = fc.record(
  {
    status: fc.constantFrom('existing' as const, 'deleted' as const),
    snapshotId: LONG,
    dataSequenceNumber: KNOWN_SEQUENCE_NUMBER,
    fileSequenceNumber: KNOWN_SEQUENCE_NUMBER,
    dataFile: FILE,
    unknownFields: fc.constant([]),
  },
  { noNullPrototype: true },
);

test('reading gives back whatever was written', () => {
  fc.assert(
    fc.property(
      fc.array(ENTRY, { maxLength: 30 }),
      fc.constantFrom<FormatVersion>(2, 3),
      (entries, formatVersion) => {
        const read = readBack(write({ entries, formatVersion }));

        assert.deepEqual(read.map(toNew), entries);
      },
    ),
    { seed: 20261130, numRuns: 100 },
  );
});

function added(changes: Partial<DataFile>): NewManifestEntry {
  return { status: 'added', snapshotId: 9n, dataFile: dataFile(changes) };
}

function write(changes: Partial<ManifestContent>) {
  return writeManifest({
    formatVersion: 3,
    schemas: [SCHEMA],
    spec: SPEC,
    content: 'data',
    entries: [],
    ...changes,
  });
}

function writeWithPartitions(type: PrimitiveType, values: readonly (SingleValue | null)[]) {
  const schema = createSchema(0, [{ fieldId: 2, name: 'c', isRequired: false, type }]);
  const entries = values.map((value) => existing({ partition: [value] }));
  const context = { specs: [SPEC], schemas: [schema] };
  return { written: write({ schemas: [schema], entries }), context };
}

function writePartitions(type: PrimitiveType, values: readonly (SingleValue | null)[]) {
  return writeWithPartitions(type, values).written;
}

function readBack(written: ReturnType<typeof write>): ManifestEntry[] {
  return [...readManifest(written.bytes, toManifestFile(written, PLACE), CONTEXT)];
}

function toNew({ specId: _specId, ...entry }: ManifestEntry): NewManifestEntry {
  const { status } = entry;
  assert.ok(status !== 'added');
  return { ...entry, status };
}

function header(bytes: Uint8Array): Record<string, string> {
  const entries = [...parseAvroFile(bytes, 'm').metadata]
    .filter(([key]) => !key.startsWith('avro.'))
    .map(([key, value]) => [key, decodeUtf8(value, key)]);
  return Object.fromEntries(entries);
}
