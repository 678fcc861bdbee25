import { IcebergError, type RangedReader } from '../base/index.ts';
import { comparePhysical, type ValueOrder } from './encode-bounds.ts';
import { COLUMN_INDEX, OFFSET_INDEX } from './metadata-codecs.ts';
import type { BoundaryOrder, ColumnIndex, OffsetIndex, Statistics } from './metadata-types.ts';
import type { TalliedPage } from './page-tally.ts';
import type { ByteRange, ParquetColumnChunk } from './parquet-file.ts';
import type { ThriftCodec } from './thrift-codec.ts';
import { ThriftReader } from './thrift-reader.ts';

/** An offset index of 2^20 pages takes some 15 MiB, a column index more by its bounds. */
export const PAGE_INDEX_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Reads a chunk's offset index, if it has one. Costs one read.
 *
 * @throws invalid-data — when it does not parse, or its lists differ in length
 * @throws unsupported — when it is beyond the limits
 */
export async function readOffsetIndex(
  reader: RangedReader,
  chunk: ParquetColumnChunk,
  subject: string,
): Promise<OffsetIndex | undefined> {
  if (chunk.offsetIndexRange === undefined) return undefined;
  const name = `${subject}: offset index`;
  const offsetIndex = await readIndex(reader, chunk.offsetIndexRange, OFFSET_INDEX, name);
  const pageCount = offsetIndex.pageLocations.length;
  requireLengthIfAny(offsetIndex.unencodedByteArrayDataBytes, pageCount, name);
  return offsetIndex;
}

/**
 * Reads a chunk's column index, if it has one. Costs one read.
 *
 * @throws invalid-data — when it does not parse, its lists differ in length or a count is negative
 * @throws unsupported — when it is beyond the limits
 */
export async function readColumnIndex(
  reader: RangedReader,
  chunk: ParquetColumnChunk,
  subject: string,
): Promise<ColumnIndex | undefined> {
  if (chunk.columnIndexRange === undefined) return undefined;
  const name = `${subject}: column index`;
  const columnIndex = await readIndex(reader, chunk.columnIndexRange, COLUMN_INDEX, name);
  const pageCount = columnIndex.nullPages.length;
  const { maxRepetitionLevel, maxDefinitionLevel } = chunk.leaf;
  requireLength(columnIndex.minValues, pageCount, name);
  requireLength(columnIndex.maxValues, pageCount, name);
  requireLengthIfAny(columnIndex.nullCounts, pageCount, name);
  requireLengthIfAny(columnIndex.nanCounts, pageCount, name);
  const { repetitionLevelHistograms, definitionLevelHistograms } = columnIndex;
  requireLengthIfAny(repetitionLevelHistograms, pageCount * (maxRepetitionLevel + 1), name);
  requireLengthIfAny(definitionLevelHistograms, pageCount * (maxDefinitionLevel + 1), name);
  const negative = columnIndex.nullCounts?.find((count) => count < 0);
  if (negative !== undefined) {
    throw new IcebergError('invalid-data', `${name}: null count ${negative} is negative`);
  }
  return columnIndex;
}

/**
 * Rows of each page by an offset index; `undefined` unless the index names just these pages with first rows
 * that begin at 0 and ascend.
 *
 * @param chunkOffset where the chunk begins in the index's file
 */
export function rowCountsByOffsetIndex(
  { pageLocations }: OffsetIndex,
  dataPages: readonly TalliedPage[],
  { chunkOffset, rowCount }: { readonly chunkOffset: number; readonly rowCount: number },
): readonly number[] | undefined {
  if (pageLocations.length !== dataPages.length) return undefined;
  const rowCounts: number[] = [];
  let firstRowIndexNext = 0;
  for (const [pageIndex, location] of pageLocations.entries()) {
    const page = dataPages[pageIndex]!;
    const isSamePage =
      location.offset === chunkOffset + page.offset &&
      location.compressedPageSize === page.sizeBytes;
    if (!isSamePage || location.firstRowIndex !== firstRowIndexNext) return undefined;
    firstRowIndexNext = pageLocations[pageIndex + 1]?.firstRowIndex ?? rowCount;
    const pageRowCount = firstRowIndexNext - location.firstRowIndex;
    if (pageRowCount < 0 || (pageRowCount === 0 && pageLocations.length > 1)) return undefined;
    rowCounts.push(pageRowCount);
  }
  return rowCounts;
}

/** What one page contributes to a column index. */
export interface PageBounds {
  readonly valueCount: number;
  /** In today's form, see `trustedStatistics`. */
  readonly statistics: Statistics | undefined;
}

/**
 * Makes a column index from statistics of pages; `undefined` unless every page has a null count, and both bounds
 * where it has values.
 *
 * @see Parquet format, "parquet.thrift": ColumnIndex
 */
export function columnIndexOf(
  pages: readonly PageBounds[],
  order: ValueOrder,
): ColumnIndex | undefined {
  if (order === 'none' || pages.length === 0) return undefined;
  const nullPages: boolean[] = [];
  const nullCounts: number[] = [];
  const minValues: Uint8Array[] = [];
  const maxValues: Uint8Array[] = [];
  for (const { valueCount, statistics } of pages) {
    const { nullCount, minValue, maxValue } = statistics ?? {};
    if (nullCount === undefined) return undefined;
    const isNullPage = nullCount === valueCount;
    if (!isNullPage && (minValue === undefined || maxValue === undefined)) return undefined;
    nullPages.push(isNullPage);
    nullCounts.push(nullCount);
    minValues.push(isNullPage ? new Uint8Array(0) : minValue!);
    maxValues.push(isNullPage ? new Uint8Array(0) : maxValue!);
  }
  const boundaryOrder = boundaryOrderOf({ nullPages, minValues, maxValues }, order);
  return { nullPages, minValues, maxValues, boundaryOrder, nullCounts };
}

/** The order that the bounds of pages with values follow; ascending where they follow both. */
export function boundaryOrderOf(
  index: Pick<ColumnIndex, 'nullPages' | 'minValues' | 'maxValues'>,
  order: ValueOrder,
): BoundaryOrder {
  let isAscending = true;
  let isDescending = true;
  let before: number | undefined;
  for (const [page, isNullPage] of index.nullPages.entries()) {
    if (isNullPage) continue;
    if (before !== undefined) {
      const min = comparePhysical(order, index.minValues[before]!, index.minValues[page]!);
      const max = comparePhysical(order, index.maxValues[before]!, index.maxValues[page]!);
      isAscending &&= min <= 0 && max <= 0;
      isDescending &&= min >= 0 && max >= 0;
    }
    before = page;
  }
  if (isAscending) return 'ASCENDING';
  return isDescending ? 'DESCENDING' : 'UNORDERED';
}

/** Whether null counts of pages add up to the chunk's, as far as both are known. */
export function addsUpToNullCount(
  { nullCounts }: ColumnIndex,
  statistics: Statistics | undefined,
): boolean {
  const nullCount = statistics?.nullCount;
  if (nullCounts === undefined || nullCounts.length === 0 || nullCount === undefined) return true;
  return nullCount < 0 || nullCounts.reduce((sum, count) => sum + count, 0) === nullCount;
}

async function readIndex<T>(
  reader: RangedReader,
  { offset, lengthBytes }: ByteRange,
  codec: ThriftCodec<T>,
  name: string,
): Promise<T> {
  if (lengthBytes > PAGE_INDEX_BYTES_MAX) {
    const problem = `${lengthBytes} bytes exceed the limit of ${PAGE_INDEX_BYTES_MAX}`;
    throw new IcebergError('unsupported', `${name}: ${problem}`);
  }
  return codec.read(new ThriftReader(await reader.read(offset, lengthBytes), name));
}

/** Some writers give an empty list where they mean none. */
function requireLengthIfAny(
  list: readonly unknown[] | undefined,
  length: number,
  name: string,
): void {
  if (list !== undefined && list.length > 0) requireLength(list, length, name);
}

function requireLength(list: readonly unknown[], length: number, name: string): void {
  if (list.length === length) return;
  throw new IcebergError(
    'invalid-data',
    `${name}: list of ${list.length} elements, expected ${length}`,
  );
}
