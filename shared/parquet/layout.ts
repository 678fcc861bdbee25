/**
 * The byte map of a Parquet file, and the numbers its Thrift enums stand for.
 *
 * | offset                | width | what                                                              |
 * | --------------------- | ----- | ----------------------------------------------------------------- |
 * | 0                     | 4     | magic `PAR1`                                                      |
 * | 4                     | any   | column chunks: pages one after another, row group by row group    |
 * |                       | any   | Bloom filters, column indexes, offset indexes (in any order)      |
 * | end - 8 - footerBytes | any   | FileMetaData, Thrift compact protocol                             |
 * | end - 8               | 4     | footerBytes, little-endian                                        |
 * | end - 4               | 4     | magic `PAR1`; `PARE` when the footer is encrypted                 |
 *
 * A page is a PageHeader (Thrift compact protocol, no length before it) followed by `compressed_page_size`
 * bytes of body.
 *
 * | body of                | parts, in order                                                            |
 * | ---------------------- | -------------------------------------------------------------------------- |
 * | DATA_PAGE              | all compressed together: [u32le length, repetition levels] if the maximum  |
 * |                        | repetition level is above 0, likewise definition levels, values            |
 * | DATA_PAGE_V2           | repetition levels, definition levels (never compressed), values            |
 * | DICTIONARY_PAGE        | values, PLAIN                                                              |
 *
 * @see Parquet format, "File Format" and "Data Pages"
 */

export const MAGIC = 'PAR1';
export const MAGIC_ENCRYPTED_FOOTER = 'PARE';
export const MAGIC_BYTES = 4;

/** The footer's length and the closing magic. */
export const FOOTER_TAIL_BYTES = 8;

/** Both magics and the footer's length: no file is shorter. */
export const FILE_BYTES_MIN = MAGIC_BYTES + FOOTER_TAIL_BYTES;

/** Length of a Bloom filter block: the bitset is a whole number of them. */
export const BLOOM_FILTER_BLOCK_BYTES = 32;

/** Parquet.thrift, `Type`. */
export const PHYSICAL_TYPES = {
  BOOLEAN: 0,
  INT32: 1,
  INT64: 2,
  INT96: 3,
  FLOAT: 4,
  DOUBLE: 5,
  BYTE_ARRAY: 6,
  FIXED_LEN_BYTE_ARRAY: 7,
} as const;

export const CONVERTED_TYPES = {
  UTF8: 0,
  MAP: 1,
  MAP_KEY_VALUE: 2,
  LIST: 3,
  ENUM: 4,
  DECIMAL: 5,
  DATE: 6,
  TIME_MILLIS: 7,
  TIME_MICROS: 8,
  TIMESTAMP_MILLIS: 9,
  TIMESTAMP_MICROS: 10,
  UINT_8: 11,
  UINT_16: 12,
  UINT_32: 13,
  UINT_64: 14,
  INT_8: 15,
  INT_16: 16,
  INT_32: 17,
  INT_64: 18,
  JSON: 19,
  BSON: 20,
  INTERVAL: 21,
} as const;

export const FIELD_REPETITION_TYPES = { REQUIRED: 0, OPTIONAL: 1, REPEATED: 2 } as const;

/** 1 was GROUP_VAR_INT, which was never used. */
export const ENCODINGS = {
  PLAIN: 0,
  PLAIN_DICTIONARY: 2,
  RLE: 3,
  BIT_PACKED: 4,
  DELTA_BINARY_PACKED: 5,
  DELTA_LENGTH_BYTE_ARRAY: 6,
  DELTA_BYTE_ARRAY: 7,
  RLE_DICTIONARY: 8,
  BYTE_STREAM_SPLIT: 9,
  ALP: 10,
} as const;

export const COMPRESSION_CODECS = {
  UNCOMPRESSED: 0,
  SNAPPY: 1,
  GZIP: 2,
  LZO: 3,
  BROTLI: 4,
  LZ4: 5,
  ZSTD: 6,
  LZ4_RAW: 7,
} as const;

export const PAGE_TYPES = {
  DATA_PAGE: 0,
  INDEX_PAGE: 1,
  DICTIONARY_PAGE: 2,
  DATA_PAGE_V2: 3,
} as const;

export const BOUNDARY_ORDERS = { UNORDERED: 0, ASCENDING: 1, DESCENDING: 2 } as const;

export const EDGE_INTERPOLATION_ALGORITHMS = {
  SPHERICAL: 0,
  VINCENTY: 1,
  THOMAS: 2,
  ANDOYER: 3,
  KARNEY: 4,
} as const;

/** Field ids of unions whose members are all empty structs. */
export const TIME_UNITS = { MILLIS: 1, MICROS: 2, NANOS: 3 } as const;
export const COLUMN_ORDERS = {
  TYPE_ORDER: 1,
  IEEE_754_TOTAL_ORDER: 2,
  INT96_TIMESTAMP_ORDER: 3,
} as const;
export const BLOOM_FILTER_ALGORITHMS = { BLOCK: 1 } as const;
export const BLOOM_FILTER_HASHES = { XXHASH: 1 } as const;
export const BLOOM_FILTER_COMPRESSIONS = { UNCOMPRESSED: 1 } as const;
export const ENCRYPTION_ALGORITHMS = { AES_GCM_V1: 1, AES_GCM_CTR_V1: 2 } as const;
