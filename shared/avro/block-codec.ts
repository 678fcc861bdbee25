import { IcebergError } from '../base/index.ts';
import { ByteReader, ByteWriter, crc32 } from '../bytes/index.ts';
import { type Codec, compress, decompressUpTo } from '../compress/index.ts';
import { BLOCK_BYTES_MAX, SNAPPY_CHECKSUM_BYTES } from './layout.ts';

/** Codecs by the names that stand in `avro.codec`. */
const CODECS = {
  null: 'none',
  deflate: 'deflate',
  snappy: 'snappy',
  zstandard: 'zstd',
} as const satisfies Record<string, Codec>;

export type AvroCodec = keyof typeof CODECS;

/** @throws unsupported — for a codec that Firn does not read (bzip2, xz) or does not know */
export function parseAvroCodec(name: string, subject: string): AvroCodec {
  if (Object.hasOwn(CODECS, name)) return name as AvroCodec;
  throw new IcebergError('unsupported', `${subject}: avro codec ${name.slice(0, 32)}`);
}

export function compressBlock(codec: AvroCodec, records: Uint8Array, level?: number): Uint8Array {
  const compressed = compress(CODECS[codec], records, level);
  if (codec !== 'snappy') return compressed;
  const writer = new ByteWriter(compressed.length + SNAPPY_CHECKSUM_BYTES);
  writer.bytes(compressed);
  writer.u32be(crc32(records));
  return writer.finish();
}

/**
 * Decompresses the records of one block.
 *
 * @throws invalid-data — when the bytes are corrupt, give more than `BLOCK_BYTES_MAX`, or fail the checksum
 */
export function decompressBlock(codec: AvroCodec, stored: Uint8Array, subject: string): Uint8Array {
  if (codec !== 'snappy') return decompressUpTo(CODECS[codec], stored, BLOCK_BYTES_MAX, subject);
  const reader = new ByteReader(stored, subject);
  const compressed = reader.bytes(stored.length - SNAPPY_CHECKSUM_BYTES);
  const records = decompressUpTo('snappy', compressed, BLOCK_BYTES_MAX, subject);
  const expected = reader.u32be();
  const actual = crc32(records);
  if (actual !== expected) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: block checksum is ${actual}, the file says ${expected}`,
    );
  }
  return records;
}
