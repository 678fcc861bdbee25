/** The tables of parquet.thrift: for each structure its field ids, types, and which fields are required. */
import * as layout from './layout.ts';
import type * as types from './metadata-types.ts';
import {
  BINARY,
  BOOLEAN,
  DOUBLE,
  emptyUnion,
  enumeration,
  I8,
  I16,
  I32,
  I64,
  list,
  optional,
  PRESENCE,
  required,
  STRING,
  struct,
  type ThriftCodec,
  taggedUnion,
} from './thrift-codec.ts';

const PHYSICAL_TYPE = enumeration('Type', layout.PHYSICAL_TYPES);
const CONVERTED_TYPE = enumeration('ConvertedType', layout.CONVERTED_TYPES);
const FIELD_REPETITION_TYPE = enumeration('FieldRepetitionType', layout.FIELD_REPETITION_TYPES);
const ENCODING = enumeration('Encoding', layout.ENCODINGS);
const COMPRESSION_CODEC = enumeration('CompressionCodec', layout.COMPRESSION_CODECS);
const PAGE_TYPE = enumeration('PageType', layout.PAGE_TYPES);
const BOUNDARY_ORDER = enumeration('BoundaryOrder', layout.BOUNDARY_ORDERS);
const EDGE_INTERPOLATION_ALGORITHM = enumeration(
  'EdgeInterpolationAlgorithm',
  layout.EDGE_INTERPOLATION_ALGORITHMS,
);

const TIME_UNIT = emptyUnion('TimeUnit', layout.TIME_UNITS);
const COLUMN_ORDER = emptyUnion('ColumnOrder', layout.COLUMN_ORDERS, 'UNDEFINED');
const ENCRYPTION_ALGORITHM = emptyUnion('EncryptionAlgorithm', layout.ENCRYPTION_ALGORITHMS);

type Fields<T extends { readonly type: string }> = Omit<T, 'type'>;

const EMPTY = struct<Record<never, never>>('empty', {});

const DECIMAL_TYPE = struct<Fields<types.DecimalType>>('DecimalType', {
  scale: required(1, I32),
  precision: required(2, I32),
});

const TIME_TYPE = struct<Fields<types.TimeType>>('TimeType', {
  isAdjustedToUTC: required(1, BOOLEAN),
  unit: required(2, TIME_UNIT),
});

const TIMESTAMP_TYPE = struct<Fields<types.TimestampType>>('TimestampType', {
  isAdjustedToUTC: required(1, BOOLEAN),
  unit: required(2, TIME_UNIT),
});

const INT_TYPE = struct<Fields<types.IntType>>('IntType', {
  bitWidth: required(1, I8),
  isSigned: required(2, BOOLEAN),
});

const VARIANT_TYPE = struct<Fields<types.VariantType>>('VariantType', {
  specificationVersion: optional(1, I8),
});

const GEOMETRY_TYPE = struct<Fields<types.GeometryType>>('GeometryType', {
  crs: optional(1, STRING),
});

const GEOGRAPHY_TYPE = struct<Fields<types.GeographyType>>('GeographyType', {
  crs: optional(1, STRING),
  algorithm: optional(2, EDGE_INTERPOLATION_ALGORITHM),
});

/** 9 is reserved for INTERVAL. */
const LOGICAL_TYPE = taggedUnion<types.LogicalType>('LogicalType', {
  STRING: [1, EMPTY],
  MAP: [2, EMPTY],
  LIST: [3, EMPTY],
  ENUM: [4, EMPTY],
  DECIMAL: [5, DECIMAL_TYPE as ThriftCodec<object>],
  DATE: [6, EMPTY],
  TIME: [7, TIME_TYPE as ThriftCodec<object>],
  TIMESTAMP: [8, TIMESTAMP_TYPE as ThriftCodec<object>],
  INTEGER: [10, INT_TYPE as ThriftCodec<object>],
  UNKNOWN: [11, EMPTY],
  JSON: [12, EMPTY],
  BSON: [13, EMPTY],
  UUID: [14, EMPTY],
  FLOAT16: [15, EMPTY],
  VARIANT: [16, VARIANT_TYPE as ThriftCodec<object>],
  GEOMETRY: [17, GEOMETRY_TYPE as ThriftCodec<object>],
  GEOGRAPHY: [18, GEOGRAPHY_TYPE as ThriftCodec<object>],
  FILE: [19, EMPTY],
});

const SCHEMA_ELEMENT = struct<types.SchemaElement>('SchemaElement', {
  type: optional(1, PHYSICAL_TYPE),
  typeLength: optional(2, I32),
  repetitionType: optional(3, FIELD_REPETITION_TYPE),
  name: required(4, STRING),
  numChildren: optional(5, I32),
  convertedType: optional(6, CONVERTED_TYPE),
  scale: optional(7, I32),
  precision: optional(8, I32),
  fieldId: optional(9, I32),
  logicalType: optional(10, LOGICAL_TYPE),
});

const STATISTICS = struct<types.Statistics>('Statistics', {
  max: optional(1, BINARY),
  min: optional(2, BINARY),
  nullCount: optional(3, I64),
  distinctCount: optional(4, I64),
  maxValue: optional(5, BINARY),
  minValue: optional(6, BINARY),
  isMaxValueExact: optional(7, BOOLEAN),
  isMinValueExact: optional(8, BOOLEAN),
  nanCount: optional(9, I64),
});

const SIZE_STATISTICS = struct<types.SizeStatistics>('SizeStatistics', {
  unencodedByteArrayDataBytes: optional(1, I64),
  repetitionLevelHistogram: optional(2, list(I64)),
  definitionLevelHistogram: optional(3, list(I64)),
});

const BOUNDING_BOX = struct<types.BoundingBox>('BoundingBox', {
  xmin: required(1, DOUBLE),
  xmax: required(2, DOUBLE),
  ymin: required(3, DOUBLE),
  ymax: required(4, DOUBLE),
  zmin: optional(5, DOUBLE),
  zmax: optional(6, DOUBLE),
  mmin: optional(7, DOUBLE),
  mmax: optional(8, DOUBLE),
});

const GEOSPATIAL_STATISTICS = struct<types.GeospatialStatistics>('GeospatialStatistics', {
  bbox: optional(1, BOUNDING_BOX),
  geospatialTypes: optional(2, list(I32)),
});

const KEY_VALUE = struct<types.KeyValue>('KeyValue', {
  key: required(1, STRING),
  value: optional(2, STRING),
});

const SORTING_COLUMN = struct<types.SortingColumn>('SortingColumn', {
  columnIdx: required(1, I32),
  descending: required(2, BOOLEAN),
  nullsFirst: required(3, BOOLEAN),
});

const PAGE_ENCODING_STATS = struct<types.PageEncodingStats>('PageEncodingStats', {
  pageType: required(1, PAGE_TYPE),
  encoding: required(2, ENCODING),
  count: required(3, I32),
});

const COLUMN_META_DATA = struct<types.ColumnMetaData>('ColumnMetaData', {
  type: required(1, PHYSICAL_TYPE),
  encodings: required(2, list(ENCODING)),
  pathInSchema: required(3, list(STRING)),
  codec: required(4, COMPRESSION_CODEC),
  numValues: required(5, I64),
  totalUncompressedSize: required(6, I64),
  totalCompressedSize: required(7, I64),
  keyValueMetadata: optional(8, list(KEY_VALUE)),
  dataPageOffset: required(9, I64),
  indexPageOffset: optional(10, I64),
  dictionaryPageOffset: optional(11, I64),
  statistics: optional(12, STATISTICS),
  encodingStats: optional(13, list(PAGE_ENCODING_STATS)),
  bloomFilterOffset: optional(14, I64),
  bloomFilterLength: optional(15, I32),
  sizeStatistics: optional(16, SIZE_STATISTICS),
  geospatialStatistics: optional(17, GEOSPATIAL_STATISTICS),
});

const COLUMN_CHUNK = struct<types.ColumnChunk>('ColumnChunk', {
  filePath: optional(1, STRING),
  fileOffset: required(2, I64),
  metaData: optional(3, COLUMN_META_DATA),
  offsetIndexOffset: optional(4, I64),
  offsetIndexLength: optional(5, I32),
  columnIndexOffset: optional(6, I64),
  columnIndexLength: optional(7, I32),
  cryptoMetadata: optional(8, PRESENCE),
});

const ROW_GROUP = struct<types.RowGroup>('RowGroup', {
  columns: required(1, list(COLUMN_CHUNK)),
  totalByteSize: required(2, I64),
  numRows: required(3, I64),
  sortingColumns: optional(4, list(SORTING_COLUMN)),
  fileOffset: optional(5, I64),
  totalCompressedSize: optional(6, I64),
  ordinal: optional(7, I16),
});

export const FILE_META_DATA = struct<types.FileMetaData>('FileMetaData', {
  version: required(1, I32),
  schema: required(2, list(SCHEMA_ELEMENT)),
  numRows: required(3, I64),
  rowGroups: required(4, list(ROW_GROUP)),
  keyValueMetadata: optional(5, list(KEY_VALUE)),
  createdBy: optional(6, STRING),
  columnOrders: optional(7, list(COLUMN_ORDER)),
  encryptionAlgorithm: optional(8, ENCRYPTION_ALGORITHM),
});

const DATA_PAGE_HEADER = struct<types.DataPageHeader>('DataPageHeader', {
  numValues: required(1, I32),
  encoding: required(2, ENCODING),
  definitionLevelEncoding: required(3, ENCODING),
  repetitionLevelEncoding: required(4, ENCODING),
  statistics: optional(5, STATISTICS),
});

const DICTIONARY_PAGE_HEADER = struct<types.DictionaryPageHeader>('DictionaryPageHeader', {
  numValues: required(1, I32),
  encoding: required(2, ENCODING),
  isSorted: optional(3, BOOLEAN),
});

const DATA_PAGE_HEADER_V2 = struct<types.DataPageHeaderV2>('DataPageHeaderV2', {
  numValues: required(1, I32),
  numNulls: required(2, I32),
  numRows: required(3, I32),
  encoding: required(4, ENCODING),
  definitionLevelsByteLength: required(5, I32),
  repetitionLevelsByteLength: required(6, I32),
  isCompressed: optional(7, BOOLEAN),
  statistics: optional(8, STATISTICS),
});

/** Field 6, the header of index pages, is empty and skipped. */
export const PAGE_HEADER = struct<types.PageHeader>('PageHeader', {
  type: required(1, PAGE_TYPE),
  uncompressedPageSize: required(2, I32),
  compressedPageSize: required(3, I32),
  crc: optional(4, I32),
  dataPageHeader: optional(5, DATA_PAGE_HEADER),
  dictionaryPageHeader: optional(7, DICTIONARY_PAGE_HEADER),
  dataPageHeaderV2: optional(8, DATA_PAGE_HEADER_V2),
});

const PAGE_LOCATION = struct<types.PageLocation>('PageLocation', {
  offset: required(1, I64),
  compressedPageSize: required(2, I32),
  firstRowIndex: required(3, I64),
});

export const OFFSET_INDEX = struct<types.OffsetIndex>('OffsetIndex', {
  pageLocations: required(1, list(PAGE_LOCATION)),
  unencodedByteArrayDataBytes: optional(2, list(I64)),
});

export const COLUMN_INDEX = struct<types.ColumnIndex>('ColumnIndex', {
  nullPages: required(1, list(BOOLEAN)),
  minValues: required(2, list(BINARY)),
  maxValues: required(3, list(BINARY)),
  boundaryOrder: required(4, BOUNDARY_ORDER),
  nullCounts: optional(5, list(I64)),
  repetitionLevelHistograms: optional(6, list(I64)),
  definitionLevelHistograms: optional(7, list(I64)),
  nanCounts: optional(8, list(I64)),
});

export const BLOOM_FILTER_HEADER = struct<types.BloomFilterHeader>('BloomFilterHeader', {
  numBytes: required(1, I32),
  algorithm: required(2, emptyUnion('BloomFilterAlgorithm', layout.BLOOM_FILTER_ALGORITHMS)),
  hash: required(3, emptyUnion('BloomFilterHash', layout.BLOOM_FILTER_HASHES)),
  compression: required(4, emptyUnion('BloomFilterCompression', layout.BLOOM_FILTER_COMPRESSIONS)),
});
