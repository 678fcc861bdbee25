import { IcebergError } from '../base/index.ts';
import type { Codec } from '../compress/index.ts';
import type { CompressionCodec } from './metadata-types.ts';

const CODECS: Readonly<Record<CompressionCodec, Codec | undefined>> = {
  UNCOMPRESSED: 'none',
  SNAPPY: 'snappy',
  GZIP: 'gzip',
  LZO: undefined,
  BROTLI: 'brotli',
  // Hadoop's framing, which writers disagree about: such pages are copied, never opened.
  LZ4: undefined,
  ZSTD: 'zstd',
  LZ4_RAW: 'lz4-raw',
};

/** Whether pages of this codec can be opened. All codecs can be copied. */
export function canDecompress(codec: CompressionCodec): boolean {
  return CODECS[codec] !== undefined;
}

/**
 * Our name for a Parquet codec.
 *
 * @throws unsupported — for LZO and the deprecated LZ4
 * @see Parquet format, "Compression"
 */
export function codecFor(codec: CompressionCodec, subject: string): Codec {
  const known = CODECS[codec];
  if (known === undefined) {
    throw new IcebergError('unsupported', `${subject}: codec ${codec} cannot be decompressed`);
  }
  return known;
}
