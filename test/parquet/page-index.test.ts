import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes, fromHex } from '../../shared/bytes/index.ts';
import { COLUMN_INDEX, OFFSET_INDEX } from '../../shared/parquet/metadata-codecs.ts';
import type { ColumnIndex, OffsetIndex } from '../../shared/parquet/metadata-types.ts';
import {
  addsUpToNullCount,
  boundaryOrderOf,
  columnIndexOf,
  PAGE_INDEX_BYTES_MAX,
  readColumnIndex,
  readOffsetIndex,
  rowCountsByOffsetIndex,
} from '../../shared/parquet/page-index.ts';
import { offsetIndexOf } from '../../shared/parquet/page-tally.ts';
import { serializeThrift } from '../../shared/parquet/thrift-codec.ts';
import { bytesReader } from '../support/file-reader.ts';
import { chunkOf } from './chunk-builder.ts';

const ONE = fromHex('01000000');
const TWO = fromHex('02000000');
const THREE = fromHex('03000000');
const EMPTY = new Uint8Array(0);

const DATA_PAGES = [
  { offset: 10, sizeBytes: 20 },
  { offset: 30, sizeBytes: 5 },
];

function offsetIndexWith(...locations: readonly [number, number, number][]): OffsetIndex {
  return {
    pageLocations: locations.map(([offset, compressedPageSize, firstRowIndex]) => ({
      offset,
      compressedPageSize,
      firstRowIndex,
    })),
  };
}

describe('rowCountsByOffsetIndex', () => {
  const place = { chunkOffset: 100, rowCount: 9 };

  test('gives the rows of each page', () => {
    const index = offsetIndexWith([110, 20, 0], [130, 5, 7]);

    assert.deepEqual(rowCountsByOffsetIndex(index, DATA_PAGES, place), [7, 2]);
  });

  test('gives nothing when the index names other pages or rows', () => {
    const wrong = [
      offsetIndexWith([110, 20, 0]),
      offsetIndexWith([111, 20, 0], [130, 5, 7]),
      offsetIndexWith([110, 20, 0], [130, 6, 7]),
      offsetIndexWith([110, 20, 1], [130, 5, 7]),
      offsetIndexWith([110, 20, 0], [130, 5, 0]),
      offsetIndexWith([110, 20, 0], [130, 5, 9]),
      offsetIndexWith([110, 20, 0], [130, 5, 10]),
    ];

    for (const index of wrong) {
      assert.equal(rowCountsByOffsetIndex(index, DATA_PAGES, place), undefined);
    }
  });

  test('allows one page without rows', () => {
    const index = offsetIndexWith([110, 20, 0]);

    const rowCounts = rowCountsByOffsetIndex(index, DATA_PAGES.slice(0, 1), {
      chunkOffset: 100,
      rowCount: 0,
    });

    assert.deepEqual(rowCounts, [0]);
  });
});

describe('offsetIndexOf', () => {
  test('shifts offsets and adds up rows', () => {
    assert.deepEqual(
      offsetIndexOf(DATA_PAGES, [7, 2], 100),
      offsetIndexWith([110, 20, 0], [130, 5, 7]),
    );
  });

  test('gives nothing without pages, or where one of several has no rows', () => {
    assert.equal(offsetIndexOf([], [], 100), undefined);
    assert.equal(offsetIndexOf(DATA_PAGES, [9, 0], 100), undefined);
    assert.deepEqual(offsetIndexOf(DATA_PAGES.slice(0, 1), [0], 0), offsetIndexWith([10, 20, 0]));
  });
});

describe('columnIndexOf', () => {
  test('takes bounds of pages with values, none of null pages', () => {
    const index = columnIndexOf(
      [
        { valueCount: 3, statistics: { nullCount: 1, minValue: ONE, maxValue: TWO } },
        { valueCount: 3, statistics: { nullCount: 3 } },
        { valueCount: 3, statistics: { nullCount: 0, minValue: TWO, maxValue: THREE } },
      ],
      'int32',
    );

    assert.deepEqual(index, {
      nullPages: [false, true, false],
      minValues: [ONE, EMPTY, TWO],
      maxValues: [TWO, EMPTY, THREE],
      boundaryOrder: 'ASCENDING',
      nullCounts: [1, 3, 0],
    });
  });

  test('gives nothing where a page lacks a null count or a bound, or there is no order', () => {
    const whole = { nullCount: 0, minValue: ONE, maxValue: TWO };
    const { nullCount: _, ...uncounted } = whole;
    const { maxValue: __, ...unbounded } = whole;

    assert.equal(columnIndexOf([{ valueCount: 3, statistics: uncounted }], 'int32'), undefined);
    assert.equal(columnIndexOf([{ valueCount: 3, statistics: unbounded }], 'int32'), undefined);
    assert.equal(columnIndexOf([{ valueCount: 3, statistics: undefined }], 'int32'), undefined);
    assert.equal(columnIndexOf([{ valueCount: 3, statistics: whole }], 'none'), undefined);
    assert.equal(columnIndexOf([], 'int32'), undefined);
  });
});

describe('boundaryOrderOf', () => {
  const orderOf = (...values: readonly Uint8Array[]) =>
    boundaryOrderOf(
      { nullPages: values.map(() => false), minValues: values, maxValues: values },
      'int32',
    );

  test('tells ascending, descending and neither', () => {
    assert.equal(orderOf(ONE, TWO, TWO), 'ASCENDING');
    assert.equal(orderOf(THREE, TWO, TWO), 'DESCENDING');
    assert.equal(orderOf(ONE, THREE, TWO), 'UNORDERED');
    assert.equal(orderOf(ONE, ONE), 'ASCENDING');
  });

  test('needs both bounds to follow', () => {
    const index = {
      nullPages: [false, false],
      minValues: [ONE, TWO],
      maxValues: [THREE, TWO],
    };

    assert.equal(boundaryOrderOf(index, 'int32'), 'UNORDERED');
  });
});

describe('addsUpToNullCount', () => {
  const index: ColumnIndex = {
    nullPages: [false],
    minValues: [ONE],
    maxValues: [ONE],
    boundaryOrder: 'ASCENDING',
    nullCounts: [4],
  };

  test('compares only what is known', () => {
    assert.equal(addsUpToNullCount(index, { nullCount: 4 }), true);
    assert.equal(addsUpToNullCount(index, { nullCount: 5 }), false);
    assert.equal(addsUpToNullCount(index, { nullCount: -1 }), true);
    assert.equal(addsUpToNullCount(index, undefined), true);
    assert.equal(addsUpToNullCount({ ...index, nullCounts: [] }, { nullCount: 5 }), true);
  });
});

describe('reading a page index', () => {
  const columnIndex: ColumnIndex = {
    nullPages: [false, false],
    minValues: [ONE, TWO],
    maxValues: [ONE, TWO],
    boundaryOrder: 'ASCENDING',
    nullCounts: [0, 0],
    definitionLevelHistograms: [],
  };

  async function readColumn(index: ColumnIndex): Promise<ColumnIndex | undefined> {
    const bytes = serializeThrift(COLUMN_INDEX, index);
    const columnIndexRange = { offset: 2, lengthBytes: bytes.length };
    const { chunk } = chunkOf([], { columnIndexRange });
    const reader = bytesReader(concatBytes([new Uint8Array(2), bytes]));
    return readColumnIndex(reader, chunk, 'chunk');
  }

  test('gives what was written, and nothing where there is none', async () => {
    const { chunk } = chunkOf([]);

    assert.deepEqual(await readColumn(columnIndex), columnIndex);
    assert.equal(await readColumnIndex(bytesReader(EMPTY), chunk, 'chunk'), undefined);
    assert.equal(await readOffsetIndex(bytesReader(EMPTY), chunk, 'chunk'), undefined);
  });

  test('rejects lists of different lengths and negative counts', async () => {
    const wrong: readonly Partial<ColumnIndex>[] = [
      { minValues: [] },
      { maxValues: [ONE] },
      { nullCounts: [1] },
      { nullCounts: [1, -1] },
      { nanCounts: [1, 2, 3] },
      { definitionLevelHistograms: [1] },
      { repetitionLevelHistograms: [1] },
    ];

    for (const change of wrong) {
      await assert.rejects(readColumn({ ...columnIndex, ...change }), { kind: 'invalid-data' });
    }
  });

  test('rejects an offset index whose sizes are fewer than its pages', async () => {
    const bytes = serializeThrift(OFFSET_INDEX, {
      ...offsetIndexWith([4, 5, 0], [9, 5, 2]),
      unencodedByteArrayDataBytes: [1],
    });
    const offsetIndexRange = { offset: 0, lengthBytes: bytes.length };
    const { chunk } = chunkOf([], { offsetIndexRange });

    await assert.rejects(readOffsetIndex(bytesReader(bytes), chunk, 'chunk'), {
      kind: 'invalid-data',
    });
  });

  test('refuses one beyond the limit without reading it', async () => {
    const offsetIndexRange = { offset: 0, lengthBytes: PAGE_INDEX_BYTES_MAX + 1 };
    const { chunk } = chunkOf([], { offsetIndexRange });

    await assert.rejects(readOffsetIndex(bytesReader(EMPTY), chunk, 'chunk'), {
      kind: 'unsupported',
    });
  });
});
