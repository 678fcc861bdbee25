/**
 * Parquet files as structures and bytes (parquet.thrift of August 2026): footers read under limits and validated, pages
 * walked and checked, column chunks copied unchanged into new files with page indexes and Bloom filters,
 * statistics kept only where parquet-java would trust them; column chunks decoded to levels and physical values
 * and encoded from them. Left out on purpose: encryption, columns in other files, index pages, the LZO and
 * LZ4-frame codecs (copied, never opened), and everything about Iceberg's types.
 */

export { canDecompress } from './compression.ts';
export type { ColumnChunkSource } from './copy-column-chunk.ts';
export { needsRecode } from './created-by.ts';
export { decodeColumnChunk } from './decode-column-chunk.ts';
export { type ChunkFacts, ColumnChunkEncoder, type EncodeOptions } from './encode-column-chunk.ts';
export type { EncodedColumnChunk, EncodedDataPage, EncodedPage } from './encoded-column-chunk.ts';
export {
  type ChunkReport,
  CREATED_BY,
  type ParquetFileOptions,
  ParquetFileWriter,
  type ParquetWriteResult,
} from './file-writer.ts';
export { physicalWidthBytes } from './leaf-shape.ts';
export {
  gatherPhysicalValues,
  type LeafValues,
  type PhysicalValues,
  physicalValueAt,
  repeatPhysicalValue,
  sliceLeafValues,
} from './leaf-values.ts';
export type {
  ColumnMetaData,
  CompressionCodec,
  ConvertedType,
  Encoding,
  FileMetaData,
  KeyValue,
  LogicalType,
  PhysicalType,
  RowGroup,
  SchemaElement,
  SizeStatistics,
  SortingColumn,
  Statistics,
  TimeUnit,
} from './metadata-types.ts';
export { readColumnIndex, readOffsetIndex } from './page-index.ts';
export type { WalkedPage } from './page-sequence.ts';
export {
  type BloomFilterLocation,
  type ByteRange,
  chunkSubject,
  type ParquetColumnChunk,
  type ParquetFile,
  type ParquetRowGroup,
} from './parquet-file.ts';
export { readAhead } from './read-ahead.ts';
export { type FooterOptions, readParquetFooter } from './read-footer.ts';
export {
  buildSchemaTree,
  type SchemaLeaf,
  type SchemaNode,
  type SchemaTree,
} from './schema-tree.ts';
export { trustedStatistics } from './trusted-statistics.ts';
export { type VerifiedParquetFile, verifyParquetFile } from './verify-file.ts';
export { type PageBatch, readPageBatches, walkPages } from './walk-pages.ts';
