import { assert } from '../base/index.ts';
import type {
  ColumnMetaData,
  Encoding,
  OffsetIndex,
  PageEncodingStats,
  PageHeader,
  PageType,
} from './metadata-types.ts';
import { dataPageFacts } from './page-sequence.ts';
import type { SchemaLeaf } from './schema-tree.ts';

/** A data page; `offset` counts from the start of the chunk. */
export interface TalliedPage {
  readonly offset: number;
  /** The header included. */
  readonly sizeBytes: number;
}

/** What a chunk's metadata says of its pages. */
export type PageTotals = Pick<
  ColumnMetaData,
  | 'encodings'
  | 'encodingStats'
  | 'numValues'
  | 'totalUncompressedSize'
  | 'totalCompressedSize'
  | 'dataPageOffset'
  | 'dictionaryPageOffset'
>;

/** Adds up the pages of one chunk in the form of its metadata. */
export class PageTally {
  readonly #leaf: SchemaLeaf;
  readonly #encodings = new Set<Encoding>();
  readonly #pageCounts = new Map<string, PageEncodingStats>();
  readonly dataPages: TalliedPage[] = [];
  #valueCount = 0;
  #uncompressedBytes = 0;
  #compressedBytes = 0;
  #hasDictionary = false;

  constructor(leaf: SchemaLeaf) {
    this.#leaf = leaf;
  }

  get sizeBytes(): number {
    return this.#compressedBytes;
  }

  add(header: PageHeader, headerBytes: number): void {
    const sizeBytes = headerBytes + header.compressedPageSize;
    const facts = dataPageFacts(header, this.#leaf.maxRepetitionLevel);
    if (facts === undefined) {
      this.#hasDictionary = true;
      this.#count(header.type, header.dictionaryPageHeader!.encoding);
    } else {
      this.dataPages.push({ offset: this.#compressedBytes, sizeBytes });
      this.#valueCount += facts.valueCount;
      this.#count(header.type, facts.encoding);
      this.#addLevelEncodings(header);
    }
    this.#uncompressedBytes += headerBytes + header.uncompressedPageSize;
    this.#compressedBytes += sizeBytes;
  }

  /** @param chunkOffset where the chunk begins in its file */
  totals(chunkOffset: number): PageTotals {
    const dataPageOffset = this.dataPages[0]?.offset ?? this.#compressedBytes;
    return {
      encodings: [...this.#encodings],
      encodingStats: [...this.#pageCounts.values()],
      numValues: this.#valueCount,
      totalUncompressedSize: this.#uncompressedBytes,
      totalCompressedSize: this.#compressedBytes,
      dataPageOffset: chunkOffset + dataPageOffset,
      ...(this.#hasDictionary ? { dictionaryPageOffset: chunkOffset } : {}),
    };
  }

  #count(pageType: PageType, encoding: Encoding): void {
    this.#encodings.add(encoding);
    const key = `${pageType} ${encoding}`;
    const count = (this.#pageCounts.get(key)?.count ?? 0) + 1;
    this.#pageCounts.set(key, { pageType, encoding, count });
  }

  #addLevelEncodings({ dataPageHeader }: PageHeader): void {
    const { maxDefinitionLevel, maxRepetitionLevel } = this.#leaf;
    if (maxDefinitionLevel > 0) {
      this.#encodings.add(dataPageHeader?.definitionLevelEncoding ?? 'RLE');
    }
    if (maxRepetitionLevel > 0) {
      this.#encodings.add(dataPageHeader?.repetitionLevelEncoding ?? 'RLE');
    }
  }
}

/**
 * The offset index of data pages that each begin a row; `undefined` where first row indexes would not ascend,
 * since a page holds no row.
 *
 * @param rowCounts rows of each page
 * @see Parquet format, "parquet.thrift": OffsetIndex
 */
export function offsetIndexOf(
  dataPages: readonly TalliedPage[],
  rowCounts: readonly number[],
  chunkOffset: number,
): OffsetIndex | undefined {
  assert(dataPages.length === rowCounts.length, 'offset index: one row count for each page');
  if (dataPages.length === 0) return undefined;
  if (dataPages.length > 1 && rowCounts.includes(0)) return undefined;
  let firstRowIndex = 0;
  const pageLocations = dataPages.map(({ offset, sizeBytes }, pageIndex) => {
    const location = { offset: chunkOffset + offset, compressedPageSize: sizeBytes, firstRowIndex };
    firstRowIndex += rowCounts[pageIndex]!;
    return location;
  });
  return { pageLocations };
}
