import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  type ParquetFile,
  readParquetFooter,
  verifyParquetFile,
} from '../../shared/parquet/index.ts';
import { COLUMN_INDEX, OFFSET_INDEX } from '../../shared/parquet/metadata-codecs.ts';
import type {
  ColumnIndex,
  ColumnMetaData,
  OffsetIndex,
} from '../../shared/parquet/metadata-types.ts';
import { serializeThrift } from '../../shared/parquet/thrift-codec.ts';
import { ThriftReader } from '../../shared/parquet/thrift-reader.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readFixture, withByte, withChunk, withColumnMetaData, withMetadata } from './edit-file.ts';
import { copyFiles } from './memory-file.ts';

const ID = 0;
const LIST = 5;

let bytes: Uint8Array<ArrayBuffer>;
let file: ParquetFile;

before(async () => {
  bytes = (await copyFiles([bytesReader(readFixture('pages-index-v1'))])).bytes;
  file = await readParquetFooter(bytesReader(bytes));
});

async function rejects(changed: Uint8Array, message: RegExp): Promise<void> {
  await assert.rejects(verifyParquetFile(bytesReader(changed)), { kind: 'invalid-data', message });
}

/** The file with another index of the same length in place of a chunk's own. */
function withIndexBytes(offset: number, index: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed.set(index, offset);
  return changed;
}

function withOffsetIndex(
  columnIndex: number,
  change: (index: OffsetIndex) => OffsetIndex,
): Uint8Array {
  const { offset, lengthBytes } = file.rowGroups[0]!.chunks[columnIndex]!.offsetIndexRange!;
  const found = bytes.subarray(offset, offset + lengthBytes);
  const index = change(OFFSET_INDEX.read(new ThriftReader(found, 'offset index')));
  return withIndexBytes(offset, serializeThrift(OFFSET_INDEX, index));
}

function withColumnIndex(
  columnIndex: number,
  change: (index: ColumnIndex) => ColumnIndex,
): Uint8Array {
  const { offset, lengthBytes } = file.rowGroups[0]!.chunks[columnIndex]!.columnIndexRange!;
  const found = bytes.subarray(offset, offset + lengthBytes);
  const index = change(COLUMN_INDEX.read(new ThriftReader(found, 'column index')));
  return withIndexBytes(offset, serializeThrift(COLUMN_INDEX, index));
}

describe('verifyParquetFile', () => {
  test('passes what the writer wrote, and counts rows and pages', async () => {
    const verified = await verifyParquetFile(bytesReader(bytes));

    assert.equal(verified.rowCount, 600);
    assert.ok(verified.pageCount > 50);
  });

  test('rejects a flipped bit of a page body', async () => {
    const { offset, lengthBytes } = file.rowGroups[0]!.chunks[ID]!.range;

    await rejects(
      withByte(bytes, offset + lengthBytes - 1, (byte) => byte ^ 1),
      /page body has crc/,
    );
  });

  test('rejects chunk metadata that the pages do not bear out', async () => {
    const { metaData } = file.rowGroups[0]!.chunks[ID]!;
    const wrong: readonly [Partial<ColumnMetaData>, RegExp][] = [
      [{ totalUncompressedSize: metaData.totalUncompressedSize + 1 }, /totalUncompressedSize/],
      [{ dictionaryPageOffset: metaData.dataPageOffset }, /dictionaryPageOffset/],
      [{ encodings: ['PLAIN'] }, /encodings is PLAIN, pages give PLAIN,RLE/],
      [{ encodingStats: [] }, /encoding_stats/],
      [{ totalCompressedSize: metaData.totalCompressedSize - 1 }, /page of/],
    ];

    for (const [change, message] of wrong) {
      await rejects(withColumnMetaData(bytes, ID, change), message);
    }
  });

  test('rejects statistics that readers must not trust', async () => {
    const undeclared = withMetadata(bytes, ({ columnOrders: _, ...metadata }) => metadata);

    await rejects(undeclared, /readers must not trust the statistics/);
  });

  test('rejects a column index without an offset index', async () => {
    const changed = withChunk(
      bytes,
      ID,
      ({ offsetIndexOffset: _, offsetIndexLength: __, ...chunk }) => chunk,
    );

    await rejects(changed, /a column index without an offset index/);
  });

  test('rejects an offset index with other rows or places, also of repeated columns', async () => {
    for (const column of [ID, LIST]) {
      const rows = withOffsetIndex(
        column,
        ({ pageLocations: [first, second, ...rest], ...index }) => ({
          ...index,
          pageLocations: [
            first!,
            { ...second!, firstRowIndex: second!.firstRowIndex - 1 },
            ...rest,
          ],
        }),
      );
      const places = withOffsetIndex(column, ({ pageLocations: [first, ...rest], ...index }) => ({
        ...index,
        pageLocations: [{ ...first!, compressedPageSize: first!.compressedPageSize + 1 }, ...rest],
      }));

      await rejects(rows, /rows by offset index/);
      await rejects(places, /rows by offset index/);
    }
  });

  test('rejects a column index with another order, bounds or null counts', async () => {
    const order = withColumnIndex(ID, (index) => ({ ...index, boundaryOrder: 'DESCENDING' }));
    const nulls = withColumnIndex(ID, (index) => ({
      ...index,
      nullCounts: index.nullCounts!.map((count) => count + 1),
    }));
    const bounds = withColumnIndex(ID, (index) => ({
      ...index,
      minValues: index.maxValues,
      maxValues: index.minValues,
    }));

    await rejects(order, /boundary_order is DESCENDING, pages give ASCENDING/);
    await rejects(nulls, /the column index has .* nulls, the chunk /);
    await rejects(bounds, /bounds in the column index are invalid/);
  });

  test('rejects a Bloom filter that is none', async () => {
    const { offset } = file.rowGroups[0]!.chunks[ID]!.columnIndexRange!;
    const moved = withChunk(bytes, ID, (chunk) => {
      const { columnIndexOffset: _, columnIndexLength: __, ...rest } = chunk;
      return { ...rest, metaData: { ...chunk.metaData!, bloomFilterOffset: offset } };
    });

    await rejects(moved, /bloom filter header/);
  });
});
