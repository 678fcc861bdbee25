import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes } from '../../shared/bytes/index.ts';
import {
  BLOOM_FILTER_BYTES_MAX,
  readBloomFilter,
  serializeBloomFilter,
} from '../../shared/parquet/bloom-filter.ts';
import { BLOOM_FILTER_HEADER } from '../../shared/parquet/metadata-codecs.ts';
import { serializeThrift } from '../../shared/parquet/thrift-codec.ts';
import { bytesReader } from '../support/file-reader.ts';

const BITSET = Uint8Array.from({ length: 64 }, (_, index) => index);
const FILTER = serializeBloomFilter(BITSET);
const HEADER = { algorithm: 'BLOCK', hash: 'XXHASH', compression: 'UNCOMPRESSED' } as const;

/** Reads a filter that lies at offset 4 of a file whose footer follows it. */
async function read(bytes: Uint8Array, lengthBytes?: number): Promise<Uint8Array> {
  const reader = bytesReader(concatBytes([new Uint8Array(4), bytes]));
  return readBloomFilter(
    reader,
    { offset: 4, ...(lengthBytes === undefined ? {} : { lengthBytes }) },
    { footerOffset: 4 + bytes.length, subject: 'chunk' },
  );
}

function withNumBytes(numBytes: number, bitsetBytes = BITSET): Uint8Array {
  const header = serializeThrift(BLOOM_FILTER_HEADER, { ...HEADER, numBytes });
  return concatBytes([header, bitsetBytes]);
}

describe('readBloomFilter', () => {
  test('gives header and bitset, with or without a length in the footer', async () => {
    assert.deepEqual(await read(FILTER, FILTER.length), FILTER);
    assert.deepEqual(await read(FILTER), FILTER);
    assert.deepEqual(FILTER.subarray(-64), BITSET);
  });

  test('rejects a bitset that is not whole blocks, empty, or beyond the file', async () => {
    for (const numBytes of [-32, 0, 33, 96]) {
      await assert.rejects(read(withNumBytes(numBytes)), { kind: 'invalid-data' });
    }
  });

  test('rejects a length in the footer that is not header and bitset together', async () => {
    const longer = concatBytes([FILTER, new Uint8Array(8)]);

    await assert.rejects(read(longer, longer.length), { kind: 'invalid-data' });
    await assert.rejects(read(FILTER, FILTER.length - 1), { kind: 'invalid-data' });
    await assert.rejects(read(FILTER, 5), { kind: 'invalid-data' });
  });

  test('refuses other algorithms, and filters beyond the limit', async () => {
    const other = Uint8Array.from(FILTER);
    const algorithm = other.indexOf(0x1c);
    other[algorithm + 1] = 0x2c;
    const large = withNumBytes(
      BLOOM_FILTER_BYTES_MAX + 32,
      new Uint8Array(BLOOM_FILTER_BYTES_MAX + 32),
    );

    await assert.rejects(read(other), { kind: 'unsupported' });
    await assert.rejects(read(large), { kind: 'unsupported' });
  });
});
