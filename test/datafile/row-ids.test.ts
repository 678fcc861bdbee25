import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  addRowIds,
  isSameRowIds,
  NO_ROW_IDS,
  type RowIdTally,
  tallyRowIds,
} from '../../shared/datafile/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { bitmapOf, DuckDb } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

async function tally(
  bytes: Uint8Array,
  firstRowId?: bigint,
  deleted?: readonly number[],
): Promise<RowIdTally> {
  const reader = bytesReader(bytes, 's3://bucket/f.parquet');
  const file = await readParquetFooter(reader);
  return tallyRowIds({
    reader,
    file,
    ...(firstRowId === undefined ? {} : { firstRowId }),
    ...(deleted && { deletedPositions: bitmapOf(deleted) }),
  });
}

/** Rows of a column `a` and ids as the query gives them. */
function stored(ids: string): Promise<Uint8Array> {
  const ofRows = `SELECT 1 AS a, r::BIGINT AS r FROM (${ids}) v(r)`;
  return duck.write(ofRows, ', FIELD_IDS {a: 1, r: 2147483540}, ROW_GROUP_SIZE 2048');
}

const plain = (count: number) =>
  duck.write(`SELECT 1 AS a FROM range(${count})`, ', FIELD_IDS {a: 1}');

describe('tallyRowIds', () => {
  test('counts inherited ids as the same ids stored in another order and in other files', async () => {
    const start = 2n ** 32n - 1500n;
    const backwards = `SELECT ${start} + 2999 - i FROM range(3000) t(i)`;
    const [low, high] = [
      await tally(await stored(`SELECT ${start} + i FROM range(1000) t(i)`)),
      await tally(await stored(`SELECT ${start} + 1000 + i FROM range(2000) t(i)`)),
    ];

    const inherited = await tally(await plain(3000), start);

    assert.equal(inherited.idCount, 3000);
    assert.deepEqual(await tally(await stored(backwards)), inherited);
    assert.deepEqual(addRowIds(low, high), inherited);
  });

  test('takes from the position what a row does not store', async () => {
    const halves = await stored(
      'SELECT CASE WHEN i % 2 = 0 THEN 900 + i END FROM range(5000) t(i)',
    );

    assert.deepEqual(await tally(halves, 900n), await tally(await plain(5000), 900n));
    assert.deepEqual(
      [(await tally(halves)).idCount, (await tally(halves)).nullCount],
      [2500, 2500],
    );
  });

  test('counts rows without ids', async () => {
    assert.deepEqual(await tally(await plain(3)), { ...NO_ROW_IDS, nullCount: 3 });
  });

  test('tells a shifted, a doubled and a missing id', async () => {
    const one = await tally(await plain(4), 10n);

    const others = [
      await tally(await plain(4), 11n),
      await tally(await stored('VALUES (10), (11), (12), (12)')),
      await tally(await stored('VALUES (10), (11), (12), (NULL)')),
      await tally(await stored('VALUES (9), (11), (12), (14)')),
    ];

    for (const other of others) assert.ok(!isSameRowIds(one, other));
  });

  test('leaves deleted rows out, whether ids are stored, inherited or absent', async () => {
    const rowCount = 70_000;
    const gone = [0, 2047, 2048, 65_535, 65_536, rowCount - 1];
    const isLeft = `i NOT IN (${gone.join(', ')})`;
    const live = await stored(`SELECT 900 + i FROM range(${rowCount}) t(i) WHERE ${isLeft}`);
    const halves = await stored(
      `SELECT CASE WHEN i % 2 = 0 THEN 900 + i END FROM range(${rowCount}) t(i)`,
    );
    const all = await plain(rowCount);

    const expected = await tally(live);

    assert.equal(expected.idCount, rowCount - gone.length);
    assert.deepEqual(await tally(all, 900n, gone), expected);
    assert.deepEqual(await tally(halves, 900n, gone), expected);
    assert.deepEqual(await tally(all, undefined, gone), {
      ...NO_ROW_IDS,
      nullCount: rowCount - gone.length,
    });
    assert.equal((await tally(halves, undefined, gone)).nullCount, rowCount / 2 - 3);
  });

  test('refuses deleted rows that the file does not have', async () => {
    await assert.rejects(
      tally(await plain(3), 0n, [1, 3]),
      errorOfKind('invalid-data', /position 3 is deleted, the file has 3 rows/),
    );
  });
});
