/**
 * Compression of single units (pages, blocks, documents) with a bound on what may come out. Parquet's and
 * Avro's codecs; the framed LZ4 of Puffin comes with Puffin. Codec names are ours, formats map theirs to them.
 */
export {
  type Codec,
  compress,
  DECOMPRESSED_BYTES_MAX,
  decompress,
  decompressUpTo,
} from './codecs.ts';
export { declaredLengthBytes } from './declared-length.ts';
