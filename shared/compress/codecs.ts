import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateRawSync,
  gunzipSync,
  gzipSync,
  inflateRawSync,
  constants as zlibConstants,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import { assertNever, IcebergError } from '../base/index.ts';

/** `lz4-raw` is the block format without a frame; `snappy` likewise; `deflate` has no zlib wrapper. */
export type Codec = 'none' | 'gzip' | 'deflate' | 'zstd' | 'snappy' | 'lz4-raw' | 'brotli';

const ZSTD_LEVEL_DEFAULT = 3;

/** No decompressed unit (a page, an Avro block, a metadata document) may be larger. */
export const DECOMPRESSED_BYTES_MAX = 1024 * 1024 * 1024;

/** zlib's output limit must be at least 1, also where nothing is expected. */
const OUTPUT_BYTES_MIN = 1;

/** Compresses one unit. `level` is understood by zstd, gzip and deflate only. */
export function compress(codec: Codec, bytes: Uint8Array, level?: number): Uint8Array {
  switch (codec) {
    case 'none':
      return bytes;
    case 'gzip':
      return gzipSync(bytes, level === undefined ? {} : { level });
    case 'deflate':
      return deflateRawSync(bytes, level === undefined ? {} : { level });
    case 'zstd':
      return zstdCompressSync(bytes, {
        params: { [zlibConstants.ZSTD_c_compressionLevel]: level ?? ZSTD_LEVEL_DEFAULT },
        pledgedSrcSize: bytes.length,
      });
    case 'snappy':
      return snappy.compressSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    case 'lz4-raw':
      // The package puts the uncompressed size in front, 4 bytes little-endian; the format has none.
      return lz4
        .compressSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
        .subarray(4);
    case 'brotli':
      return brotliCompressSync(bytes);
    default:
      return assertNever(codec, 'codec');
  }
}

/**
 * Decompresses one unit whose size is known from outside.
 *
 * @param uncompressedSizeBytes what the surrounding format promises; allocation never exceeds it
 * @throws invalid-data — when the bytes are corrupt or do not give exactly that size
 * @throws unsupported — when the promised size exceeds `DECOMPRESSED_BYTES_MAX`
 */
export function decompress(
  codec: Codec,
  bytes: Uint8Array,
  uncompressedSizeBytes: number,
  subject: string,
): Uint8Array {
  requireAllowedSize(uncompressedSizeBytes, subject);
  const output = decompressUpTo(codec, bytes, uncompressedSizeBytes, subject);
  if (output.length !== uncompressedSizeBytes) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: ${codec} gives ${output.length} bytes, ${uncompressedSizeBytes} were promised`,
    );
  }
  return output;
}

/**
 * Decompresses one unit whose size is not known from outside (an Avro block, gzipped metadata).
 *
 * @throws invalid-data — when the bytes are corrupt, or would give more than `outputBytesMax` bytes
 */
export function decompressUpTo(
  codec: Codec,
  bytes: Uint8Array,
  outputBytesMax: number,
  subject: string,
): Uint8Array {
  requireAllowedSize(outputBytesMax, subject);
  try {
    return decompressUnchecked(codec, bytes, outputBytesMax, subject);
  } catch (cause) {
    if (cause instanceof IcebergError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IcebergError(
      'invalid-data',
      `${subject}: ${codec} data of ${bytes.length} bytes is corrupt or exceeds ${outputBytesMax} bytes: ${reason}`,
      {},
      cause,
    );
  }
}

function requireAllowedSize(sizeBytes: number, subject: string): void {
  if (sizeBytes <= DECOMPRESSED_BYTES_MAX) return;
  throw new IcebergError(
    'unsupported',
    `${subject}: uncompressed size ${sizeBytes} exceeds the limit of ${DECOMPRESSED_BYTES_MAX} bytes`,
  );
}

function decompressUnchecked(
  codec: Codec,
  bytes: Uint8Array,
  outputBytesMax: number,
  subject: string,
): Uint8Array {
  const maxOutputLength = Math.max(outputBytesMax, OUTPUT_BYTES_MIN);
  switch (codec) {
    case 'none':
      return bytes;
    case 'gzip':
      return gunzipSync(bytes, { maxOutputLength });
    case 'deflate':
      return inflateRawSync(bytes, { maxOutputLength });
    case 'zstd':
      return zstdDecompressSync(bytes, { maxOutputLength });
    case 'brotli':
      return brotliDecompressSync(bytes, { maxOutputLength });
    case 'snappy':
      requireClaimedSize(snappyClaimedSize(bytes, subject), outputBytesMax, subject);
      return snappy.uncompressSync(bytes as Buffer, { asBuffer: true }) as Buffer;
    case 'lz4-raw':
      return lz4.uncompressSync(withLz4SizePrefix(bytes, outputBytesMax));
    default:
      return assertNever(codec, 'codec');
  }
}

/** A snappy block begins with its own claim of the uncompressed size, which the library allocates at once. */
function snappyClaimedSize(bytes: Uint8Array, subject: string): number {
  let value = 0;
  for (let index = 0; index < 5 && index < bytes.length; index++) {
    const byte = bytes[index]!;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw new IcebergError('invalid-data', `${subject}: snappy block has no valid length`);
}

function requireClaimedSize(claimedBytes: number, outputBytesMax: number, subject: string): void {
  if (claimedBytes <= outputBytesMax) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: compressed data claims ${claimedBytes} bytes, at most ${outputBytesMax} are expected`,
  );
}

function withLz4SizePrefix(bytes: Uint8Array, sizeBytes: number): Buffer {
  const prefixed = Buffer.alloc(bytes.length + 4);
  prefixed.writeUInt32LE(sizeBytes, 0);
  prefixed.set(bytes, 4);
  return prefixed;
}
