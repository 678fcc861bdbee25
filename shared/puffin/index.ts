/**
 * Puffin files (version 1): footers read under limits and validated, LZ4 and zstd decompressed, blobs written and
 * copied byte for byte whatever their type. Knows neither what is in a blob nor Iceberg tables. Left out on purpose:
 * writing LZ4, for blobs and for footers, since Iceberg Java cannot read it.
 */
export type { BlobMetadata, PuffinFile, PuffinProperties } from './metadata.ts';
export { readBlob } from './read-blob.ts';
export { type PuffinFooterOptions, readPuffinFooter } from './read-footer.ts';
export { type NewBlob, type PuffinWriteResult, PuffinWriter } from './writer.ts';
