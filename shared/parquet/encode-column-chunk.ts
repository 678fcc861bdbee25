import { assert, IcebergError } from '../base/index.ts';
import { compress } from '../compress/index.ts';
import { codecFor } from './compression.ts';
import { BloomFilterBuilder, type BloomFilterOptions } from './encode-bloom-filter.ts';
import {
  boundsOf,
  countNaN,
  mergeBounds,
  type ValueBounds,
  type ValueOrder,
  valueOrderOf,
} from './encode-bounds.ts';
import { ValueDictionary } from './encode-dictionary.ts';
import { bitWidthFor } from './encode-hybrid.ts';
import {
  encodeDataPage,
  encodeDictionaryPage,
  type PageEncodeContext,
  type PageValues,
} from './encode-page.ts';
import { BYTE_ARRAY_LENGTH_BYTES } from './encode-plain.ts';
import { statisticsOf } from './encode-statistics.ts';
import type { EncodedColumnChunk, EncodedDataPage, EncodedPage } from './encoded-column-chunk.ts';
import { type LeafShape, physicalWidthBytes } from './leaf-shape.ts';
import {
  joinLeafValues,
  type LeafValues,
  type PhysicalValues,
  sliceLeafValues,
} from './leaf-values.ts';
import type { CompressionCodec } from './metadata-types.ts';

/** Values of one page in PLAIN form: below what signed 32-bit sizes in page headers hold, levels included. */
const PAGE_BYTES_MAX = 2 ** 30;

/**
 * Values of one chunk in PLAIN form. A dictionary lets a small file name far more bytes than it holds; real
 * row groups are a few hundred megabytes.
 */
const CHUNK_PLAIN_BYTES_MAX = 8 * 2 ** 30;

export interface EncodeOptions {
  readonly codec: CompressionCodec;
  /** Understood by zstd and gzip; their own default where absent. */
  readonly compressionLevel?: number;
  /** A page is closed at the first row boundary at which its values reach this size before compression. */
  readonly pageSizeBytes: number;
  readonly pageRowCountMax: number;
  /** 0 turns dictionary encoding off. */
  readonly dictionarySizeBytesMax: number;
  readonly bloomFilter?: BloomFilterOptions;
}

/** What went into a chunk. */
export interface ChunkFacts {
  /** Nulls counted. */
  readonly valueCount: number;
  /** Entries below the greatest definition level. */
  readonly nullCount: number;
  readonly nanCount: number;
  /** In full, NaN left aside; absent where there are none, or the type has no order. */
  readonly bounds?: ValueBounds;
}

/**
 * Encodes one column chunk from batches of its values: data pages v1, dictionary-encoded for as long as a
 * dictionary stays within its limit and saves space, PLAIN from there on. Every page begins a row. Memory:
 * the encoded pages, the dictionary and the page under way.
 *
 * @see Parquet format, "Data Pages" and "Encodings: Dictionary Encoding"
 */
export class ColumnChunkEncoder {
  readonly #leaf: LeafShape;
  readonly #options: EncodeOptions;
  readonly #subject: string;
  readonly #order: ValueOrder;
  readonly #pages: PageUnderWay[] = [];
  readonly #bloomFilter: BloomFilterBuilder | undefined;
  #dictionary: ValueDictionary | undefined;
  #isDictionaryClosed = false;
  #pending: LeafValues[] = [];
  #pendingRowCount = 0;
  #pendingBytes = 0;
  #bounds: ValueBounds | undefined;
  #valueCount = 0;
  #nullCount = 0;
  #nanCount = 0;
  #plainBytes = 0;

  /** @param subject names file and column for error messages */
  constructor(leaf: LeafShape, options: EncodeOptions, subject: string) {
    this.#leaf = leaf;
    this.#options = options;
    this.#subject = subject;
    this.#order = valueOrderOf(leaf.element);
    const hasDictionary = options.dictionarySizeBytesMax > 0 && leaf.element.type !== 'BOOLEAN';
    const kind =
      physicalWidthBytes(leaf.element, subject) === undefined ? 'byte-array' : 'fixed-width';
    this.#dictionary = hasDictionary
      ? new ValueDictionary(kind, options.dictionarySizeBytesMax)
      : undefined;
    this.#bloomFilter =
      options.bloomFilter === undefined ? undefined : new BloomFilterBuilder(options.bloomFilter);
  }

  /** Appends values; levels must be those of this leaf. The encoder may keep the arrays. */
  add(batch: LeafValues): void {
    const { repetitionLevels, definitionLevels, values } = batch;
    const { maxDefinitionLevel } = this.#leaf;
    let start = 0;
    let valueStart = 0;
    let valueIndex = 0;
    for (let index = 0; index < batch.valueCount; index++) {
      if (repetitionLevels === undefined || repetitionLevels[index] === 0) {
        if (this.#isPageFull()) {
          this.#keep(
            sliceLeafValues(batch, { start, end: index, valueStart, valueEnd: valueIndex }),
          );
          this.#closePage();
          start = index;
          valueStart = valueIndex;
        }
        this.#pendingRowCount++;
      }
      if (definitionLevels === undefined || definitionLevels[index] === maxDefinitionLevel) {
        this.#pendingBytes += plainSizeBytes(values, valueIndex++);
      }
    }
    assert(
      valueIndex === values.count,
      `${this.#subject}: ${valueIndex} of ${values.count} values`,
    );
    this.#keep(
      sliceLeafValues(batch, { start, end: batch.valueCount, valueStart, valueEnd: valueIndex }),
    );
  }

  /** The chunk; the encoder must not be used afterwards. */
  finish(): EncodedColumnChunk {
    if (this.#pendingRowCount > 0) this.#closePage();
    const dictionaryPage = this.#encodeDictionary();
    const noValues = dictionaryPage === undefined ? 'plain' : new Uint32Array(0);
    return {
      codec: this.#options.codec,
      ...(dictionaryPage === undefined ? {} : { dictionaryPage }),
      dataPages: this.#pages.map((page) =>
        page.kind === 'encoded'
          ? page.page
          : encodeDataPage(page.batch, noValues, this.#pageContext),
      ),
      statistics: statisticsOf(this.#bounds, this.#nullCount, this.#order),
      ...(this.#bloomFilter === undefined ? {} : { bloomFilterBitset: this.#bloomFilter.bitset() }),
    };
  }

  /** Complete after `finish`. */
  get facts(): ChunkFacts {
    return {
      valueCount: this.#valueCount,
      nullCount: this.#nullCount,
      nanCount: this.#nanCount,
      ...(this.#bounds && { bounds: this.#bounds }),
    };
  }

  get #pageContext(): PageEncodeContext {
    const compressBody = (bytes: Uint8Array) => this.#compress(bytes);
    return { leaf: this.#leaf, order: this.#order, compressBody };
  }

  #isPageFull(): boolean {
    if (this.#pendingRowCount === 0) return false;
    const { pageRowCountMax, pageSizeBytes } = this.#options;
    return this.#pendingRowCount >= pageRowCountMax || this.#pendingBytes >= pageSizeBytes;
  }

  #keep(batch: LeafValues): void {
    if (batch.valueCount > 0) this.#pending.push(batch);
  }

  #closePage(): void {
    this.#requireSize();
    const batch = joinLeafValues(this.#pending);
    const plainBytes = this.#pendingBytes;
    const rowCount = this.#pendingRowCount;
    this.#pending = [];
    this.#pendingRowCount = 0;
    this.#pendingBytes = 0;
    this.#valueCount += batch.valueCount;
    this.#nullCount += batch.valueCount - batch.values.count;
    this.#nanCount += countNaN(batch.values, this.#order);
    const bounds = copyOf(boundsOf(batch.values, this.#order));
    this.#bounds = mergeBounds(this.#bounds, bounds, this.#order);
    const page = { ...batch, rowCount, ...(bounds && { bounds }) };
    // Its encoding follows that of the pages with values, which may be still to come.
    if (batch.values.count === 0) this.#pages.push({ kind: 'no-values', batch: page });
    else this.#pages.push({ kind: 'encoded', page: this.#encodePage(page, plainBytes) });
  }

  #requireSize(): void {
    this.#plainBytes += this.#pendingBytes;
    if (this.#pendingBytes <= PAGE_BYTES_MAX && this.#plainBytes <= CHUNK_PLAIN_BYTES_MAX) return;
    throw new IcebergError(
      'unsupported',
      `${this.#subject}: ${this.#plainBytes} bytes of values exceed the limits of ${PAGE_BYTES_MAX} a row and ${CHUNK_PLAIN_BYTES_MAX} a column chunk`,
    );
  }

  #encodePage(batch: PageValues, plainBytes: number): EncodedDataPage {
    const indices = this.#dictionaryIndices(batch.values, plainBytes);
    if (indices === undefined) this.#bloomFilter?.add(batch.values);
    return encodeDataPage(batch, indices ?? 'plain', this.#pageContext);
  }

  /** `undefined` when the dictionary is, or has just been, given up. Earlier pages keep using it. */
  #dictionaryIndices(values: PhysicalValues, plainBytes: number): Uint32Array | undefined {
    const dictionary = this.#dictionary;
    if (dictionary === undefined || this.#isDictionaryClosed) return undefined;
    const isFirst = dictionary.entryCount === 0;
    const indices = dictionary.add(values);
    const indexBytes = (bitWidthFor(dictionary.entryCount) * values.count) / 8;
    const isUseless = isFirst && dictionary.sizeBytes + indexBytes >= plainBytes;
    if (indices === undefined || isUseless) {
      this.#isDictionaryClosed = true;
      if (isFirst) this.#dictionary = undefined;
      return undefined;
    }
    return indices;
  }

  #encodeDictionary(): EncodedPage | undefined {
    const dictionary = this.#dictionary;
    if (dictionary === undefined || dictionary.entryCount === 0) return undefined;
    const entries = dictionary.entries();
    this.#bloomFilter?.add(entries);
    return encodeDictionaryPage(entries, (bytes) => this.#compress(bytes));
  }

  #compress(bytes: Uint8Array): Uint8Array {
    const codec = codecFor(this.#options.codec, this.#subject);
    return compress(codec, bytes, this.#options.compressionLevel);
  }
}

type PageUnderWay =
  | { readonly kind: 'encoded'; readonly page: EncodedDataPage }
  | { readonly kind: 'no-values'; readonly batch: PageValues };

/** Bounds are kept to the end, the page they are views of is not. */
function copyOf(bounds: ValueBounds | undefined): ValueBounds | undefined {
  return bounds && { min: bounds.min.slice(), max: bounds.max.slice() };
}

function plainSizeBytes(values: PhysicalValues, index: number): number {
  if (values.kind === 'fixed-width') return values.widthBytes;
  return values.lengths[index]! + BYTE_ARRAY_LENGTH_BYTES;
}
