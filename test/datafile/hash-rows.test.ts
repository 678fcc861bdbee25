import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hashRows, isSameRows, type RowsHash } from '../../shared/datafile/index.ts';
import type { NestedField } from '../../shared/iceberg/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bitmapOf, DuckDb, type ExampleRewrite, field, rewriteOptions } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const FIELDS: readonly NestedField[] = [field(1, 'a', 'long'), field(2, 't', 'string')];
const IDS = ', FIELD_IDS {a: 1, t: 2}';

/** A million small numbers, some of them null, with text. */
const ROWS = (count: number): string =>
  `SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE i % 1000 END::BIGINT AS a, 'text ' || (i % 13) AS t FROM range(${count}) r(i)`;

async function hashOf(example: Omit<ExampleRewrite, 'fields'> & Partial<ExampleRewrite>) {
  const options = await rewriteOptions({ fields: FIELDS, ...example }, new MemoryObjectStore());
  return hashRows({ ...options, partition: [], files: options.inputs });
}

async function hashOfQuery(query: string, options = ''): Promise<RowsHash> {
  return hashOf({ files: [{ bytes: await duck.write(query, `${IDS}${options}`) }] });
}

describe('hashRows', () => {
  test('is the same for the same rows in another order, codec, encoding and row group', async () => {
    const one = await hashOfQuery(ROWS(5000));
    const others = [
      await hashOfQuery(`SELECT * FROM (${ROWS(5000)}) ORDER BY t DESC, a`, ', COMPRESSION gzip'),
      await hashOfQuery(ROWS(5000), ', ROW_GROUP_SIZE 2048, COMPRESSION uncompressed'),
      await hashOfQuery(ROWS(5000), ', DICTIONARY_SIZE_LIMIT 1, PARQUET_VERSION v2'),
    ];

    assert.equal(one.rowCount, 5000);
    for (const other of others) assert.deepEqual(other, one);
  });

  test('is the same for one file and for two', async () => {
    const bytes = [
      await duck.write(`${ROWS(100)} WHERE i < 40`, IDS),
      await duck.write(`${ROWS(100)} WHERE i >= 40`, IDS),
    ];

    const two = await hashOf({ files: bytes.map((each) => ({ bytes: each })) });

    assert.deepEqual(two, await hashOfQuery(ROWS(100)));
  });

  test('sees a changed value, a null, a swap between rows, and a row twice in place of another', async () => {
    const rows = (values: string) => `SELECT * FROM (VALUES ${values}) v(a, t)`;
    const as = 'SELECT a::BIGINT AS a, t FROM';
    const before = await hashOfQuery(`${as} (${rows("(1, 'x'), (2, 'y'), (3, 'z')")})`);
    const changed = [
      "(1, 'x'), (2, 'y'), (4, 'z')",
      "(1, 'x'), (2, 'y'), (NULL, 'z')",
      "(1, 'x'), (2, 'z'), (3, 'y')",
      "(1, 'x'), (1, 'x'), (3, 'z')",
      "(1, 'x'), (2, 'y'), (3, 'z '), (3, 'z')",
      "(1, 'x'), (2, 'y'), (3, '')",
    ];

    for (const values of changed) {
      const after = await hashOfQuery(`${as} (${rows(values)})`);
      assert.ok(!isSameRows(before, after), values);
    }
  });

  test('tells empty lists, nulls in lists, null lists and where lists end', async () => {
    const list = {
      kind: 'list',
      elementId: 2,
      isElementRequired: false,
      elementType: { kind: 'int' },
    };
    const fields = [field(1, 'l', list as NestedField['type'])];
    const ids = ', FIELD_IDS {l: {__duckdb_field_id: 1, element: 2}}';
    const values = [
      '([1]), ([2, 3])',
      '([1, 2]), ([3])',
      '([1]), ([2, 3]), ([])',
      '([1]), ([2, 3]), (NULL)',
      '([1]), ([2, 3]), ([NULL])',
      '([1, NULL]), ([2, 3])',
    ];

    const hashes = [];
    for (const each of values) {
      const query = `SELECT l::INT[] AS l FROM (VALUES ${each}) v(l)`;
      hashes.push(await hashOf({ fields, files: [{ bytes: await duck.write(query, ids) }] }));
    }

    const seen = new Set(hashes.map(({ sums }) => `${sums.first} ${sums.second}`));
    assert.equal(seen.size, values.length);
  });

  test('takes a promoted column for what the table reads in it, and a missing one for its default', async () => {
    const narrow = await duck.write('SELECT i::INT AS a FROM range(10) r(i)', ', FIELD_IDS {a: 1}');
    const wide = await duck.write("SELECT i::BIGINT AS a, 'd' AS t FROM range(10) r(i)", IDS);
    const fields = [field(1, 'a', 'long'), field(2, 't', 'string', { initialDefault: 'd' })];

    const one = await hashOf({ fields, files: [{ bytes: narrow }] });
    const other = await hashOf({ fields, files: [{ bytes: wide }] });

    assert.deepEqual(one, other);
  });

  test('in v3 sees other row ids and other sequence numbers, inherited or stored', async () => {
    const bytes = await duck.write(ROWS(10), IDS);
    const file = (firstRowId: bigint, dataSequenceNumber: bigint) =>
      hashOf({ formatVersion: 3, files: [{ bytes, entry: { firstRowId }, dataSequenceNumber }] });
    const stored = await duck.write(
      `SELECT *, 5 + (row_number() OVER ())::BIGINT AS r, 4::BIGINT AS s FROM (${ROWS(10)})`,
      ', FIELD_IDS {a: 1, t: 2, r: 2147483540, s: 2147483539}',
    );

    const one = await file(6n, 4n);

    assert.deepEqual(await hashOf({ formatVersion: 3, files: [{ bytes: stored }] }), one);
    assert.ok(!isSameRows(one, await file(7n, 4n)));
    assert.ok(!isSameRows(one, await file(6n, 5n)));
  });

  test('leaves deleted rows out, in whatever row groups and with whatever treatment they are', async () => {
    const bytes = await duck.write(ROWS(5000), `${IDS}, ROW_GROUP_SIZE 2048`);
    const gone = [0, 1, 2047, 2048, 4999];
    const positions = bitmapOf(gone);
    const entry = { firstRowId: 7n };
    const without = await duck.write(
      `SELECT * FROM (SELECT *, 7 + (row_number() OVER ())::BIGINT - 1 AS r, 1::BIGINT AS s FROM (${ROWS(5000)})) WHERE r - 7 NOT IN (${gone.join(', ')})`,
      ', FIELD_IDS {a: 1, t: 2, r: 2147483540, s: 2147483539}',
    );

    const expected = await hashOf({ formatVersion: 3, files: [{ bytes: without }] });

    assert.equal(expected.rowCount, 4995);
    for (const treatment of ['purge', 'carry'] as const) {
      const file = { bytes, entry, deletes: { positions, treatment } };
      assert.deepEqual(await hashOf({ formatVersion: 3, files: [file] }), expected);
    }
    const other = { positions: bitmapOf([0, 1, 2047, 2048, 4998]), treatment: 'purge' } as const;
    const changed = await hashOf({ formatVersion: 3, files: [{ bytes, entry, deletes: other }] });
    assert.ok(!isSameRows(changed, expected));
  });

  test('decodes a row group of more than a million rows in parts', async () => {
    const query = 'SELECT (i % 3)::BIGINT AS a, NULL::VARCHAR AS t FROM range(1100000) r(i)';

    const one = await hashOfQuery(query, ', ROW_GROUP_SIZE 2000000');

    assert.equal(one.rowCount, 1_100_000);
    assert.deepEqual(await hashOfQuery(query, ', ROW_GROUP_SIZE 100000'), one);
  });

  test('refuses a file that its entry does not describe', async () => {
    const bytes = await duck.write(ROWS(10), IDS);

    await assert.rejects(
      hashOf({ files: [{ bytes, entry: { recordCount: 11 } }] }),
      errorOfKind('invalid-data', /10 rows, its manifest entry says 11/),
    );
  });
});
