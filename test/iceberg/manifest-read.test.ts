import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AvroValue } from '../../shared/avro/index.ts';
import type { JsonValue } from '../../shared/base/index.ts';
import {
  createPartitionSpec,
  createSchema,
  type ManifestEntry,
  type ManifestFile,
  type NewManifestEntry,
  type Partition,
  type PrimitiveType,
  parseTransform,
  readManifest,
  toManifestFile,
  writeManifest,
} from '../../shared/iceberg/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import {
  CONTEXT,
  changeFields,
  dataFile,
  existing,
  type HandField,
  manifestFile,
  SCHEMA,
  SPEC,
  structFile,
  structType,
  structValue,
} from './manifest-builders.ts';

const PARTITION_FIELDS: readonly HandField[] = [
  { id: 1000, name: 'category', type: ['null', 'string'], value: 'a' },
];

const DATA_FILE_FIELDS: readonly HandField[] = [
  { id: 100, name: 'file_path', type: 'string', value: 's3://b/a.parquet' },
  { id: 101, name: 'file_format', type: 'string', value: 'PARQUET' },
  partitionField(PARTITION_FIELDS),
  { id: 103, name: 'record_count', type: 'long', value: 10n },
  { id: 104, name: 'file_size_in_bytes', type: 'long', value: 1000n },
];

const ENTRY_FIELDS: readonly HandField[] = [
  { id: 0, name: 'status', type: 'int', value: 1 },
  { id: 1, name: 'snapshot_id', type: ['null', 'long'], value: null },
  { id: 3, name: 'sequence_number', type: ['null', 'long'], value: null },
  { id: 4, name: 'file_sequence_number', type: ['null', 'long'], value: null },
];

test('lets an added entry inherit what it leaves out', () => {
  const [entry] = read({});

  assert.deepEqual(entry, {
    status: 'added',
    snapshotId: 9n,
    dataSequenceNumber: 5n,
    fileSequenceNumber: 5n,
    specId: 0,
    dataFile: dataFile({ filePath: 's3://b/a.parquet' }),
    unknownFields: [],
  });
});

test('keeps an explicit data sequence number of an added entry', () => {
  const [entry] = read({ entry: { 3: { value: 4n } } });

  assert.deepEqual([entry?.dataSequenceNumber, entry?.fileSequenceNumber], [4n, 5n]);
});

test('gives sequence number 0 to every entry of a v1 manifest', () => {
  const v1 = { 3: undefined, 4: undefined, 1: { value: 7n } };
  for (const status of [0, 1, 2]) {
    const [entry] = read({
      entry: { ...v1, 0: { value: status } },
      manifest: { ...counts(status), sequenceNumber: 0n, minSequenceNumber: 0n },
    });

    assert.deepEqual(
      [entry?.snapshotId, entry?.dataSequenceNumber, entry?.fileSequenceNumber],
      [7n, 0n, 0n],
    );
  }
});

test('rejects an existing entry without a data sequence number', () => {
  assert.throws(
    () => read({ entry: { 0: { value: 0 } }, manifest: counts(0) }),
    errorOfKind('invalid-data', /sequence_number/),
  );
});

test('leaves the file sequence number of an existing entry unknown where writers left it out', () => {
  const [entry] = read({
    entry: { 0: { value: 0 }, 3: { value: 4n }, 4: undefined },
    manifest: counts(0),
  });

  assert.equal(entry?.dataSequenceNumber, 4n);
  assert.ok(entry !== undefined && !('fileSequenceNumber' in entry));
});

test('accepts a deleted entry that does not say its sequence number', () => {
  const [entry] = read({ entry: { 0: { value: 2 } }, manifest: counts(2) });

  assert.equal(entry?.dataSequenceNumber, -1n);
});

test('rejects a live file outside the sequence numbers that the manifest list says', () => {
  const numbers = [
    [{ 3: { value: 2n } }, /2 and 5 .* 3 to 5/],
    [{ 3: { value: 6n } }, /6 and 5 .* 3 to 5/],
    [{ 4: { value: 6n } }, /5 and 6 .* 3 to 5/],
  ] as const;

  for (const [entry, message] of numbers) {
    assert.throws(() => read({ entry }), errorOfKind('invalid-data', message));
  }
  assert.equal(
    read({ entry: { 0: { value: 2 }, 3: { value: 2n } }, manifest: counts(2) }).length,
    1,
  );
});

test('gives row ids to live files without one, in order, and to no deleted file', () => {
  const entries = readWritten(
    [
      existing({ recordCount: 25, firstRowId: 800n }),
      { ...existing({ recordCount: 7 }), status: 'deleted' },
      added({ recordCount: 50 }),
      existing({ recordCount: 30 }),
      added({ recordCount: 50 }),
    ],
    { firstRowId: 1000n },
  );

  assert.deepEqual(
    entries.map((entry) => entry.dataFile.firstRowId),
    [800n, undefined, 1000n, 1050n, 1080n],
  );
});

test('gives no row ids where the manifest has none, whatever its entries say', () => {
  const entries = readWritten([existing({ firstRowId: 800n }), added({})], {});

  assert.deepEqual(
    entries.map((entry) => entry.dataFile.firstRowId),
    [undefined, undefined],
  );
});

test('leaves out metrics, and nothing else, where they are not asked for', () => {
  const metrics = {
    columnSizes: new Map([[1, 100]]),
    valueCounts: new Map([[1, 10]]),
    nullValueCounts: new Map([[1, 0]]),
    nanValueCounts: new Map([[1, 0]]),
    lowerBounds: new Map([[1, Uint8Array.of(1)]]),
    upperBounds: new Map([[1, Uint8Array.of(2)]]),
  };
  const plain = { splitOffsets: [4, 100], sortOrderId: 1, keyMetadata: Uint8Array.of(5) };
  const written = write([existing({ ...metrics, ...plain })]);
  const manifest = { ...toManifestFile(written, PLACE), firstRowId: 0n };

  const [whole] = [...readManifest(written.bytes, manifest, CONTEXT)];
  const [lean] = [...readManifest(written.bytes, manifest, { ...CONTEXT, skipsMetrics: true })];

  assert.deepEqual(whole?.dataFile, dataFile({ ...metrics, ...plain, firstRowId: 0n }));
  assert.deepEqual(lean?.dataFile, dataFile({ ...plain, firstRowId: 0n }));
});

test('keeps unknown fields of entries and files, but not those that the spec removed', () => {
  const [entry] = read({
    entry: { 900: { name: 'later', type: 'string', value: 'x' } },
    file: {
      901: { name: 'later', type: ['null', 'long'], value: 5n },
      105: { name: 'block_size_in_bytes', type: 'long', value: 64n },
    },
  });

  assert.deepEqual(entry?.unknownFields, [
    { avroField: { name: 'later', type: 'string', 'field-id': 900 }, value: 'x' },
  ]);
  assert.deepEqual(entry?.dataFile.unknownFields, [
    { avroField: { name: 'later', type: ['null', 'long'], 'field-id': 901 }, value: 5n },
  ]);
});

const VECTOR_FIELDS = {
  134: { type: 'int', value: 1 },
  101: { value: 'PUFFIN' },
  143: { type: 'string', value: 's3://b/a.parquet' },
  144: { type: 'long', value: 4n },
  145: { type: 'long', value: 50n },
};

test('reads a deletion vector', () => {
  const [entry] = read({ file: VECTOR_FIELDS, manifest: { content: 'deletes' } });

  const { dataFile: file } = entry ?? {};
  assert.equal(file?.content, 'position-deletes');
  assert.deepEqual([file?.contentOffset, file?.contentSizeBytes], [4, 50]);
});

for (const id of [143, 144, 145]) {
  test(`rejects a deletion vector without field ${id}`, () => {
    assert.throws(
      () => read({ file: { ...VECTOR_FIELDS, [id]: undefined }, manifest: { content: 'deletes' } }),
      errorOfKind('invalid-data', /is missing/),
    );
  });
}

test('rejects equality deletes without field ids', () => {
  assert.throws(
    () => read({ file: { 134: { type: 'int', value: 2 } }, manifest: { content: 'deletes' } }),
    errorOfKind('invalid-data', /equality_ids/),
  );
});

interface Changes {
  readonly entry?: Readonly<Record<number, Partial<HandField> | undefined>>;
  readonly file?: Readonly<Record<number, Partial<HandField> | undefined>>;
  readonly manifest?: Partial<ManifestFile>;
  readonly header?: Readonly<Record<string, string>>;
}

const LONG_MAP = {
  type: 'array',
  items: {
    type: 'record',
    name: 'kv',
    fields: [
      { name: 'key', type: 'string' },
      { name: 'value', type: 'long' },
    ],
  },
};

const INVALID: Readonly<Record<string, Changes>> = {
  'of status 3': { entry: { 0: { value: 3 } } },
  'without status': { entry: { 0: undefined } },
  'without file': { entry: { 2: undefined } },
  'with a negative sequence number': { entry: { 3: { value: -5n } } },
  'of content 3': { file: { 134: { type: 'int', value: 3 } } },
  'of deletes in a data manifest': { file: { 134: { type: 'int', value: 1 } } },
  'of data in a delete manifest': { manifest: { content: 'deletes' } },
  'without path': { file: { 100: undefined } },
  'without partition': { file: { 102: undefined } },
  'with a negative record count': { file: { 103: { value: -1n } } },
  'with a map that is a number': { file: { 108: { type: 'int', value: 1 } } },
  'with a map of text keys': {
    file: { 108: { type: LONG_MAP, value: [{ key: 'a', value: 1n }] } },
  },
  'with split offsets that are text': {
    file: { 132: { type: { type: 'array', items: 'string' }, value: ['x'] } },
  },
  'with a negative row id': { file: { 142: { type: 'long', value: -1n } } },
};

for (const [what, changes] of Object.entries(INVALID)) {
  test(`rejects an entry ${what}`, () => {
    assert.throws(() => read(changes), errorOfKind('invalid-data'));
  });
}

const CONTRADICTIONS: Readonly<Record<string, Changes>> = {
  'another content': { header: { content: 'deletes' } },
  'another spec': { header: { 'partition-spec-id': '1' } },
  'a spec that the table does not have': { manifest: { partitionSpecId: 7 } },
  'more added files': { manifest: { addedFilesCount: 0 } },
  'fewer added files': { manifest: { addedFilesCount: 2 } },
  'other rows': { manifest: { addedRowsCount: 11 } },
  'deleted files': { manifest: { deletedFilesCount: 1 } },
  'another length': { manifest: { manifestLengthBytes: 5 } },
};

for (const [what, changes] of Object.entries(CONTRADICTIONS)) {
  test(`rejects a manifest that contradicts the manifest list: ${what}`, () => {
    assert.throws(() => read(changes), errorOfKind('invalid-data'));
  });
}

test('does not compare counts that a v1 list left out', () => {
  const { addedFilesCount: _files, addedRowsCount: _rows, ...manifest } = manifestFile();
  const bytes = handMade({});

  const entries = [
    ...readManifest(bytes, { ...manifest, manifestLengthBytes: bytes.length }, CONTEXT),
  ];

  assert.equal(entries.length, 1);
});

test('does not support a manifest of version 4', () => {
  assert.throws(() => read({ header: { 'format-version': '4' } }), errorOfKind('unsupported'));
});

interface PartitionCase {
  readonly what: string;
  readonly type: PrimitiveType;
  readonly avro: JsonValue;
  readonly value: AvroValue;
  readonly expected: Partition[number] | 'invalid';
}

const INT_DATE = { type: 'int', logicalType: 'date' };
const DECIMAL = {
  type: 'fixed',
  name: 'd',
  size: 2,
  logicalType: 'decimal',
  precision: 4,
  scale: 2,
};
const FIXED_16 = { type: 'fixed', name: 'u', size: 16 };

const PARTITION_CASES: readonly PartitionCase[] = [
  { what: 'a long from an int', type: { kind: 'long' }, avro: 'int', value: -5, expected: -5n },
  { what: 'an int from a long', type: { kind: 'int' }, avro: 'long', value: 5n, expected: 5 },
  {
    what: 'no int from a long beyond 32 bits',
    type: { kind: 'int' },
    avro: 'long',
    value: 2n ** 40n,
    expected: 'invalid',
  },
  { what: 'a date', type: { kind: 'date' }, avro: INT_DATE, value: -1, expected: -1 },
  {
    what: 'no timestamp from a date',
    type: { kind: 'timestamp' },
    avro: INT_DATE,
    value: 1,
    expected: 'invalid',
  },
  {
    what: 'a double from a float',
    type: { kind: 'double' },
    avro: 'float',
    value: 1.5,
    expected: 1.5,
  },
  {
    what: 'a negative decimal',
    type: { kind: 'decimal', precision: 4, scale: 2 },
    avro: DECIMAL,
    value: Uint8Array.of(0xff, 0x85),
    expected: -123n,
  },
  {
    what: 'a decimal from bytes',
    type: { kind: 'decimal', precision: 4, scale: 2 },
    avro: { type: 'bytes', logicalType: 'decimal' },
    value: Uint8Array.of(0x7b),
    expected: 123n,
  },
  {
    what: 'no decimal from plain bytes',
    type: { kind: 'decimal', precision: 4, scale: 2 },
    avro: 'bytes',
    value: Uint8Array.of(1),
    expected: 'invalid',
  },
  {
    what: 'a uuid',
    type: { kind: 'uuid' },
    avro: FIXED_16,
    value: new Uint8Array(16),
    expected: new Uint8Array(16),
  },
  {
    what: 'no uuid from text',
    type: { kind: 'uuid' },
    avro: 'string',
    value: 'x',
    expected: 'invalid',
  },
  {
    what: 'no fixed of another length',
    type: { kind: 'fixed', lengthBytes: 4 },
    avro: FIXED_16,
    value: new Uint8Array(16),
    expected: 'invalid',
  },
  {
    what: 'binary',
    type: { kind: 'binary' },
    avro: 'bytes',
    value: Uint8Array.of(1),
    expected: Uint8Array.of(1),
  },
  {
    what: 'no string from bytes',
    type: { kind: 'string' },
    avro: 'bytes',
    value: Uint8Array.of(1),
    expected: 'invalid',
  },
  {
    what: 'no boolean from an array',
    type: { kind: 'boolean' },
    avro: { type: 'array', items: 'boolean' },
    value: [],
    expected: 'invalid',
  },
  { what: 'no int from null', type: { kind: 'int' }, avro: 'null', value: null, expected: null },
];

for (const { what, type, avro, value, expected } of PARTITION_CASES) {
  test(`reads ${what} as a partition value`, () => {
    const schema = createSchema(0, [{ fieldId: 2, name: 'c', isRequired: false, type }]);
    const fields = [{ id: 1000, name: 'category', type: avro, value }];
    const bytes = handMade({ file: { 102: partitionField(fields) } });
    const readIt = () =>
      [...readManifest(bytes, ofLength(bytes), { ...CONTEXT, schemas: [schema] })][0];

    if (expected === 'invalid') assert.throws(readIt, errorOfKind('invalid-data'));
    else assert.deepEqual(readIt()?.dataFile.partition, [expected]);
  });
}

test('rejects a partition that lacks a field of the spec', () => {
  const fields = changeFields(PARTITION_FIELDS, { 1000: { id: 1001 } });

  assert.throws(() => read({ file: { 102: partitionField(fields) } }), errorOfKind('invalid-data'));
});

test('reads a void field that is not there as null', () => {
  const voidField = { ...SPEC.fields[0]!, transform: parseTransform('void', 'spec') };
  const spec = createPartitionSpec(0, [voidField]);
  const bytes = handMade({ file: { 102: partitionField([]) } });

  const [entry] = [...readManifest(bytes, ofLength(bytes), { ...CONTEXT, specs: [spec] })];

  assert.deepEqual(entry?.dataFile.partition, [null]);
});

test('reads values of an unrecognized transform as they are', () => {
  const unknown = { ...SPEC.fields[0]!, transform: parseTransform('later[3]', 'spec') };
  const spec = createPartitionSpec(0, [unknown]);
  const bytes = handMade({
    file: {
      102: partitionField(changeFields(PARTITION_FIELDS, { 1000: { type: 'long', value: 8n } })),
    },
  });

  const [entry] = [...readManifest(bytes, ofLength(bytes), { ...CONTEXT, specs: [spec] })];

  assert.deepEqual(entry?.dataFile.partition, [8n]);
});

const PLACE = { manifestPath: 's3://b/m.avro', addedSnapshotId: 9n, sequenceNumber: 5n };

function added(changes: Parameters<typeof dataFile>[0]): NewManifestEntry {
  return { status: 'added', snapshotId: 9n, dataFile: dataFile(changes) };
}

function write(entries: readonly NewManifestEntry[]) {
  return writeManifest({
    formatVersion: 3,
    schemas: [SCHEMA],
    spec: SPEC,
    content: 'data',
    entries,
  });
}

function readWritten(
  entries: readonly NewManifestEntry[],
  manifest: Partial<ManifestFile>,
): ManifestEntry[] {
  const written = write(entries);
  return [
    ...readManifest(written.bytes, { ...toManifestFile(written, PLACE), ...manifest }, CONTEXT),
  ];
}

function read({ manifest, ...changes }: Changes): ManifestEntry[] {
  const bytes = handMade(changes);
  return [...readManifest(bytes, { ...ofLength(bytes), ...manifest }, CONTEXT)];
}

function ofLength(bytes: Uint8Array): ManifestFile {
  return manifestFile({ manifestLengthBytes: bytes.length });
}

function handMade({ entry = {}, file = {}, header = {} }: Changes): Uint8Array {
  const fileFields = changeFields(DATA_FILE_FIELDS, file);
  const dataFileField: HandField = {
    id: 2,
    name: 'data_file',
    type: structType('r2', fileFields),
    value: structValue(fileFields),
  };
  return structFile(
    'manifest_entry',
    changeFields([...ENTRY_FIELDS, dataFileField], entry),
    header,
  );
}

function partitionField(fields: readonly HandField[]): HandField {
  return {
    id: 102,
    name: 'partition',
    type: structType('r102', fields),
    value: structValue(fields),
  };
}

/** Counts of a manifest whose one entry has the status. */
function counts(status: number): Partial<ManifestFile> {
  return {
    existingFilesCount: Number(status === 0),
    addedFilesCount: Number(status === 1),
    deletedFilesCount: Number(status === 2),
    existingRowsCount: status === 0 ? 10 : 0,
    addedRowsCount: status === 1 ? 10 : 0,
    deletedRowsCount: status === 2 ? 10 : 0,
  };
}
