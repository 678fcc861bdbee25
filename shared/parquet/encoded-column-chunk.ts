import type {
  CompressionCodec,
  GeospatialStatistics,
  PageHeader,
  SizeStatistics,
  Statistics,
} from './metadata-types.ts';

/**
 * A column chunk that was newly encoded and waits to be written. The writer derives encodings,
 * `encoding_stats`, sizes, offsets and page indexes from the pages; it checks nothing inside bodies.
 */
export interface EncodedColumnChunk {
  readonly codec: CompressionCodec;
  readonly dictionaryPage?: EncodedPage;
  /** In row order; each begins a row. */
  readonly dataPages: readonly EncodedDataPage[];
  /**
   * Of the whole chunk. Bounds in `minValue` and `maxValue` only, in the order of the column's type: no NaN,
   * a zero lower bound as -0.0, a zero upper bound as +0.0.
   */
  readonly statistics?: Statistics;
  readonly sizeStatistics?: SizeStatistics;
  readonly geospatialStatistics?: GeospatialStatistics;
  /** A split-block Bloom filter over the chunk's values, hashed with XXH64: the bitset alone. */
  readonly bloomFilterBitset?: Uint8Array;
}

export interface EncodedPage {
  /** `compressedPageSize` is the body's length. */
  readonly header: PageHeader;
  /** The body as it goes into the file, compressed as the codec and the header say. */
  readonly body: Uint8Array;
}

export interface EncodedDataPage extends EncodedPage {
  readonly rowCount: number;
  /** Under the same rules as the chunk's; where every page has them, a column index is written. */
  readonly statistics?: Statistics;
}
