import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { NestedField } from '../../shared/iceberg/index.ts';
import { verifyParquetFile } from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { FLAT_FIELDS, mappingOf, NESTED_FIELDS, pyarrowFile } from './pyarrow-files.ts';
import { DuckDb, rewrite } from './rewrite-fixture.ts';

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
        const bytes = pyarrowFile(name);
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
