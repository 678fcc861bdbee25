/**
 * The structures of parquet.thrift as readonly values: names are the format's in camelCase, enum values its
 * own words, 64-bit sizes and counts safe integers. Fields that the format added later and this list lacks
 * are skipped on reading.
 *
 * @see Parquet format, "parquet.thrift"
 */
import type {
  BLOOM_FILTER_ALGORITHMS,
  BLOOM_FILTER_COMPRESSIONS,
  BLOOM_FILTER_HASHES,
  BOUNDARY_ORDERS,
  COLUMN_ORDERS,
  COMPRESSION_CODECS,
  CONVERTED_TYPES,
  EDGE_INTERPOLATION_ALGORITHMS,
  ENCODINGS,
  ENCRYPTION_ALGORITHMS,
  FIELD_REPETITION_TYPES,
  PAGE_TYPES,
  PHYSICAL_TYPES,
  TIME_UNITS,
} from './layout.ts';

export type PhysicalType = keyof typeof PHYSICAL_TYPES;
export type ConvertedType = keyof typeof CONVERTED_TYPES;
export type FieldRepetitionType = keyof typeof FIELD_REPETITION_TYPES;
export type Encoding = keyof typeof ENCODINGS;
export type CompressionCodec = keyof typeof COMPRESSION_CODECS;
export type PageType = keyof typeof PAGE_TYPES;
export type BoundaryOrder = keyof typeof BOUNDARY_ORDERS;
export type TimeUnit = keyof typeof TIME_UNITS;
export type EdgeInterpolationAlgorithm = keyof typeof EDGE_INTERPOLATION_ALGORITHMS;

/** `UNDEFINED` stands for an order we do not know: the column's bounds mean nothing to us. */
export type ColumnOrder = keyof typeof COLUMN_ORDERS | 'UNDEFINED';

/** One member of the union LogicalType; a member this list lacks is `unsupported`. */
export type LogicalType =
  | {
      readonly type:
        | 'STRING'
        | 'MAP'
        | 'LIST'
        | 'ENUM'
        | 'DATE'
        | 'UNKNOWN'
        | 'JSON'
        | 'BSON'
        | 'UUID'
        | 'FLOAT16'
        | 'FILE';
    }
  | DecimalType
  | TimeType
  | TimestampType
  | IntType
  | VariantType
  | GeometryType
  | GeographyType;

export interface DecimalType {
  readonly type: 'DECIMAL';
  readonly scale: number;
  readonly precision: number;
}

export interface TimeType {
  readonly type: 'TIME';
  readonly isAdjustedToUTC: boolean;
  readonly unit: TimeUnit;
}

export interface TimestampType {
  readonly type: 'TIMESTAMP';
  readonly isAdjustedToUTC: boolean;
  readonly unit: TimeUnit;
}

export interface IntType {
  readonly type: 'INTEGER';
  readonly bitWidth: number;
  readonly isSigned: boolean;
}

export interface VariantType {
  readonly type: 'VARIANT';
  readonly specificationVersion?: number;
}

export interface GeometryType {
  readonly type: 'GEOMETRY';
  readonly crs?: string;
}

export interface GeographyType {
  readonly type: 'GEOGRAPHY';
  readonly crs?: string;
  readonly algorithm?: EdgeInterpolationAlgorithm;
}

/** A node of the schema, in depth-first order; a group has no `type`, a leaf no `numChildren`. */
export interface SchemaElement {
  readonly type?: PhysicalType;
  readonly typeLength?: number;
  /** Absent on the root only. */
  readonly repetitionType?: FieldRepetitionType;
  readonly name: string;
  readonly numChildren?: number;
  readonly convertedType?: ConvertedType;
  readonly scale?: number;
  readonly precision?: number;
  readonly fieldId?: number;
  readonly logicalType?: LogicalType;
}

/** Bounds are PLAIN-encoded values without a length; arrays are views of what was parsed. */
export interface Statistics {
  /** Deprecated: ordered by signed comparison, whatever the type. */
  readonly max?: Uint8Array;
  /** Deprecated: ordered by signed comparison, whatever the type. */
  readonly min?: Uint8Array;
  readonly nullCount?: number;
  readonly distinctCount?: number;
  readonly maxValue?: Uint8Array;
  readonly minValue?: Uint8Array;
  readonly isMaxValueExact?: boolean;
  readonly isMinValueExact?: boolean;
  readonly nanCount?: number;
}

export interface SizeStatistics {
  readonly unencodedByteArrayDataBytes?: number;
  /** Element i counts the entries at repetition level i. */
  readonly repetitionLevelHistogram?: readonly number[];
  /** Element i counts the entries at definition level i. */
  readonly definitionLevelHistogram?: readonly number[];
}

export interface BoundingBox {
  readonly xmin: number;
  readonly xmax: number;
  readonly ymin: number;
  readonly ymax: number;
  readonly zmin?: number;
  readonly zmax?: number;
  readonly mmin?: number;
  readonly mmax?: number;
}

export interface GeospatialStatistics {
  readonly bbox?: BoundingBox;
  readonly geospatialTypes?: readonly number[];
}

export interface KeyValue {
  readonly key: string;
  readonly value?: string;
}

export interface SortingColumn {
  /** Ordinal of the leaf column. */
  readonly columnIdx: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface PageEncodingStats {
  readonly pageType: PageType;
  readonly encoding: Encoding;
  readonly count: number;
}

export interface ColumnMetaData {
  readonly type: PhysicalType;
  readonly encodings: readonly Encoding[];
  readonly pathInSchema: readonly string[];
  readonly codec: CompressionCodec;
  /** Entries with their nulls: as many as there are definition levels. */
  readonly numValues: number;
  /** Page headers included. */
  readonly totalUncompressedSize: number;
  /** Page headers included. */
  readonly totalCompressedSize: number;
  readonly keyValueMetadata?: readonly KeyValue[];
  /** From the start of the file, as all offsets here. */
  readonly dataPageOffset: number;
  readonly indexPageOffset?: number;
  readonly dictionaryPageOffset?: number;
  readonly statistics?: Statistics;
  readonly encodingStats?: readonly PageEncodingStats[];
  readonly bloomFilterOffset?: number;
  /** The header included. */
  readonly bloomFilterLength?: number;
  readonly sizeStatistics?: SizeStatistics;
  readonly geospatialStatistics?: GeospatialStatistics;
}

export interface ColumnChunk {
  readonly filePath?: string;
  readonly fileOffset: number;
  /** Absent only where the column is encrypted. */
  readonly metaData?: ColumnMetaData;
  readonly offsetIndexOffset?: number;
  readonly offsetIndexLength?: number;
  readonly columnIndexOffset?: number;
  readonly columnIndexLength?: number;
  /** Present where the column is encrypted; its content is not read. */
  readonly cryptoMetadata?: true;
}

export interface RowGroup {
  readonly columns: readonly ColumnChunk[];
  readonly totalByteSize: number;
  readonly numRows: number;
  readonly sortingColumns?: readonly SortingColumn[];
  readonly fileOffset?: number;
  readonly totalCompressedSize?: number;
  readonly ordinal?: number;
}

export interface FileMetaData {
  readonly version: number;
  readonly schema: readonly SchemaElement[];
  readonly numRows: number;
  readonly rowGroups: readonly RowGroup[];
  readonly keyValueMetadata?: readonly KeyValue[];
  readonly createdBy?: string;
  /** One for each leaf, in schema order. */
  readonly columnOrders?: readonly ColumnOrder[];
  /** Present where columns are encrypted under a plaintext footer. */
  readonly encryptionAlgorithm?: keyof typeof ENCRYPTION_ALGORITHMS;
}

export interface DataPageHeader {
  /** Entries with their nulls. */
  readonly numValues: number;
  readonly encoding: Encoding;
  readonly definitionLevelEncoding: Encoding;
  readonly repetitionLevelEncoding: Encoding;
  readonly statistics?: Statistics;
}

export interface DictionaryPageHeader {
  readonly numValues: number;
  readonly encoding: Encoding;
  readonly isSorted?: boolean;
}

export interface DataPageHeaderV2 {
  /** Entries with their nulls. */
  readonly numValues: number;
  readonly numNulls: number;
  readonly numRows: number;
  readonly encoding: Encoding;
  readonly definitionLevelsByteLength: number;
  readonly repetitionLevelsByteLength: number;
  /** Whether the values are compressed; true when absent. */
  readonly isCompressed?: boolean;
  readonly statistics?: Statistics;
}

/** The header of the page's own type is set. Sizes leave out the header itself. */
export interface PageHeader {
  readonly type: PageType;
  readonly uncompressedPageSize: number;
  readonly compressedPageSize: number;
  /** CRC-32 of the body as stored, as a signed integer. */
  readonly crc?: number;
  readonly dataPageHeader?: DataPageHeader;
  readonly dictionaryPageHeader?: DictionaryPageHeader;
  readonly dataPageHeaderV2?: DataPageHeaderV2;
}

export interface PageLocation {
  readonly offset: number;
  /** The header included. */
  readonly compressedPageSize: number;
  /** Counted from the start of the row group. */
  readonly firstRowIndex: number;
}

export interface OffsetIndex {
  /** One for each data page, in file order. */
  readonly pageLocations: readonly PageLocation[];
  readonly unencodedByteArrayDataBytes?: readonly number[];
}

/** Every list has one element for each data page. */
export interface ColumnIndex {
  readonly nullPages: readonly boolean[];
  /** Empty for a null page. */
  readonly minValues: readonly Uint8Array[];
  /** Empty for a null page. */
  readonly maxValues: readonly Uint8Array[];
  readonly boundaryOrder: BoundaryOrder;
  readonly nullCounts?: readonly number[];
  /** `maxRepetitionLevel + 1` elements for each page. */
  readonly repetitionLevelHistograms?: readonly number[];
  /** `maxDefinitionLevel + 1` elements for each page. */
  readonly definitionLevelHistograms?: readonly number[];
  readonly nanCounts?: readonly number[];
}

export interface BloomFilterHeader {
  /** Length of the bitset that follows the header. */
  readonly numBytes: number;
  readonly algorithm: keyof typeof BLOOM_FILTER_ALGORITHMS;
  readonly hash: keyof typeof BLOOM_FILTER_HASHES;
  readonly compression: keyof typeof BLOOM_FILTER_COMPRESSIONS;
}
