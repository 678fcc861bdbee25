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

/** Node's own default, 11, is about a hundred times slower for a few percent. */
const BROTLI_QUALITY = 4;

/** No decompressed unit (a page, an Avro block, a metadata document) may be larger. */
export const DECOMPRESSED_BYTES_MAX = 1024 * 1024 * 1024;

/** zlib's output limit must be at least 1, also where nothing is expected. */
const OUTPUT_BYTES_MIN = 1;

/** A snappy element of 3 bytes copies at most 64 bytes; no other element gives more per byte. */
const SNAPPY_EXPANSION_MAX = 64 / 3;

/** An LZ4 match grows by at most 255 bytes for each byte of input. */
const LZ4_EXPANSION_MAX = 255;

/** Compresses one unit. `level` is understood by zstd, gzip and deflate only. May return a view of the input. */
export function compress(codec: Codec, bytes: Uint8Array, level?: number): Uint8Array {
  switch (codec) {
    case 'none':
      return bytes;
    case 'gzip':
      return asBytes(gzipSync(bytes, level === undefined ? {} : { level }));
    case 'deflate':
      return asBytes(deflateRawSync(bytes, level === undefined ? {} : { level }));
    case 'zstd':
      return asBytes(
        zstdCompressSync(bytes, {
          params: { [zlibConstants.ZSTD_c_compressionLevel]: level ?? ZSTD_LEVEL_DEFAULT },
          pledgedSrcSize: bytes.length,
        }),
      );
    case 'snappy':
      return asBytes(snappy.compressSync(asBuffer(bytes)));
    case 'lz4-raw':
      // The package puts the uncompressed size in front, 4 bytes little-endian; the format has none.
      return asBytes(lz4.compressSync(asBuffer(bytes)).subarray(4));
    case 'brotli':
      return asBytes(
        brotliCompressSync(bytes, {
          params: { [zlibConstants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
        }),
      );
    default:
      return assertNever(codec, 'codec');
  }
}

/**
 * Decompresses one unit whose size is known from outside. Nothing in, nothing promised, nothing out: writers
 * store an empty page section without even an empty frame. May return a view of the input.
 *
 * @param uncompressedSizeBytes what the surrounding format promises; the output's allocation never exceeds it
 *   (zstd works with a window of up to 128 MiB besides)
 * @throws invalid-data — when the bytes are corrupt, leave bytes over, or do not give exactly that size
 * @throws unsupported — when the promised size exceeds `DECOMPRESSED_BYTES_MAX`
 */
export function decompress(
  codec: Codec,
  bytes: Uint8Array,
  uncompressedSizeBytes: number,
  subject: string,
): Uint8Array {
  if (bytes.length === 0 && uncompressedSizeBytes === 0) return bytes;
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
 * Decompresses one unit whose size is not known from outside (an Avro block, gzipped metadata). May return a
 * view of the input.
 *
 * @throws invalid-data — when the bytes are corrupt, leave bytes over, or would give more than
 *   `outputBytesMax` bytes
 * @throws unsupported — when `outputBytesMax` exceeds `DECOMPRESSED_BYTES_MAX`
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
  if (!Number.isInteger(sizeBytes) || sizeBytes < 0) {
    throw new IcebergError('invalid-data', `${subject}: uncompressed size ${sizeBytes} is no size`);
  }
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
  switch (codec) {
    case 'none':
      requireClaimedSize(bytes.length, outputBytesMax, subject);
      return bytes;
    case 'gzip':
      return withZlib(gunzipSync, bytes, outputBytesMax, subject);
    case 'deflate':
      return withZlib(inflateRawSync, bytes, outputBytesMax, subject);
    case 'zstd':
      return withZlib(zstdDecompressSync, bytes, outputBytesMax, subject);
    case 'brotli':
      return withZlib(brotliDecompressSync, bytes, outputBytesMax, subject);
    case 'snappy':
      return withSnappy(bytes, outputBytesMax, subject);
    case 'lz4-raw':
      return withLz4(bytes, outputBytesMax, subject);
    default:
      return assertNever(codec, 'codec');
  }
}

/** Output grows as it comes, up to the limit; with `info` the library tells how much input it took. */
function withZlib(
  decompressSync: (bytes: Uint8Array, options: object) => unknown,
  bytes: Uint8Array,
  outputBytesMax: number,
  subject: string,
): Uint8Array {
  const maxOutputLength = Math.max(outputBytesMax, OUTPUT_BYTES_MIN);
  const { buffer, engine } = decompressSync(bytes, { maxOutputLength, info: true }) as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
  const leftOverBytes = bytes.length - engine.bytesWritten;
  if (leftOverBytes > 0) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: compressed data of ${bytes.length} bytes leaves ${leftOverBytes} bytes over`,
    );
  }
  requireClaimedSize(buffer.length, outputBytesMax, subject);
  return asBytes(buffer);
}

/** A snappy block begins with its own claim of the uncompressed size, which the library allocates at once. */
function withSnappy(bytes: Uint8Array, outputBytesMax: number, subject: string): Uint8Array {
  const claimedBytes = snappyClaimedSize(bytes, subject);
  const possibleBytes = Math.floor(bytes.length * SNAPPY_EXPANSION_MAX);
  requireClaimedSize(claimedBytes, Math.min(outputBytesMax, possibleBytes), subject);
  return asBytes(snappy.uncompressSync(asBuffer(bytes), { asBuffer: true }) as Buffer);
}

function snappyClaimedSize(bytes: Uint8Array, subject: string): number {
  let value = 0;
  for (let index = 0; index < 5 && index < bytes.length; index++) {
    const byte = bytes[index]!;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw new IcebergError('invalid-data', `${subject}: snappy block has no valid length`);
}

/** The library allocates the size given in front of the block at once: no more than the block can fill. */
function withLz4(bytes: Uint8Array, outputBytesMax: number, subject: string): Uint8Array {
  if (bytes.length === 0) {
    throw new IcebergError('invalid-data', `${subject}: lz4 block of 0 bytes has no token`);
  }
  const prefixed = Buffer.alloc(bytes.length + 4);
  prefixed.writeUInt32LE(Math.min(outputBytesMax, bytes.length * LZ4_EXPANSION_MAX), 0);
  prefixed.set(bytes, 4);
  return asBytes(lz4.uncompressSync(prefixed));
}

function requireClaimedSize(claimedBytes: number, outputBytesMax: number, subject: string): void {
  if (claimedBytes <= outputBytesMax) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: data claims ${claimedBytes} bytes, at most ${outputBytesMax} are possible`,
  );
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Codecs answer with Buffers, whose methods differ; outside this file bytes are plain arrays. */
function asBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
