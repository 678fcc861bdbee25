import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { IcebergType, NestedField } from '../../shared/iceberg/index.ts';
import { verifyParquetFile } from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { DuckDb, field, rewrite } from './rewrite-fixture.ts';

const PYARROW = new URL('../fixtures/parquet-pyarrow/', import.meta.url);

const list = (elementId: number, elementType: IcebergType): IcebergType => ({
  kind: 'list',
  elementId,
  isElementRequired: false,
  elementType,
});
const struct = (...fields: NestedField[]): IcebergType => ({ kind: 'struct', fields });
const STRING = { kind: 'string' } as const;

const FLAT_FIELDS: NestedField[] = [
  field(1, 'b', { kind: 'boolean' }),
  field(2, 'i', 'int'),
  field(3, 'l', 'long'),
  field(4, 'step', 'long'),
  field(5, 'f', 'float'),
  field(6, 'd', 'double'),
  field(7, 's', 'string'),
  field(8, 'bin', { kind: 'binary' }),
  field(9, 'fx', { kind: 'fixed', lengthBytes: 5 }),
  field(10, 'dec', { kind: 'decimal', precision: 38, scale: 10 }),
  field(11, 'few', 'string'),
];

const NESTED_FIELDS: NestedField[] = [
  field(1, 'ints', list(2, { kind: 'long' })),
  field(3, 'deep', list(4, list(5, STRING))),
  field(6, 'map', {
    kind: 'map',
    keyId: 7,
    keyType: STRING,
    valueId: 8,
    valueType: { kind: 'double' },
    isValueRequired: false,
  }),
  field(
    9,
    'point',
    struct(field(10, 'x', 'int'), field(11, 'y', struct(field(12, 'z', 'string')))),
  ),
  field(13, 'items', list(14, struct(field(15, 'a', 'int'), field(16, 'b', list(17, STRING))))),
];

function mappingOf(fields: readonly NestedField[]): object[] {
  const childrenOf = (type: IcebergType): object[] => {
    switch (type.kind) {
      case 'struct':
        return mappingOf(type.fields);
      case 'list':
        return [
          { 'field-id': type.elementId, names: ['element'], fields: childrenOf(type.elementType) },
        ];
      case 'map':
        return [
          { 'field-id': type.keyId, names: ['key'], fields: childrenOf(type.keyType) },
          { 'field-id': type.valueId, names: ['value'], fields: childrenOf(type.valueType) },
        ];
      default:
        return [];
    }
  };
  return fields.map(({ fieldId, name, type }) => ({
    'field-id': fieldId,
    names: [name],
    fields: childrenOf(type),
  }));
}

function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.parquet`, PYARROW)));
}

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

/** Row by row in order, NaN equal to NaN. */
async function assertSameRows(
  input: Uint8Array,
  outputs: readonly Uint8Array[],
  columns = '*',
): Promise<void> {
  duck.put('input.parquet', input);
  outputs.forEach((bytes, index) => {
    duck.put(`output-${index}.parquet`, bytes);
  });
  const names = outputs.map((_, index) => `'#output-${index}.parquet#'`).join(', ');
  const [counts] = await duck.query(`
    WITH i AS (SELECT row_number() OVER () AS n, ${columns} FROM read_parquet('#input.parquet#')),
         o AS (SELECT row_number() OVER () AS n, ${columns} FROM read_parquet([${names}]))
    SELECT (SELECT count(*) FROM (FROM i EXCEPT ALL FROM o)) AS lost,
           (SELECT count(*) FROM (FROM o EXCEPT ALL FROM i)) AS made`);
  assert.equal(counts!['lost'], '0');
  assert.equal(counts!['made'], '0');
}

/** The rows as hyparquet reads them. */
async function slowRows(files: readonly Uint8Array[]): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  for (const bytes of files) rows.push(...(await readParquetSlowly(bytes)).rows);
  return rows;
}

describe('rewriteFileGroup on files of Parquet C++', () => {
  const cases: readonly [string, readonly NestedField[]][] = [
    ['exotic-v1', FLAT_FIELDS],
    ['exotic-v2', FLAT_FIELDS],
    ['dictionary-v1', FLAT_FIELDS],
    ['dictionary-v2', FLAT_FIELDS],
    ['required-v1', FLAT_FIELDS],
    ['nested-v1', NESTED_FIELDS],
    ['nested-v2', NESTED_FIELDS],
  ];
  for (const [name, fields] of cases) {
    for (const pieces of [1, 3]) {
      test(`keeps the rows of ${name} in ${pieces} outputs`, async () => {
        const bytes = fixture(name);
        const properties = { 'schema.name-mapping.default': JSON.stringify(mappingOf(fields)) };
        const outputSizeBytes = Math.ceil((bytes.length * 1.2) / pieces);

        const outcome = await rewrite({ files: [{ bytes }], fields, properties, outputSizeBytes });

        assert.ok(outcome.outputs.length >= pieces);
        // DuckDB cannot read BYTE_STREAM_SPLIT of decimals.
        const columns = name.startsWith('exotic') ? '* EXCLUDE dec' : '*';
        await assertSameRows(bytes, outcome.bytes, columns);
        assert.deepEqual(await slowRows(outcome.bytes), await slowRows([bytes]));
        for (const output of outcome.bytes) await verifyParquetFile(bytesReader(output));
      });
    }
  }
});
