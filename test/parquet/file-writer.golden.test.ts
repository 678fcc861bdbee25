import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import {
  readParquetFooter,
  trustedStatistics,
  verifyParquetFile,
} from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { compressors } from '../support/slow-compressors.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { DuckDB } from './duckdb.ts';
import { copyFiles } from './memory-file.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** DuckDB reads BYTE_STREAM_SPLIT for floating point only. */
const NOT_READ_BY_DUCKDB = /exotic/;

const NESTED_ROWS = `
  SELECT i AS id,
    CASE WHEN i % 7 = 0 THEN NULL ELSE 'word ' || (i % 40) END AS word,
    i / 7.0::DOUBLE AS ratio,
    CASE WHEN i % 5 = 0 THEN NULL ELSE [j FOR j IN range(i % 4)] END AS list,
    MAP {'k' || i: [i, NULL]} AS map,
    {'x': i % 3, 'y': {'z': i::VARCHAR}} AS struct
  FROM range(3000) AS rows(i)`;

let duckDB: DuckDB;

before(async () => {
  duckDB = await DuckDB.open();
});

after(() => duckDB.close());

/** Copies the file twice into one, and checks that readers see its rows twice. */
async function copyTwice(bytes: Uint8Array, usesDuckDB = true): Promise<Uint8Array<ArrayBuffer>> {
  const reader = bytesReader(bytes);
  const { bytes: copied, result } = await copyFiles([reader, reader]);

  assert.equal(result.fileSizeBytes, copied.length);
  const { rows } = await readParquetSlowly(bytes);
  assert.deepEqual((await readParquetSlowly(copied)).rows, [...rows, ...rows]);
  if (usesDuckDB) assert.equal(await duckDB.countDifferences([copied], [bytes, bytes]), 0);
  const verified = await verifyParquetFile(bytesReader(copied));
  assert.deepEqual(verified.file.metadata, result.metadata);
  return copied;
}

async function chunksOf(bytes: Uint8Array) {
  const file = await readParquetFooter(bytesReader(bytes));
  return file.rowGroups.flatMap(({ chunks }) => chunks);
}

describe('copied files read equal', () => {
  for (const path of globSync('{iceberg-java,parquet-pyarrow,warehouse}/**/*.parquet', {
    cwd: FIXTURES,
  }).sort()) {
    test(`fixtures/${path}`, async () => {
      const bytes = new Uint8Array(readFileSync(`${FIXTURES}${path}`));

      await copyTwice(bytes, !NOT_READ_BY_DUCKDB.test(path));
    });
  }

  for (const codec of ['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw']) {
    test(`DuckDB, ${codec}, dictionaries and Bloom filters, nested`, async () => {
      const options = `COMPRESSION ${codec}, ROW_GROUP_SIZE 2048`;

      await copyTwice(await duckDB.write(NESTED_ROWS, options));
    });
  }

  test('DuckDB, delta encodings of version 2', async () => {
    await copyTwice(await duckDB.write(NESTED_ROWS, 'COMPRESSION zstd, PARQUET_VERSION v2'));
  });

  test('hyparquet-writer, several v2 pages with page indexes', async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => index);
    const written = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: ids, type: 'INT32', columnIndex: true, nullable: false },
        { name: 'text', data: ids.map((id) => (id % 3 ? `t${id}` : null)), type: 'STRING' },
      ],
      pageSize: 400,
      rowGroupSize: 600,
    });

    const copied = await copyTwice(new Uint8Array(written));

    const chunks = await chunksOf(copied);
    assert.ok(chunks.every(({ offsetIndexRange }) => offsetIndexRange));
    const idChunks = chunks.filter(({ leaf }) => leaf.path[0] === 'id');
    assert.ok(idChunks.every(({ columnIndexRange }) => columnIndexRange));
  });
});

describe('page indexes', () => {
  for (const name of ['pages-index-v1', 'pages-index-v2']) {
    test(`${name}: filters through the copied page index find the same rows in fewer bytes`, async () => {
      const bytes = new Uint8Array(readFileSync(`${FIXTURES}parquet-pyarrow/${name}.parquet`));
      const copied = await copyTwice(bytes);
      let bytesRead = 0;
      const file = {
        byteLength: copied.length,
        slice(start: number, end?: number) {
          bytesRead += (end ?? copied.length) - start;
          return copied.buffer.slice(start, end);
        },
      };

      const rows = await parquetReadObjects({
        file,
        metadata: parquetMetadata(copied.buffer),
        filter: { id: { $gte: 120, $lt: 123 } },
        columns: ['id', 'word'],
        usePageIndex: true,
        useOffsetIndex: true,
        compressors,
      });

      const expected = ['word 3', null, 'word 5'].map((word, index) => ({
        id: BigInt(120 + index),
        word,
      }));
      assert.deepEqual(rows, [...expected, ...expected]);
      assert.ok(bytesRead < copied.length / 2, `${bytesRead} of ${copied.length} bytes`);
      assert.equal(await duckDB.countWhere(copied, 'id BETWEEN 120 AND 122'), 6);
    });
  }

  test('every chunk has both where the source has them', async () => {
    const path = `${FIXTURES}parquet-pyarrow/pages-index-v1.parquet`;
    const copied = await copyTwice(new Uint8Array(readFileSync(path)));

    for (const chunk of await chunksOf(copied)) {
      assert.ok(chunk.offsetIndexRange && chunk.columnIndexRange, chunk.leaf.path.join('.'));
    }
  });

  test('without a source index, rows of nested v1 pages are counted, and bounds left out', async () => {
    const path = `${FIXTURES}parquet-pyarrow/pages-plain-v1.parquet`;
    const copied = await copyTwice(new Uint8Array(readFileSync(path)));

    for (const chunk of await chunksOf(copied)) {
      assert.ok(chunk.offsetIndexRange, chunk.leaf.path.join('.'));
    }
    const list = (await chunksOf(copied)).find(({ leaf }) => leaf.path[0] === 'list');
    assert.equal(list?.columnIndexRange, undefined);
  });

  test('chunks of one page get a column index from their statistics', async () => {
    const copied = await copyTwice(await duckDB.write(NESTED_ROWS, 'COMPRESSION zstd'));

    const chunk = (await chunksOf(copied)).find(({ leaf }) => leaf.path[0] === 'id');
    assert.ok(chunk?.columnIndexRange);
  });
});

describe('what belongs to a chunk', () => {
  test('Bloom filters are copied bit by bit and still prune', async () => {
    const bytes = await duckDB.write(NESTED_ROWS, 'COMPRESSION zstd');
    const copied = await copyTwice(bytes);

    const filterOf = async (file: Uint8Array) => {
      const chunk = (await chunksOf(file)).find(({ leaf }) => leaf.path[0] === 'word');
      const { offset, lengthBytes } = chunk!.bloomFilter!;
      return file.slice(offset, offset + lengthBytes!);
    };
    assert.deepEqual(await filterOf(copied), await filterOf(bytes));
    assert.equal(await duckDB.countWhere(copied, "word = 'word 11'"), 2 * (75 - 11));
    assert.equal(await duckDB.countWhere(copied, "word = 'word 111'"), 0);
  });

  test('statistics are those that could be trusted', async () => {
    const bytes = await duckDB.write(NESTED_ROWS, 'COMPRESSION zstd');
    const copied = await copyTwice(bytes);

    const [before, after] = [await chunksOf(bytes), await chunksOf(copied)];
    for (const [index, chunk] of before.entries()) {
      const { leaf, columnOrder, metaData } = chunk;
      const createdBy = 'DuckDB version v1';
      const source = { createdBy, leaf, columnOrder, valueCount: metaData.numValues };
      const expected = trustedStatistics(source, metaData.statistics);
      assert.deepEqual(after[index]?.metaData.statistics, expected);
    }
  });
});
