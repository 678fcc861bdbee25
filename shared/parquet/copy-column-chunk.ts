import { assert, IcebergError, type RangedReader } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';
import { readBloomFilter } from './bloom-filter.ts';
import { countPageRows } from './count-rows.ts';
import { needsRecode } from './created-by.ts';
import { valueOrderOf } from './encode-bounds.ts';
import { PAGE_HEADER } from './metadata-codecs.ts';
import type {
  ColumnIndex,
  OffsetIndex,
  PageHeader,
  SizeStatistics,
  Statistics,
} from './metadata-types.ts';
import {
  addsUpToNullCount,
  columnIndexOf,
  readColumnIndex,
  readOffsetIndex,
  rowCountsByOffsetIndex,
} from './page-index.ts';
import { dataPageFacts, type WalkedPage } from './page-sequence.ts';
import { offsetIndexOf, PageTally } from './page-tally.ts';
import { chunkSubject, type ParquetColumnChunk, type ParquetFile } from './parquet-file.ts';
import type { SchemaLeaf } from './schema-tree.ts';
import { serializeThrift } from './thrift-codec.ts';
import {
  hasUntrustedBounds,
  haveSameValueOrder,
  type StatisticsSource,
  trustedColumnIndex,
  trustedStatistics,
} from './trusted-statistics.ts';
import { type PageBatch, readPageBatches } from './walk-pages.ts';
import type { CountingSink, WrittenColumnChunk } from './written-column-chunk.ts';

/** One column chunk of an open file. */
export interface ColumnChunkSource {
  readonly reader: RangedReader;
  readonly file: ParquetFile;
  readonly rowGroupIndex: number;
  readonly columnIndex: number;
}

/**
 * Writes the pages of a chunk unchanged under the column `target`, walking them as they pass, and gives the
 * metadata that is true of them. Page header statistics that a reader ignores only by the source's `created_by`
 * are taken off.
 */
export async function copyColumnChunk(
  sink: CountingSink,
  source: ColumnChunkSource,
  target: SchemaLeaf,
): Promise<WrittenColumnChunk> {
  const copy = new ColumnChunkCopy(source, target, sink.offset);
  const offsetIndex = await readOffsetIndex(source.reader, copy.chunk, copy.subject);
  const columnIndex = await readColumnIndex(source.reader, copy.chunk, copy.subject);
  const countsRows = offsetIndex === undefined && copy.chunk.leaf.maxRepetitionLevel > 0;
  for await (const batch of readPageBatches(source.reader, copy.chunk, copy.subject)) {
    await sink.write(copy.take(batch, countsRows));
  }
  return copy.finish(offsetIndex, columnIndex);
}

class ColumnChunkCopy {
  readonly chunk: ParquetColumnChunk;
  readonly subject: string;
  readonly #source: ColumnChunkSource;
  readonly #target: SchemaLeaf;
  readonly #chunkOffset: number;
  readonly #sourceTally: PageTally;
  readonly #targetTally: PageTally;
  /** Rows of each data page, `undefined` where they are not known. */
  readonly #rowCounts: (number | undefined)[] = [];
  #everyPageStartsRow = true;

  constructor(source: ColumnChunkSource, target: SchemaLeaf, chunkOffset: number) {
    const { file, rowGroupIndex, columnIndex } = source;
    const chunk = file.rowGroups[rowGroupIndex]?.chunks[columnIndex];
    assert(chunk !== undefined, `${file.location}: no chunk ${rowGroupIndex}, ${columnIndex}`);
    assertSameLayout(chunk.leaf, target);
    this.chunk = chunk;
    this.subject = chunkSubject(file.location, rowGroupIndex, chunk.leaf);
    this.#source = source;
    this.#target = target;
    this.#chunkOffset = chunkOffset;
    this.#sourceTally = new PageTally(chunk.leaf);
    this.#targetTally = new PageTally(target);
  }

  /** The bytes to write for a batch. */
  take({ bytes, pages }: PageBatch, countsRows: boolean): Uint8Array {
    const headers = pages.map((page) => this.#takePage(page, countsRows));
    if (headers.every((header) => header === undefined)) return bytes;
    let offset = 0;
    const parts = pages.flatMap(({ headerBytes, body }, pageIndex) => {
      const header = headers[pageIndex] ?? bytes.subarray(offset, offset + headerBytes);
      offset += headerBytes + body.length;
      return [header, body];
    });
    return concatBytes(parts);
  }

  finish(
    offsetIndexFound: OffsetIndex | undefined,
    columnIndexFound: ColumnIndex | undefined,
  ): WrittenColumnChunk {
    const { bloomFilter, metaData, rowCount } = this.chunk;
    const { codec, keyValueMetadata, sizeStatistics, geospatialStatistics } = metaData;
    const statistics = this.#statistics();
    const offsetIndex = this.#offsetIndex(offsetIndexFound);
    const columnIndex = offsetIndex && this.#columnIndex(columnIndexFound, statistics);
    const sizes = sizeStatistics && soundSizeStatistics(sizeStatistics, this.#target);
    const { reader, file } = this.#source;
    return {
      metaData: {
        type: this.#target.physicalType,
        pathInSchema: this.#target.path,
        codec,
        ...this.#targetTally.totals(this.#chunkOffset),
        ...(keyValueMetadata === undefined ? {} : { keyValueMetadata }),
        ...(statistics === undefined ? {} : { statistics }),
        ...(sizes === undefined ? {} : { sizeStatistics: sizes }),
        ...(geospatialStatistics === undefined ? {} : { geospatialStatistics }),
      },
      rowCount,
      ...(offsetIndex === undefined ? {} : { offsetIndex }),
      ...(columnIndex === undefined ? {} : { columnIndex }),
      ...(bloomFilter === undefined
        ? {}
        : {
            readBloomFilter: () =>
              readBloomFilter(reader, bloomFilter, {
                footerOffset: file.footerOffset,
                subject: this.subject,
              }),
          }),
    };
  }

  /** Adds the page up; returns a new header where the page's own must not be copied. */
  #takePage(page: WalkedPage, countsRows: boolean): Uint8Array | undefined {
    const { header, headerBytes } = page;
    this.#sourceTally.add(header, headerBytes);
    const facts = dataPageFacts(header, this.chunk.leaf.maxRepetitionLevel);
    if (facts !== undefined) {
      if (needsRecode(this.#source.file.metadata.createdBy, [facts.encoding])) {
        const problem = `${facts.encoding} pages of a writer that chained them cannot be copied`;
        throw new IcebergError('unsupported', `${this.subject}: ${problem}`);
      }
      this.#rowCounts.push(facts.rowCount ?? (countsRows ? this.#countRows(page) : undefined));
    }
    const headerNew = this.#headerWithoutUntrusted(header, facts?.valueCount ?? 0);
    const headerBytesNew = headerNew && serializeThrift(PAGE_HEADER, headerNew);
    this.#targetTally.add(header, headerBytesNew?.length ?? headerBytes);
    return headerBytesNew;
  }

  #countRows(page: WalkedPage): number | undefined {
    const { metaData, rowCount } = this.chunk;
    if (page.header.dataPageHeader?.numValues === metaData.numValues) return rowCount;
    const rows = countPageRows(page, this.chunk, this.subject);
    if (rows?.startsRow === false) this.#everyPageStartsRow = false;
    return rows?.rowCount;
  }

  #headerWithoutUntrusted(header: PageHeader, valueCount: number): PageHeader | undefined {
    const { dataPageHeader: v1, dataPageHeaderV2: v2 } = header;
    const statistics = v1?.statistics ?? v2?.statistics;
    if (statistics === undefined) return undefined;
    const isTrusted =
      haveSameValueOrder(this.chunk.leaf.element, this.#target.element) &&
      !hasUntrustedBounds(this.#statisticsSource(valueCount), statistics);
    if (isTrusted) return undefined;
    const { dataPageHeader: _, dataPageHeaderV2: __, ...rest } = header;
    return {
      ...rest,
      ...(v1 === undefined ? {} : { dataPageHeader: withoutStatistics(v1) }),
      ...(v2 === undefined ? {} : { dataPageHeaderV2: withoutStatistics(v2) }),
    };
  }

  #statistics(): Statistics | undefined {
    const { metaData, leaf } = this.chunk;
    const source = this.#statisticsSource(metaData.numValues);
    const trusted = trustedStatistics(source, metaData.statistics);
    if (trusted === undefined || haveSameValueOrder(leaf.element, this.#target.element)) {
      return trusted;
    }
    const { minValue, maxValue, isMinValueExact, isMaxValueExact, ...counts } = trusted;
    return counts;
  }

  /** `undefined` unless it is certain that every page begins a row, and which. */
  #offsetIndex(found: OffsetIndex | undefined): OffsetIndex | undefined {
    const { dataPages } = this.#targetTally;
    const rowCounts = this.#knownRowCounts(found);
    const isFoundValid =
      rowCounts !== undefined && found?.pageLocations.length === dataPages.length;
    const offsetIndex = rowCounts && offsetIndexOf(dataPages, rowCounts, this.#chunkOffset);
    const unencoded = isFoundValid ? found.unencodedByteArrayDataBytes : undefined;
    if (offsetIndex === undefined || !unencoded?.length) return offsetIndex;
    return { ...offsetIndex, unencodedByteArrayDataBytes: unencoded };
  }

  #knownRowCounts(found: OffsetIndex | undefined): readonly number[] | undefined {
    const { range, rowCount } = this.chunk;
    const known = this.#rowCounts.filter((count) => count !== undefined);
    if (known.length === this.#rowCounts.length && this.#everyPageStartsRow) return known;
    if (this.#rowCounts.length === 1) return [rowCount];
    return (
      found &&
      rowCountsByOffsetIndex(found, this.#sourceTally.dataPages, {
        chunkOffset: range.offset,
        rowCount,
      })
    );
  }

  /** The source's where it can be trusted; of a single page the chunk's own bounds. */
  #columnIndex(
    found: ColumnIndex | undefined,
    statistics: Statistics | undefined,
  ): ColumnIndex | undefined {
    const { leaf, metaData } = this.chunk;
    const pageCount = this.#targetTally.dataPages.length;
    const isUsable =
      found !== undefined &&
      found.nullPages.length === pageCount &&
      addsUpToNullCount(found, metaData.statistics) &&
      haveSameValueOrder(leaf.element, this.#target.element);
    if (isUsable) {
      const trusted = trustedColumnIndex(this.#statisticsSource(metaData.numValues), found);
      if (trusted !== undefined) return trusted;
    }
    if (pageCount !== 1) return undefined;
    const page = { valueCount: metaData.numValues, statistics };
    return columnIndexOf([page], valueOrderOf(this.#target.element));
  }

  #statisticsSource(valueCount: number): StatisticsSource {
    const { createdBy } = this.#source.file.metadata;
    return { createdBy, leaf: this.chunk.leaf, columnOrder: this.chunk.columnOrder, valueCount };
  }
}

/** Whether a column is copied or recoded is the caller's decision; this is its precondition. */
function assertSameLayout(source: SchemaLeaf, target: SchemaLeaf): void {
  const isSame =
    source.physicalType === target.physicalType &&
    source.typeLength === target.typeLength &&
    source.maxDefinitionLevel === target.maxDefinitionLevel &&
    source.maxRepetitionLevel === target.maxRepetitionLevel;
  assert(isSame, `${source.path.join('.')} cannot be copied as ${target.path.join('.')}`);
}

function soundSizeStatistics(sizes: SizeStatistics, leaf: SchemaLeaf): SizeStatistics | undefined {
  const isSound =
    hasLevels(sizes.repetitionLevelHistogram, leaf.maxRepetitionLevel) &&
    hasLevels(sizes.definitionLevelHistogram, leaf.maxDefinitionLevel);
  return isSound ? sizes : undefined;
}

/** One element for each level; an empty list stands for none. */
function hasLevels(histogram: readonly number[] | undefined, levelMax: number): boolean {
  return histogram === undefined || histogram.length === 0 || histogram.length === levelMax + 1;
}

function withoutStatistics<T extends { readonly statistics?: Statistics }>(
  header: T,
): Omit<T, 'statistics'> {
  const { statistics: _, ...rest } = header;
  return rest;
}
