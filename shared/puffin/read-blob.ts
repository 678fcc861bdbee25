import { IcebergError, type RangedReader } from '../base/index.ts';
import { declaredLengthBytes, decompress } from '../compress/index.ts';
import { decompressLz4Frame } from './lz4-frame.ts';
import type { BlobMetadata } from './metadata.ts';

/** A sketch has some ten KiB, a vector of a hundred million scattered rows 12 MiB. */
export const BLOB_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Reads one blob and decompresses it. Costs one read of exactly its bytes.
 *
 * @param blobBytesMax as stored, and decompressed
 * @throws invalid-data — when compressed data is corrupt or does not say its size
 * @throws unsupported — for codecs that are not known, and blobs beyond the limit
 * @see Puffin spec, "Compression codecs"
 */
export async function readBlob(
  reader: RangedReader,
  blob: BlobMetadata,
  blobBytesMax: number = BLOB_BYTES_MAX,
): Promise<Uint8Array> {
  const { offset, lengthBytes, compressionCodec } = blob;
  const subject = `${reader.location}: blob at ${offset}`;
  requireAllowedSize(lengthBytes, blobBytesMax, subject);
  const isKnown = compressionCodec === undefined || ['lz4', 'zstd'].includes(compressionCodec);
  if (!isKnown) {
    throw new IcebergError('unsupported', `${subject}: compression codec ${compressionCodec}`);
  }
  const bytes = await reader.read(offset, lengthBytes);
  if (compressionCodec === undefined) return bytes;
  if (compressionCodec === 'lz4') return decompressLz4Frame(bytes, blobBytesMax, subject);
  const contentBytes = declaredLengthBytes('zstd', bytes);
  if (contentBytes === undefined) {
    const problem = `${bytes.length} bytes are no zstd frame that says its content size`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
  requireAllowedSize(contentBytes, blobBytesMax, subject);
  return decompress('zstd', bytes, contentBytes, subject);
}

function requireAllowedSize(sizeBytes: number, sizeBytesMax: number, subject: string): void {
  if (sizeBytes <= sizeBytesMax) return;
  throw new IcebergError(
    'unsupported',
    `${subject}: ${sizeBytes} bytes exceed the limit of ${sizeBytesMax}`,
  );
}
