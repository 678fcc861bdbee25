import { assert, IcebergError, type RangedReader } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';
import { BLOOM_FILTER_BLOCK_BYTES } from './layout.ts';
import { BLOOM_FILTER_HEADER } from './metadata-codecs.ts';
import type { BloomFilterLocation, ByteRange } from './parquet-file.ts';
import { serializeThrift } from './thrift-codec.ts';
import { ThriftReader } from './thrift-reader.ts';

/** parquet-java writes none larger. */
export const BLOOM_FILTER_BYTES_MAX = 128 * 1024 * 1024;

/** A header takes some 15 bytes; readers that do not know its length take this much, too. */
const HEADER_BYTES_MAX = 256;

/**
 * Reads a Bloom filter as it is stored: header and bitset. Costs two reads, one when the footer gives its
 * length and that is small.
 *
 * @throws invalid-data — when the header does not parse or its size contradicts the file's or the footer's
 * @throws unsupported — for other algorithms, hashes or compressions than the format's first, or beyond the limit
 * @see Parquet format, "Bloom Filter"
 */
export async function readBloomFilter(
  reader: RangedReader,
  location: BloomFilterLocation,
  { footerOffset, subject }: { readonly footerOffset: number; readonly subject: string },
): Promise<Uint8Array> {
  const range = await locateBloomFilter(reader, location, { footerOffset, subject });
  return reader.read(range.offset, range.lengthBytes);
}

/** Header and bitset of a new Bloom filter. */
export function serializeBloomFilter(bitset: Uint8Array): Uint8Array {
  assert(bitset.length % BLOOM_FILTER_BLOCK_BYTES === 0, 'bloom filter: blocks of 32 bytes');
  const header = serializeThrift(BLOOM_FILTER_HEADER, {
    numBytes: bitset.length,
    algorithm: 'BLOCK',
    hash: 'XXHASH',
    compression: 'UNCOMPRESSED',
  });
  return concatBytes([header, bitset]);
}

/**
 * Reads the header of a Bloom filter and returns the range of header and bitset together.
 *
 * @throws invalid-data, unsupported — as `readBloomFilter`
 */
export async function locateBloomFilter(
  reader: RangedReader,
  location: BloomFilterLocation,
  { footerOffset, subject }: { readonly footerOffset: number; readonly subject: string },
): Promise<ByteRange> {
  const { offset } = location;
  const bytesMax = location.lengthBytes ?? footerOffset - offset;
  const head = await reader.read(offset, Math.min(HEADER_BYTES_MAX, bytesMax));
  const thrift = new ThriftReader(head, `${subject}: bloom filter header`);
  const { numBytes } = BLOOM_FILTER_HEADER.read(thrift);
  const lengthBytes = thrift.offset + numBytes;
  if (numBytes <= 0 || numBytes % BLOOM_FILTER_BLOCK_BYTES !== 0) {
    throw thrift.invalid(
      `bitset of ${numBytes} bytes is not blocks of ${BLOOM_FILTER_BLOCK_BYTES}`,
    );
  }
  if (lengthBytes > bytesMax || lengthBytes < (location.lengthBytes ?? 0)) {
    throw thrift.invalid(`header and bitset take ${lengthBytes} bytes of ${bytesMax}`);
  }
  if (numBytes > BLOOM_FILTER_BYTES_MAX) {
    throw new IcebergError(
      'unsupported',
      `${subject}: bloom filter of ${numBytes} bytes exceeds the limit of ${BLOOM_FILTER_BYTES_MAX}`,
    );
  }
  return { offset, lengthBytes };
}
