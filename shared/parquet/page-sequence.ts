import { IcebergError, isIcebergError } from '../base/index.ts';
import { crc32 } from '../bytes/index.ts';
import { declaredLengthBytes, decompress } from '../compress/index.ts';
import { canDecompress, codecFor } from './compression.ts';
import { PAGE_HEADER } from './metadata-codecs.ts';
import type { Encoding, PageHeader } from './metadata-types.ts';
import type { ParquetColumnChunk } from './parquet-file.ts';
import { ThriftReader } from './thrift-reader.ts';

/**
 * Pages are held whole in memory, compressed. Writers aim at 1 MiB; DuckDB writes a chunk as one page, which
 * stays below this for row groups of ordinary size.
 */
export const PAGE_BYTES_MAX = 256 * 1024 * 1024;

/** A header holds statistics, thus values; parquet-cpp allows as much. */
const PAGE_HEADER_BYTES_MAX = 16 * 1024 * 1024;

/** As many as a page index may name. */
const PAGES_PER_CHUNK_MAX = 2 ** 20;

/** One page in its chunk; `body` is a view. */
export interface WalkedPage {
  readonly header: PageHeader;
  /** Of the page's header, from the start of the chunk. */
  readonly offset: number;
  readonly headerBytes: number;
  readonly body: Uint8Array;
}

/** What every data page header says, whatever its version. */
export interface DataPageFacts {
  /** Entries with their nulls. */
  readonly valueCount: number;
  readonly encoding: Encoding;
  /** Rows that begin in the page, where header and schema tell. */
  readonly rowCount: number | undefined;
}

/** The facts of a data page; `undefined` for a dictionary page. */
export function dataPageFacts(
  header: PageHeader,
  maxRepetitionLevel: number,
): DataPageFacts | undefined {
  const { dataPageHeader, dataPageHeaderV2 } = header;
  if (header.type === 'DATA_PAGE' && dataPageHeader) {
    const { numValues: valueCount, encoding } = dataPageHeader;
    return { valueCount, encoding, rowCount: maxRepetitionLevel === 0 ? valueCount : undefined };
  }
  if (header.type === 'DATA_PAGE_V2' && dataPageHeaderV2) {
    const { numValues: valueCount, encoding, numRows: rowCount } = dataPageHeaderV2;
    return { valueCount, encoding, rowCount };
  }
  return undefined;
}

/**
 * Takes the pages of one column chunk in order and holds them against the chunk's metadata: sizes against what
 * remains and against what compressed pages hold, checksums where present, a dictionary first and at most once,
 * known encodings, and at the end the number of values and rows.
 */
export class PageSequence {
  readonly #chunk: ParquetColumnChunk;
  readonly #subject: string;
  #offset = 0;
  #valueCount = 0;
  #rowCount: number | undefined = 0;
  #pageCount = 0;
  #hasDictionary = false;

  constructor(chunk: ParquetColumnChunk, subject: string) {
    this.#chunk = chunk;
    this.#subject = subject;
  }

  /**
   * Takes the next page.
   *
   * @param bytes the chunk from where the last page ended, not necessarily to the end
   * @returns the page, or `undefined` when more bytes are needed to hold it whole
   * @throws invalid-data — when the page breaks one of the rules above
   * @throws unsupported — for unknown page types and encodings, and pages beyond the limits
   */
  next(bytes: Uint8Array): WalkedPage | undefined {
    const remainingBytes = this.#chunk.range.lengthBytes - this.#offset;
    const parsed = this.#parseHeader(bytes, remainingBytes);
    if (parsed === undefined) return undefined;
    const { header, headerBytes } = parsed;
    this.#requireSizes(header, remainingBytes - headerBytes);
    const pageBytes = headerBytes + header.compressedPageSize;
    if (pageBytes > bytes.length) return undefined;

    const body = bytes.subarray(headerBytes, pageBytes);
    this.#requireChecksum(header, body);
    this.#accept(header);
    this.#requireContent(header, body);
    const page = { header, offset: this.#offset, headerBytes, body };
    this.#offset += pageBytes;
    return page;
  }

  /** @throws invalid-data — when the pages taken do not make up the chunk */
  finish(): void {
    const { metaData, range, rowCount } = this.#chunk;
    this.#requireEqual('bytes of pages', this.#offset, range.lengthBytes);
    this.#requireEqual('values in pages', this.#valueCount, metaData.numValues);
    if (this.#rowCount !== undefined) {
      this.#requireEqual('rows in pages', this.#rowCount, rowCount);
    }
  }

  #parseHeader(
    bytes: Uint8Array,
    remainingBytes: number,
  ): { readonly header: PageHeader; readonly headerBytes: number } | undefined {
    const candidate = bytes.subarray(0, PAGE_HEADER_BYTES_MAX);
    const reader = new ThriftReader(candidate, `${this.#subject}: page header`);
    try {
      return { header: PAGE_HEADER.read(reader), headerBytes: reader.offset };
    } catch (error) {
      const isCut = candidate.length < Math.min(remainingBytes, PAGE_HEADER_BYTES_MAX);
      if (isCut && isIcebergError(error, 'invalid-data')) return undefined;
      throw error;
    }
  }

  #requireSizes(header: PageHeader, remainingBytes: number): void {
    const { compressedPageSize, uncompressedPageSize } = header;
    if (compressedPageSize < 0 || compressedPageSize > remainingBytes) {
      throw this.#invalid(`page of ${compressedPageSize} bytes with ${remainingBytes} remaining`);
    }
    if (uncompressedPageSize < 0) {
      throw this.#invalid(`uncompressed_page_size ${uncompressedPageSize} is negative`);
    }
    if (compressedPageSize > PAGE_BYTES_MAX) {
      const problem = `page of ${compressedPageSize} bytes exceeds the limit of ${PAGE_BYTES_MAX}`;
      throw new IcebergError('unsupported', `${this.#subject}: ${problem}`);
    }
    const isStored = this.#chunk.metaData.codec === 'UNCOMPRESSED';
    if (isStored && compressedPageSize !== uncompressedPageSize) {
      throw this.#invalid(
        `uncompressed page of ${compressedPageSize} bytes promises ${uncompressedPageSize}`,
      );
    }
  }

  #requireChecksum(header: PageHeader, body: Uint8Array): void {
    if (header.crc === undefined) return;
    const expected = header.crc >>> 0;
    const found = crc32(body);
    if (found === expected) return;
    throw this.#invalid(`page body has crc ${found}, its header says ${expected}`);
  }

  /**
   * Pages are copied as they are. One with a checksum is what its writer made of it, and is not opened; one without is
   * decompressed here, so that damage in one file never moves into an output that holds the rows of many.
   */
  #requireContent(header: PageHeader, body: Uint8Array): void {
    const { codec } = this.#chunk.metaData;
    const { uncompressedPageSize, dataPageHeaderV2: v2 } = header;
    if (!canDecompress(codec) || v2?.isCompressed === false) return;
    const levelBytes = v2 ? v2.definitionLevelsByteLength + v2.repetitionLevelsByteLength : 0;
    const compressed = body.subarray(levelBytes);
    const promisedBytes = uncompressedPageSize - levelBytes;
    if (compressed.length === 0 && promisedBytes === 0) return;
    const pageCodec = codecFor(codec, this.#subject);
    const declaredBytes = declaredLengthBytes(pageCodec, compressed);
    if (declaredBytes !== undefined && declaredBytes !== promisedBytes) {
      throw this.#invalid(
        `page body decompresses to ${declaredBytes} bytes, its header says ${promisedBytes}`,
      );
    }
    if (header.crc === undefined) decompress(pageCodec, compressed, promisedBytes, this.#subject);
  }

  #accept(header: PageHeader): void {
    this.#pageCount++;
    if (this.#pageCount > PAGES_PER_CHUNK_MAX) {
      const problem = `${this.#pageCount} pages exceed the limit of ${PAGES_PER_CHUNK_MAX}`;
      throw new IcebergError('unsupported', `${this.#subject}: ${problem}`);
    }
    switch (header.type) {
      case 'DICTIONARY_PAGE':
        this.#acceptDictionary(header);
        break;
      case 'INDEX_PAGE':
        throw new IcebergError('unsupported', `${this.#subject}: index pages are not known`);
      default:
        this.#acceptData(header);
    }
  }

  #acceptDictionary({ dictionaryPageHeader }: PageHeader): void {
    if (dictionaryPageHeader === undefined)
      throw this.#invalid('a dictionary page lacks its header');
    if (this.#pageCount > 1) throw this.#invalid(`page ${this.#pageCount} is a dictionary`);
    const { encoding, numValues } = dictionaryPageHeader;
    if (encoding !== 'PLAIN' && encoding !== 'PLAIN_DICTIONARY') {
      throw this.#invalid(`dictionary page has encoding ${encoding}`);
    }
    if (numValues < 0) throw this.#invalid(`dictionary of ${numValues} values`);
    this.#hasDictionary = true;
  }

  #acceptData(header: PageHeader): void {
    const { leaf, metaData } = this.#chunk;
    const facts = dataPageFacts(header, leaf.maxRepetitionLevel);
    if (facts === undefined) throw this.#invalid(`page of type ${header.type} lacks its header`);
    const { valueCount, encoding, rowCount } = facts;
    if (header.dataPageHeaderV2) this.#requireV2Counts(header);
    if (encoding === 'BIT_PACKED') throw this.#invalid('values are BIT_PACKED');
    const isCoded = encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY';
    if (isCoded && !this.#hasDictionary) throw this.#invalid(`${encoding} without a dictionary`);
    if (valueCount < 0 || valueCount > metaData.numValues - this.#valueCount) {
      const remaining = metaData.numValues - this.#valueCount;
      throw this.#invalid(`page of ${valueCount} values with ${remaining} remaining`);
    }
    this.#valueCount += valueCount;
    this.#rowCount =
      this.#rowCount === undefined || rowCount === undefined
        ? undefined
        : this.#rowCount + rowCount;
  }

  #requireV2Counts(header: PageHeader): void {
    const v2 = header.dataPageHeaderV2!;
    const { numValues, numNulls, numRows } = v2;
    const levelBytes = v2.definitionLevelsByteLength + v2.repetitionLevelsByteLength;
    if (v2.definitionLevelsByteLength < 0 || v2.repetitionLevelsByteLength < 0) {
      throw this.#invalid('a length of levels is negative');
    }
    const pageBytes = Math.min(header.compressedPageSize, header.uncompressedPageSize);
    if (levelBytes > pageBytes) {
      throw this.#invalid(`levels of ${levelBytes} bytes in a page of ${pageBytes}`);
    }
    if (numNulls < 0 || numNulls > numValues) {
      throw this.#invalid(`num_nulls ${numNulls} of ${numValues} values`);
    }
    const isFlat = this.#chunk.leaf.maxRepetitionLevel === 0;
    if (numRows < 0 || (isFlat ? numRows !== numValues : numRows > numValues)) {
      throw this.#invalid(`num_rows ${numRows} of ${numValues} values`);
    }
  }

  #requireEqual(what: string, found: number, expected: number): void {
    if (found !== expected) throw this.#invalid(`${found} ${what}, ${expected} expected`);
  }

  #invalid(problem: string): IcebergError {
    return new IcebergError('invalid-data', `${this.#subject}: ${problem}`, {
      offset: this.#chunk.range.offset + this.#offset,
    });
  }
}
