import { IcebergError, type RangedReader } from '../base/index.ts';
import { locateBloomFilter } from './bloom-filter.ts';
import { countPageRows } from './count-rows.ts';
import type { ColumnIndex, PageEncodingStats } from './metadata-types.ts';
import {
  addsUpToNullCount,
  readColumnIndex,
  readOffsetIndex,
  rowCountsByOffsetIndex,
} from './page-index.ts';
import { dataPageFacts, type WalkedPage } from './page-sequence.ts';
import { PageTally } from './page-tally.ts';
import { chunkSubject, type ParquetColumnChunk, type ParquetFile } from './parquet-file.ts';
import { readParquetFooter } from './read-footer.ts';
import { hasUntrustedBounds, trustedColumnIndex } from './trusted-statistics.ts';
import { readPageBatches } from './walk-pages.ts';

/** What was seen while a file was verified. */
export interface VerifiedParquetFile {
  readonly file: ParquetFile;
  readonly rowCount: number;
  readonly pageCount: number;
}

/**
 * Reads a file that we wrote again from its store, and holds its footer against its pages: every header,
 * checksum and count, sizes and encodings, page indexes, Bloom filter headers, bounds that readers would trust.
 * Values are not decoded; v1 pages of repeated columns are decompressed to count their rows. Stricter than
 * reading: other writers' files, though valid, may fail. Costs about one read of the whole file.
 *
 * @throws invalid-data — when anything disagrees
 * @throws unsupported — as `readParquetFooter`
 */
export async function verifyParquetFile(reader: RangedReader): Promise<VerifiedParquetFile> {
  const file = await readParquetFooter(reader);
  let pageCount = 0;
  for (const [rowGroupIndex, { chunks }] of file.rowGroups.entries()) {
    for (const chunk of chunks) {
      const subject = chunkSubject(file.location, rowGroupIndex, chunk.leaf);
      pageCount += await verifyColumnChunk({ reader, file, chunk, subject });
    }
  }
  return { file, rowCount: file.metadata.numRows, pageCount };
}

interface ChunkToVerify {
  readonly reader: RangedReader;
  readonly file: ParquetFile;
  readonly chunk: ParquetColumnChunk;
  readonly subject: string;
}

/** Returns the number of pages. */
async function verifyColumnChunk(context: ChunkToVerify): Promise<number> {
  const { reader, chunk, subject, file } = context;
  const tally = new PageTally(chunk.leaf);
  const rowCounts: (number | undefined)[] = [];
  let pageCount = 0;
  for await (const { pages } of readPageBatches(reader, chunk, subject)) {
    pageCount += pages.length;
    for (const page of pages) {
      tally.add(page.header, page.headerBytes);
      const isData = dataPageFacts(page.header, chunk.leaf.maxRepetitionLevel) !== undefined;
      if (isData) rowCounts.push(verifiedRowCount(page, context));
    }
  }
  requireTotals(tally, context);
  requireTrustedBounds(context);
  await verifyPageIndex(tally, rowCounts, context);
  const { footerOffset } = file;
  if (chunk.bloomFilter) {
    await locateBloomFilter(reader, chunk.bloomFilter, { footerOffset, subject });
  }
  return pageCount;
}

/** `undefined` when the page does not begin a row, or its levels cannot be reached. */
function verifiedRowCount(page: WalkedPage, { chunk, subject }: ChunkToVerify): number | undefined {
  const { maxRepetitionLevel } = chunk.leaf;
  const stated = dataPageFacts(page.header, maxRepetitionLevel)!.rowCount;
  if (maxRepetitionLevel === 0) return stated;
  const counted = countPageRows(page, chunk, subject);
  if (stated !== undefined) requireEqual(counted?.rowCount ?? stated, stated, 'num_rows', subject);
  return counted?.startsRow === false ? undefined : (counted?.rowCount ?? stated);
}

function requireTotals(tally: PageTally, { chunk, subject }: ChunkToVerify): void {
  const { metaData, range } = chunk;
  const totals = tally.totals(range.offset);
  const fields = [
    'totalUncompressedSize',
    'dataPageOffset',
    'dictionaryPageOffset',
  ] as const satisfies readonly (keyof typeof totals)[];
  for (const field of fields) requireEqual(totals[field], metaData[field], field, subject);
  const found = [...totals.encodings].sort().join();
  requireEqual(found, [...metaData.encodings].sort().join(), 'encodings', subject);
  const foundStats = describe(totals.encodingStats ?? []);
  requireEqual(foundStats, describe(metaData.encodingStats ?? []), 'encoding_stats', subject);
}

function describe(encodingStats: readonly PageEncodingStats[]): string {
  return encodingStats
    .map(({ pageType, encoding, count }) => `${pageType} ${encoding} ${count}`)
    .sort()
    .join();
}

function requireTrustedBounds({ file, chunk, subject }: ChunkToVerify): void {
  const { metaData, leaf, columnOrder } = chunk;
  const { createdBy } = file.metadata;
  const source = { createdBy, leaf, columnOrder, valueCount: metaData.numValues };
  if (metaData.statistics && hasUntrustedBounds(source, metaData.statistics)) {
    throw new IcebergError('invalid-data', `${subject}: readers must not trust the statistics`);
  }
}

async function verifyPageIndex(
  tally: PageTally,
  rowCounts: readonly (number | undefined)[],
  { reader, file, chunk, subject }: ChunkToVerify,
): Promise<void> {
  const offsetIndex = await readOffsetIndex(reader, chunk, subject);
  const columnIndex = await readColumnIndex(reader, chunk, subject);
  if (columnIndex && !offsetIndex) {
    throw new IcebergError('invalid-data', `${subject}: a column index without an offset index`);
  }
  if (offsetIndex) {
    const { range, rowCount } = chunk;
    const place = { chunkOffset: range.offset, rowCount };
    const indexed = rowCountsByOffsetIndex(offsetIndex, tally.dataPages, place);
    requireEqual(indexed?.join(), rowCounts.join(), 'rows by offset index', subject);
  }
  if (columnIndex) requireColumnIndex(columnIndex, tally, { reader, file, chunk, subject });
}

function requireColumnIndex(
  columnIndex: ColumnIndex,
  tally: PageTally,
  { file, chunk, subject }: ChunkToVerify,
): void {
  const { leaf, columnOrder, metaData } = chunk;
  const pageCount = columnIndex.nullPages.length;
  requireEqual(pageCount, tally.dataPages.length, 'pages in the column index', subject);
  const { createdBy } = file.metadata;
  const source = { createdBy, leaf, columnOrder, valueCount: metaData.numValues };
  const trusted = trustedColumnIndex(source, columnIndex);
  if (trusted === undefined) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: a page's bounds in the column index are invalid`,
    );
  }
  if (!addsUpToNullCount(columnIndex, metaData.statistics)) {
    const counts = `${columnIndex.nullCounts?.join('+')} nulls, the chunk ${metaData.statistics?.nullCount}`;
    throw new IcebergError('invalid-data', `${subject}: the column index has ${counts}`);
  }
  requireEqual(trusted.boundaryOrder, columnIndex.boundaryOrder, 'boundary_order', subject);
}

function requireEqual(
  found: string | number | undefined,
  expected: string | number | undefined,
  what: string,
  subject: string,
): void {
  if (found === expected) return;
  throw new IcebergError('invalid-data', `${subject}: ${what} is ${expected}, pages give ${found}`);
}
