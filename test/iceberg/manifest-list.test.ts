import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAvroFile } from '../../shared/avro/index.ts';
import { decodeUtf8 } from '../../shared/bytes/index.ts';
import {
  type FormatVersion,
  type ManifestFile,
  readManifestList,
  writeManifestList,
} from '../../shared/iceberg/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { changeFields, type HandField, manifestFile, structFile } from './manifest-builders.ts';

const V1_FIELDS: readonly HandField[] = [
  { id: 500, name: 'manifest_path', type: 'string', value: 's3://b/m.avro' },
  { id: 501, name: 'manifest_length', type: 'long', value: 100n },
  { id: 502, name: 'partition_spec_id', type: 'int', value: 0 },
  { id: 503, name: 'added_snapshot_id', type: 'long', value: 2n ** 62n },
];

const V2_FIELDS: readonly HandField[] = [
  ...V1_FIELDS,
  { id: 517, name: 'content', type: 'int', value: 1 },
  { id: 515, name: 'sequence_number', type: 'long', value: 8n },
  { id: 516, name: 'min_sequence_number', type: 'long', value: 7n },
  { id: 504, name: 'added_data_files_count', type: 'int', value: 1 },
  { id: 505, name: 'existing_data_files_count', type: 'int', value: 2 },
  { id: 506, name: 'deleted_data_files_count', type: 'int', value: 3 },
  { id: 512, name: 'added_rows_count', type: 'long', value: 10n },
  { id: 513, name: 'existing_rows_count', type: 'long', value: 20n },
  { id: 514, name: 'deleted_rows_count', type: 'long', value: 30n },
];

test('gives a v1 entry the defaults of the spec', () => {
  const [manifest] = read(V1_FIELDS, 1);

  assert.deepEqual(manifest, {
    manifestPath: 's3://b/m.avro',
    manifestLengthBytes: 100,
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: 2n ** 62n,
    unknownFields: [],
  });
});

test('finds fields by id where older writers named them otherwise', () => {
  const [manifest] = read(V2_FIELDS, 2);

  assert.deepEqual(
    [manifest?.addedFilesCount, manifest?.existingFilesCount, manifest?.deletedFilesCount],
    [1, 2, 3],
  );
  assert.equal(manifest?.content, 'deletes');
  assert.equal(manifest?.sequenceNumber, 8n);
});

test('reads an int where the spec has a long', () => {
  const [manifest] = read(changeFields(V1_FIELDS, { 501: { type: 'int', value: 77 } }), 1);

  assert.equal(manifest?.manifestLengthBytes, 77);
});

test('keeps unknown fields and writes them again', () => {
  const nested = {
    type: 'record',
    name: 'r900',
    fields: [{ name: 'x', type: ['null', 'long'], 'field-id': 901 }],
  };
  const fields = changeFields(V2_FIELDS, {
    900: { name: 'later', type: nested, value: { x: 5n } },
    902: { name: 'empty', type: ['null', 'string'], value: null },
  });

  const manifests = read(fields, 2);
  const other = manifestFile({ manifestPath: 's3://b/other.avro' });
  const rewritten = writeList([...manifests, other], 2);

  const [first, second] = readManifestList(rewritten, 'list', 2);
  assert.deepEqual(manifests[0]?.unknownFields, [
    { avroField: { name: 'later', type: nested, 'field-id': 900 }, value: { x: 5n } },
  ]);
  assert.deepEqual(first?.unknownFields[0]?.value, { x: 5n });
  assert.equal(first?.unknownFields[0]?.avroField['field-id'], 900);
  assert.deepEqual(second?.unknownFields, []);
});

test('does not write two types for one unknown field', () => {
  const one = read(changeFields(V2_FIELDS, { 900: { type: 'int', value: 1 } }), 2);
  const other = read(changeFields(V2_FIELDS, { 900: { type: 'long', value: 1n } }), 2);

  assert.throws(() => writeList([...one, ...other], 2), errorOfKind('unsupported'));
});

test('gives an unknown field another name where its own is taken', () => {
  const manifests = read(
    changeFields(V1_FIELDS, { 900: { name: 'content', type: 'int', value: 1 } }),
    1,
  );
  const counted = manifests.map((manifest) => ({ ...manifestFile(), ...manifest }));

  const [manifest] = readManifestList(writeList(counted, 2), 'list', 2);

  assert.equal(manifest?.content, 'data');
  assert.equal(manifest?.unknownFields[0]?.value, 1);
});

const V3_ENTRY = manifestFile({
  firstRowId: 40n,
  partitions: [
    {
      containsNull: true,
      containsNan: false,
      lowerBound: Uint8Array.of(1),
      upperBound: Uint8Array.of(2),
    },
    { containsNull: false },
  ],
  keyMetadata: Uint8Array.of(9),
});

const WRITABLE: Readonly<Record<FormatVersion, ManifestFile>> = {
  1: manifestFile({ sequenceNumber: 0n, minSequenceNumber: 0n }),
  2: manifestFile({ content: 'deletes', partitions: [] }),
  3: V3_ENTRY,
};

for (const version of [1, 2, 3] as const) {
  test(`reads back the v${version} list that it wrote`, () => {
    const manifest = WRITABLE[version];

    assert.deepEqual(readManifestList(writeList([manifest], version), 'list', version), [manifest]);
  });
}

test('writes the header entries of each version', () => {
  assert.deepEqual(header(writeList([], 1)), {
    'snapshot-id': '6',
    'parent-snapshot-id': 'null',
    'format-version': '1',
  });
  assert.deepEqual(header(writeList([], 3, 5n)), {
    'snapshot-id': '6',
    'parent-snapshot-id': '5',
    'sequence-number': '2',
    'first-row-id': '100',
    'format-version': '3',
  });
});

test('does not write deletes into a v1 list', () => {
  assert.throws(() => writeList([WRITABLE[2]], 1), errorOfKind('unsupported', /v1/));
});

test('does not write a manifest without counts into a v2 list', () => {
  assert.throws(() => writeList(read(V1_FIELDS, 1), 2), errorOfKind('unsupported', /counts/));
});

const INVALID: Readonly<Record<string, Readonly<Record<number, Partial<HandField> | undefined>>>> =
  {
    'without a path': { 500: undefined },
    'with a path that is no string': { 500: { type: 'int', value: 5 } },
    'of negative length': { 501: { value: -1n } },
    'without a spec id': { 502: undefined },
    'with a spec id that is no int': { 502: { type: 'string', value: '0' } },
    'without content': { 517: undefined },
    'of content 2': { 517: { value: 2 } },
    'without a sequence number': { 515: undefined },
    'with a negative sequence number': { 515: { value: -1n } },
    'without counts': { 504: undefined },
    'with a negative count': { 505: { value: -1 } },
    'with a sequence number that is no long': { 515: { type: 'boolean', value: true } },
    'of deletes with a first row id': { 520: { type: 'long', value: 1n } },
    'with key metadata that is not binary': { 519: { type: 'string', value: 'x' } },
    'with partitions that are no list': { 507: { type: 'string', value: 'x' } },
    'with partitions that are no structs': {
      507: { type: { type: 'array', items: 'int' }, value: [1] },
    },
    'with a summary that says nothing of nulls': {
      507: {
        type: { type: 'array', items: { type: 'record', name: 's', fields: [] } },
        value: [{}],
      },
    },
    'with a field id that stands twice': { 900: { id: 500 } },
  };

for (const [what, changes] of Object.entries(INVALID)) {
  test(`rejects an entry ${what}`, () => {
    assert.throws(() => read(changeFields(V2_FIELDS, changes), 2), errorOfKind('invalid-data'));
  });
}

test('does not support a length that no number holds', () => {
  const fields = changeFields(V2_FIELDS, { 501: { value: 2n ** 62n } });

  assert.throws(() => read(fields, 2), errorOfKind('unsupported'));
});

test('rejects a list of a later version than the table', () => {
  const bytes = structFile('manifest_file', V2_FIELDS, { 'format-version': '2' });

  assert.throws(() => readManifestList(bytes, 'list', 1), errorOfKind('invalid-data', /exceeds/));
});

test('does not support a list of version 4', () => {
  const bytes = structFile('manifest_file', V2_FIELDS, { 'format-version': '4' });

  assert.throws(() => readManifestList(bytes, 'list', 3), errorOfKind('unsupported', /version 4/));
});

function read(fields: readonly HandField[], version: FormatVersion): ManifestFile[] {
  const header = version === 1 ? {} : { 'format-version': String(version) };
  return readManifestList(structFile('manifest_file', fields, header), 'list', version);
}

function writeList(
  manifests: readonly ManifestFile[],
  formatVersion: FormatVersion,
  parentSnapshotId?: bigint,
): Uint8Array {
  return writeManifestList({
    formatVersion,
    snapshotId: 6n,
    ...(parentSnapshotId === undefined ? {} : { parentSnapshotId }),
    sequenceNumber: 2n,
    ...(formatVersion === 3 ? { firstRowId: 100n } : {}),
    manifests,
  });
}

function header(bytes: Uint8Array): Record<string, string> {
  const entries = [...parseAvroFile(bytes, 'list').metadata]
    .filter(([key]) => !key.startsWith('avro.'))
    .map(([key, value]) => [key, decodeUtf8(value, key)]);
  return Object.fromEntries(entries);
}
