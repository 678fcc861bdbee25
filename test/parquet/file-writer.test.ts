import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  ColumnChunkEncoder,
  decodeColumnChunk,
  type ParquetFile,
  ParquetFileWriter,
  readColumnIndex,
  readOffsetIndex,
  readPageBatches,
  readParquetFooter,
  verifyParquetFile,
} from '../../shared/parquet/index.ts';
import type { ParquetColumnChunk } from '../../shared/parquet/parquet-file.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { DuckDB } from './duckdb.ts';
import { readFixture, withChunk, withMetadata } from './edit-file.ts';
import { copyFiles, MemorySink } from './memory-file.ts';

const INDEXED = readFixture('pages-index-v1');
const PLAIN = readFixture('pages-plain-v1');
const ENCODING = {
  codec: 'ZSTD',
  pageSizeBytes: 1000,
  pageRowCountMax: 90,
  dictionarySizeBytesMax: 500,
} as const;

let duckDB: DuckDB;

before(async () => {
  duckDB = await DuckDB.open();
});

after(() => duckDB.close());

async function firstChunk(bytes: Uint8Array, name: string): Promise<ParquetColumnChunk> {
  const file = await readParquetFooter(bytesReader(bytes));
  return file.rowGroups[0]!.chunks.find(({ leaf }) => leaf.path[0] === name)!;
}

/** Decodes and encodes every chunk. */
async function recode(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const reader = bytesReader(bytes);
  const file = await readParquetFooter(reader);
  const sink = new MemorySink();
  const writer = new ParquetFileWriter(sink, { schema: file.metadata.schema });
  for (const { chunks, rowCount } of file.rowGroups) {
    for (const chunk of chunks) {
      const options = { createdBy: file.metadata.createdBy, subject: 'chunk' };
      const bloomFilter = { falsePositiveFraction: 0.01, sizeBytesMax: 4096 };
      const encoder = new ColumnChunkEncoder(chunk.leaf, { ...ENCODING, bloomFilter }, 'chunk');
      for await (const batch of decodeColumnChunk(reader, chunk, options)) encoder.add(batch);
      await writer.addEncodedChunk(encoder.finish());
    }
    await writer.finishRowGroup(rowCount);
  }
  await writer.finish();
  return sink.bytes();
}

async function pagesHaveStatistics(bytes: Uint8Array): Promise<boolean> {
  const reader = bytesReader(bytes);
  const file = await readParquetFooter(reader);
  for (const chunk of file.rowGroups.flatMap(({ chunks }) => chunks)) {
    for await (const { pages } of readPageBatches(reader, chunk, 'chunk')) {
      if (pages.some(({ header }) => header.dataPageHeader?.statistics?.minValue)) return true;
    }
  }
  return false;
}

describe('newly encoded chunks', () => {
  for (const name of ['pages-index-v2', 'nested-v1', 'required-v1']) {
    test(`${name} decoded and encoded reads equal and verifies`, async () => {
      const bytes = readFixture(name);

      const recoded = await recode(bytes);

      const { rows } = await readParquetSlowly(bytes);
      assert.deepEqual((await readParquetSlowly(recoded)).rows, rows);
      assert.equal(await duckDB.countDifferences([recoded], [bytes]), 0);
      await verifyParquetFile(bytesReader(recoded));
    });
  }

  test('have page indexes and Bloom filters', async () => {
    const chunk = await firstChunk(await recode(INDEXED), 'id');

    assert.ok(chunk.offsetIndexRange && chunk.columnIndexRange && chunk.bloomFilter);
  });
});

describe('a copied chunk', () => {
  test('may get another name, field id and annotation', async () => {
    const file = await readParquetFooter(bytesReader(INDEXED));
    const schema = file.metadata.schema.map((element) =>
      element.name === 'id' ? { ...element, name: 'renamed', fieldId: 7 } : element,
    );
    const sink = new MemorySink();
    const writer = new ParquetFileWriter(sink, {
      schema,
      keyValueMetadata: [{ key: 'iceberg.schema', value: '{}' }],
    });
    for (const [rowGroupIndex, { rowCount }] of file.rowGroups.entries()) {
      for (const { columnIndex } of file.leaves) {
        const source = { reader: bytesReader(INDEXED), file, rowGroupIndex, columnIndex };
        await writer.copyColumnChunk(source);
      }
      const sortingColumns = [{ columnIdx: 0, descending: false, nullsFirst: true }];
      await writer.finishRowGroup(rowCount, sortingColumns);
    }
    const { metadata, splitOffsets } = await writer.finish();

    const { file: verified } = await verifyParquetFile(bytesReader(sink.bytes()));
    assert.deepEqual(verified.metadata, metadata);
    assert.deepEqual(verified.leaves[0]?.path, ['renamed']);
    assert.deepEqual(verified.leaves[0]?.fieldIds, [7]);
    assert.deepEqual(metadata.keyValueMetadata, [{ key: 'iceberg.schema', value: '{}' }]);
    assert.deepEqual(
      splitOffsets,
      verified.rowGroups.map(({ chunks }) => chunks[0]!.range.offset),
    );
    assert.equal(metadata.rowGroups[1]?.ordinal, 1);
    assert.equal(metadata.rowGroups[1]?.sortingColumns?.length, 1);
    assert.equal(await duckDB.countWhere(sink.bytes(), 'renamed < 10'), 10);
  });

  test('loses header statistics that only its file’s footer made worthless', async () => {
    const undeclared = withMetadata(PLAIN, ({ columnOrders: _, ...metadata }) => metadata);
    assert.equal(await pagesHaveStatistics(undeclared), true);

    const { bytes } = await copyFiles([bytesReader(undeclared)]);

    assert.equal(await pagesHaveStatistics(bytes), false);
    assert.equal((await firstChunk(bytes, 'word')).metaData.statistics?.minValue, undefined);
    await verifyParquetFile(bytesReader(bytes));
    assert.equal(await duckDB.countDifferences([bytes], [PLAIN]), 0);
  });

  test('keeps header statistics that hold', async () => {
    const { bytes } = await copyFiles([bytesReader(PLAIN)]);

    assert.equal(await pagesHaveStatistics(bytes), true);
  });

  test('is refused when its pages must be recoded', async () => {
    const old = withMetadata(readFixture('exotic-v1'), (metadata) => ({
      ...metadata,
      createdBy: 'parquet-mr version 1.7.0 (build abcd)',
    }));

    await assert.rejects(copyFiles([bytesReader(old)]), {
      kind: 'unsupported',
      message: /DELTA_BYTE_ARRAY/,
    });
  });

  test('gets a new offset index where the source’s is of other pages, if rows are known', async () => {
    const zero = (await firstChunk(INDEXED, 'zero')).offsetIndexRange!;
    const withoutZero = withChunk(INDEXED, 2, ({ offsetIndexOffset: _, ...chunk }) => chunk);
    const changed = withChunk(withoutZero, 0, (chunk) => ({
      ...chunk,
      offsetIndexOffset: zero.offset,
      offsetIndexLength: zero.lengthBytes,
    }));

    const { bytes } = await copyFiles([bytesReader(changed)]);

    const { file } = await verifyParquetFile(bytesReader(bytes));
    assert.ok(file.rowGroups[0]?.chunks[0]?.offsetIndexRange);
  });

  test('loses its column index when that has another number of pages', async () => {
    const word = (await firstChunk(INDEXED, 'word')).columnIndexRange!;
    const withoutWord = withChunk(INDEXED, 1, ({ columnIndexOffset: _, ...chunk }) => chunk);
    const changed = withChunk(withoutWord, 0, (chunk) => ({
      ...chunk,
      columnIndexOffset: word.offset,
      columnIndexLength: word.lengthBytes,
    }));

    const { bytes } = await copyFiles([bytesReader(changed)]);

    const { file } = await verifyParquetFile(bytesReader(bytes));
    assert.ok(file.rowGroups[0]?.chunks[0]?.offsetIndexRange);
    assert.equal(file.rowGroups[0]?.chunks[0]?.columnIndexRange, undefined);
  });

  test('goes without a page index where rows of its pages are not certain', async () => {
    const map = (await firstChunk(INDEXED, 'map')).offsetIndexRange!;
    const withoutMap = withChunk(INDEXED, 6, ({ offsetIndexOffset: _, ...chunk }) => chunk);
    const changed = withChunk(withoutMap, 5, (chunk) => ({
      ...chunk,
      offsetIndexOffset: map.offset,
      offsetIndexLength: map.lengthBytes,
    }));

    const { bytes } = await copyFiles([bytesReader(changed)]);

    const { file } = await verifyParquetFile(bytesReader(bytes));
    const chunk = file.rowGroups[0]!.chunks[5]!;
    assert.equal(chunk.offsetIndexRange, undefined);
    assert.equal(chunk.columnIndexRange, undefined);
    assert.equal(await duckDB.countDifferences([bytes], [INDEXED]), 0);
  });

  test('keeps the bounds of its column index', async () => {
    const { bytes } = await copyFiles([bytesReader(INDEXED)]);

    const [source, target] = [await firstChunk(INDEXED, 'gap'), await firstChunk(bytes, 'gap')];
    assert.deepEqual(
      await readColumnIndex(bytesReader(bytes), target, 'chunk'),
      await readColumnIndex(bytesReader(INDEXED), source, 'chunk'),
    );
    const index = await readOffsetIndex(bytesReader(bytes), target, 'chunk');
    assert.equal(index?.pageLocations[0]?.offset, target.range.offset);
  });
});

describe('a file', () => {
  const schema = [
    { name: 'root', numChildren: 1 },
    { name: 'leaf', type: 'INT32', repetitionType: 'OPTIONAL' },
  ] as const;

  test('may have no row group', async () => {
    const sink = new MemorySink();

    const result = await new ParquetFileWriter(sink, { schema }).finish();

    assert.equal(result.fileSizeBytes, sink.bytes().length);
    assert.deepEqual(result.splitOffsets, []);
    const { rowCount, pageCount } = await verifyParquetFile(bytesReader(sink.bytes()));
    assert.deepEqual([rowCount, pageCount], [0, 0]);
  });

  test('may have a row group of no rows and no columns', async () => {
    const sink = new MemorySink();
    const writer = new ParquetFileWriter(sink, { schema: [{ name: 'root', numChildren: 0 }] });
    await writer.finishRowGroup(0);
    await writer.finish();

    const file: ParquetFile = await readParquetFooter(bytesReader(sink.bytes()));

    assert.deepEqual(file.leaves, []);
    assert.equal(file.rowGroups.length, 1);
  });

  test('stops a program that writes too few or too many chunks, or of other rows', async () => {
    const empty = { codec: 'UNCOMPRESSED', dataPages: [] } as const;
    const writer = new ParquetFileWriter(new MemorySink(), { schema });

    await assert.rejects(writer.finishRowGroup(0), { name: 'AssertionFailed' });
    await writer.addEncodedChunk(empty);
    await assert.rejects(writer.addEncodedChunk(empty), { name: 'AssertionFailed' });
    await assert.rejects(writer.finishRowGroup(1), { name: 'AssertionFailed' });
    await assert.rejects(writer.finish(), { name: 'AssertionFailed' });
  });

  test('is the same, byte by byte, when written twice', async () => {
    const one = await copyFiles([bytesReader(INDEXED)]);
    const other = await copyFiles([bytesReader(INDEXED)]);

    assert.deepEqual(one.bytes, other.bytes);
  });
});
