import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  columnProperties,
  findMappedField,
  malformedProperties,
  type PropertyKey,
  parseNameMapping,
  tableProperty,
  unknownFirnProperties,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';

test('defaults are those of Iceberg Java', () => {
  const defaults: readonly (readonly [PropertyKey, unknown])[] = [
    ['write.target-file-size-bytes', 536_870_912],
    ['write.format.default', 'parquet'],
    ['write.parquet.row-group-size-bytes', 134_217_728],
    ['write.parquet.page-size-bytes', 1_048_576],
    ['write.parquet.page-row-limit', 20_000],
    ['write.parquet.dict-size-bytes', 2_097_152],
    ['write.parquet.compression-codec', 'zstd'],
    ['write.parquet.compression-level', undefined],
    ['write.parquet.bloom-filter-max-bytes', 1_048_576],
    ['write.object-storage.enabled', false],
    ['write.object-storage.partitioned-paths', true],
    ['write.metadata.compression-codec', 'none'],
    ['write.metadata.previous-versions-max', 100],
    ['write.metadata.delete-after-commit.enabled', false],
    ['write.metadata.metrics.max-inferred-column-defaults', 100],
    ['write.summary.partition-limit', 0],
    ['commit.retry.num-retries', 4],
    ['commit.retry.min-wait-ms', 100],
    ['commit.retry.max-wait-ms', 60_000],
    ['commit.retry.total-timeout-ms', 1_800_000],
    ['commit.manifest.target-size-bytes', 8_388_608],
    ['commit.manifest.min-count-to-merge', 100],
    ['commit.manifest-merge.enabled', true],
    ['gc.enabled', true],
    ['write.wap.enabled', false],
    ['firn.enabled', undefined],
    ['firn.verify', 'standard'],
    ['firn.parquet.encodings', 'basic'],
  ];
  for (const [key, value] of defaults) assert.equal(tableProperty({}, key), value, key);
});

test('well-formed values are read', () => {
  const properties = {
    'write.target-file-size-bytes': '1024',
    'write.parquet.compression-codec': 'SNAPPY',
    'write.parquet.compression-level': '-7',
    'firn.enabled': 'True',
    'write.metadata.metrics.default': 'Truncate(8)',
    'write.data.path': 's3://b/data',
  };
  assert.equal(tableProperty(properties, 'write.target-file-size-bytes'), 1024);
  assert.equal(tableProperty(properties, 'write.parquet.compression-codec'), 'snappy');
  assert.equal(tableProperty(properties, 'write.parquet.compression-level'), -7);
  assert.equal(tableProperty(properties, 'firn.enabled'), true);
  assert.equal(tableProperty(properties, 'write.data.path'), 's3://b/data');
  assert.deepEqual(tableProperty(properties, 'write.metadata.metrics.default'), {
    kind: 'truncate',
    length: 8,
  });
});

test('malformed values name key, value and what was expected', () => {
  const cases: readonly (readonly [PropertyKey, string, RegExp])[] = [
    [
      'write.target-file-size-bytes',
      '0',
      /write.target-file-size-bytes: value 0 is not an integer from 1/,
    ],
    ['write.target-file-size-bytes', '1MB', /value 1MB/],
    ['write.target-file-size-bytes', '99999999999999999', /value 99999999999999999/],
    ['write.parquet.page-size-bytes', '2147483648', /to 2147483647/],
    ['gc.enabled', 'yes', /is not true or false/],
    ['write.format.default', 'csv', /is not one of parquet, avro, orc/],
    ['write.metadata.metrics.default', 'truncate(0)', /none, counts, truncate\(length\) or full/],
    ['write.data.path', ' ', /is not text/],
    ['firn.verify', 'no', /one of standard, rows/],
  ];
  for (const [key, value, message] of cases) {
    throwsKind(() => tableProperty({ [key]: value }, key), 'invalid-config', message);
  }
});

test('properties of columns are read by column', () => {
  const properties = {
    'write.parquet.bloom-filter-enabled.column.a.b': 'true',
    'write.parquet.bloom-filter-fpp.column.a.b': '0.05',
    'gc.enabled': 'true',
  };
  const enabled = columnProperties(properties, 'write.parquet.bloom-filter-enabled.column.');
  const fpp = columnProperties(properties, 'write.parquet.bloom-filter-fpp.column.');

  assert.deepEqual([...enabled], [['a.b', true]]);
  assert.deepEqual([...fpp], [['a.b', 0.05]]);
  const bad = { 'write.parquet.bloom-filter-fpp.column.x': '1.0' };
  throwsKind(
    () => columnProperties(bad, 'write.parquet.bloom-filter-fpp.column.'),
    'invalid-config',
    /column.x: value 1.0 is not a number between 0 and 1/,
  );
});

test('lists the firn properties that it does not know', () => {
  const properties = { 'firn.zeta': '1', 'firn.enabled': 'true', 'firn.alpha': '2', other: '3' };
  assert.deepEqual(unknownFirnProperties(properties), ['firn.alpha', 'firn.zeta']);
});

const MAPPING = JSON.stringify([
  { 'field-id': 1, names: ['id', 'record_id'] },
  { 'field-id': 3, names: ['location'], fields: [{ 'field-id': 4, names: ['latitude', 'lat'] }] },
  { names: ['ignored'] },
  { 'field-id': 9, names: [] },
]);

test('finds mapped fields by the path of their names', () => {
  const mapping = parseNameMapping(MAPPING);

  assert.equal(findMappedField(mapping, ['record_id'])?.fieldId, 1);
  assert.equal(findMappedField(mapping, ['location', 'lat'])?.fieldId, 4);
  assert.equal(findMappedField(mapping, ['ignored'])?.fieldId, undefined);
  assert.equal(findMappedField(mapping, ['lat']), undefined);
  assert.equal(findMappedField(mapping, []), undefined);
});

test('refuses name mappings that are malformed or map a name twice', () => {
  const deep = `${'[{"names":[],"fields":'.repeat(70)}[]${'}]'.repeat(70)}`;
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{', /schema.name-mapping.default: name mapping: not valid JSON/],
    ['{}', /is not a JSON array/],
    ['[1]', /is not a JSON object/],
    ['[{"names":[1]}]', /a name is not a string/],
    ['[{"names":["a"]},{"names":["b","a"]}]', /name a is mapped twice/],
    [deep, /deeper than 64/],
  ];
  for (const [text, message] of cases) {
    throwsKind(() => parseNameMapping(text), 'invalid-config', message);
  }
});

test('says what is wrong with each malformed property that Firn reads', () => {
  const properties = {
    'write.target-file-size-bytes': 'huge',
    'write.parquet.row-group-size-bytes': '1000',
    'write.parquet.bloom-filter-fpp.column.id': '7',
    comment: 'huge',
  };

  assert.deepEqual(malformedProperties(properties), [
    `table property write.target-file-size-bytes: value huge is not an integer from 1 to ${Number.MAX_SAFE_INTEGER}`,
    'table property write.parquet.bloom-filter-fpp.column.id: value 7 is not a number between 0 and 1',
  ]);
});
