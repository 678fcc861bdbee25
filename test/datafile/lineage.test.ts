import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { DuckDb, type ExampleFile, field, rewrite } from './rewrite-fixture.ts';

const ROW_ID = 2147483540;
const SEQUENCE = 2147483539;

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const fields = [field(1, 'a', 'int')];

async function lineageOf(files: readonly ExampleFile[], outputSizeBytes?: number) {
  const outcome = await rewrite({
    files,
    fields,
    formatVersion: 3,
    ...(outputSizeBytes === undefined ? {} : { outputSizeBytes }),
  });
  outcome.bytes.forEach((bytes, index) => {
    duck.put(`lineage-${index}.parquet`, bytes);
  });
  const names = outcome.bytes.map((_, index) => `'#lineage-${index}.parquet#'`).join(', ');
  const rows = await duck.query(`SELECT * FROM read_parquet([${names}])`);
  return { outcome, rows: rows.map((row) => Object.values(row)) };
}

function plain(count: number, more = ''): Promise<Uint8Array> {
  return duck.write(`SELECT i::INT AS a FROM range(${count}) t(i)`, `, FIELD_IDS {a: 1}${more}`);
}

function stored(values: string): Promise<Uint8Array> {
  return duck.write(
    `SELECT a::INT AS a, r::BIGINT AS r, s::BIGINT AS s FROM (VALUES ${values}) t(a, r, s)`,
    `, FIELD_IDS {a: 1, r: ${ROW_ID}, s: ${SEQUENCE}}`,
  );
}

describe('row lineage', () => {
  test('is written from first row id, position and data sequence number', async () => {
    const bytes = await plain(3);
    const one = { bytes, entry: { firstRowId: 100n }, dataSequenceNumber: 4n };
    const other = { bytes, entry: { firstRowId: 7n }, dataSequenceNumber: 9n };

    const { rows, outcome } = await lineageOf([one, other]);

    assert.deepEqual(rows, [
      [0, '100', '4'],
      [1, '101', '4'],
      [2, '102', '4'],
      [0, '7', '9'],
      [1, '8', '9'],
      [2, '9', '9'],
    ]);
    assert.equal(outcome.outputs[0]?.dataFile.firstRowId, undefined);
  });

  test('goes on counting across row groups and outputs', async () => {
    const count = 6000;
    const bytes = await plain(count, ', ROW_GROUP_SIZE 2048');
    const file = { bytes, entry: { firstRowId: 10n }, dataSequenceNumber: 1n };

    const { rows, outcome } = await lineageOf([file], 12_000);

    assert.ok(outcome.outputs.length > 1);
    assert.deepEqual(
      rows.map(([a, rowId]) => [a, rowId]),
      Array.from({ length: count }, (_, index) => [index, String(10 + index)]),
    );
  });

  test('is kept where stored, and inherited only where null', async () => {
    const bytes = await stored('(1, 50, NULL), (2, NULL, 3), (3, NULL, NULL), (4, 51, 2)');
    const file = { bytes, entry: { firstRowId: 1000n }, dataSequenceNumber: 8n };

    const { rows } = await lineageOf([file]);

    assert.deepEqual(rows, [
      [1, '50', '8'],
      [2, '1001', '3'],
      [3, '1002', '8'],
      [4, '51', '2'],
    ]);
  });

  test('stays null in files without a first row id', async () => {
    const none = await plain(2);
    const some = await stored('(1, 50, NULL), (2, NULL, 3)');

    const { rows } = await lineageOf([{ bytes: none }, { bytes: some }]);

    assert.deepEqual(rows, [
      [0, null, null],
      [1, null, null],
      [1, '50', null],
      [2, null, '3'],
    ]);
  });

  test('is not written before format version 3', async () => {
    const outcome = await rewrite({ files: [{ bytes: await plain(2) }], fields });

    duck.put('v2.parquet', outcome.bytes[0]!);

    const rows = await duck.query("SELECT * FROM '#v2.parquet#'");
    assert.deepEqual(rows, [{ a: 0 }, { a: 1 }]);
  });

  test('columns of another type are refused', async () => {
    const bytes = await duck.write(
      'SELECT 1 AS a, 2::INT AS r',
      `, FIELD_IDS {a: 1, r: ${ROW_ID}}`,
    );

    await assert.rejects(
      lineageOf([{ bytes }]),
      (error) => isIcebergError(error, 'unsupported') && /column r: INT32/.test(error.message),
    );
  });
});
