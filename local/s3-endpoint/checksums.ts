import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A checksum that S3 clients send, taken over bytes as they pass. */
export interface Checksum {
  update(bytes: Uint8Array): void;
  /** The value as it stands in headers: base64 of the big-endian bytes. */
  toBase64(): string;
}

const MAKERS = {
  crc32: () => crc32Checksum(),
  crc32c: () => crc32cChecksum(),
  crc64nvme: () => crc64NvmeChecksum(),
  sha1: () => hashChecksum('sha1'),
  sha256: () => hashChecksum('sha256'),
} as const;

export type ChecksumName = keyof typeof MAKERS;

export const CHECKSUM_NAMES: readonly ChecksumName[] = [
  'crc32',
  'crc32c',
  'crc64nvme',
  'sha1',
  'sha256',
];

export function createChecksum(name: ChecksumName): Checksum {
  return MAKERS[name]();
}

function hashChecksum(algorithm: string): Checksum {
  const hash = createHash(algorithm);
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    toBase64: () => hash.digest('base64'),
  };
}

function crc32Checksum(): Checksum {
  let crc = 0;
  return {
    update: (bytes) => {
      crc = crc32(bytes, crc);
    },
    toBase64: () => base64OfWords([crc]),
  };
}

/** CRC-32C polynomial (Castagnoli), bits reversed. */
const CRC32C_POLYNOMIAL = 0x82f63b78;

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ CRC32C_POLYNOMIAL : crc >>> 1;
  return crc;
});

function crc32cChecksum(): Checksum {
  let crc = 0xffffffff;
  return {
    update: (bytes) => {
      for (let index = 0; index < bytes.length; index++) {
        crc = CRC32C_TABLE[(crc ^ bytes[index]!) & 0xff]! ^ (crc >>> 8);
      }
    },
    toBase64: () => base64OfWords([~crc >>> 0]),
  };
}

/** CRC-64/NVME polynomial, bits reversed, as two 32-bit halves. */
const CRC64_POLYNOMIAL_HIGH = 0x9a6c9329;
const CRC64_POLYNOMIAL_LOW = 0xac4bc9b5;

const [CRC64_TABLE_HIGH, CRC64_TABLE_LOW] = crc64Tables();

function crc64Tables(): [Uint32Array, Uint32Array] {
  const highs = new Uint32Array(256);
  const lows = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let high = 0;
    let low = byte;
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = (low & 1) === 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (isOdd) {
        high ^= CRC64_POLYNOMIAL_HIGH;
        low ^= CRC64_POLYNOMIAL_LOW;
      }
    }
    highs[byte] = high;
    lows[byte] = low;
  }
  return [highs, lows];
}

function crc64NvmeChecksum(): Checksum {
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update: (bytes) => {
      for (let index = 0; index < bytes.length; index++) {
        const entry = (low ^ bytes[index]!) & 0xff;
        low = ((low >>> 8) | (high << 24)) ^ CRC64_TABLE_LOW[entry]!;
        high = (high >>> 8) ^ CRC64_TABLE_HIGH[entry]!;
      }
    },
    toBase64: () => base64OfWords([~high >>> 0, ~low >>> 0]),
  };
}

function base64OfWords(words: readonly number[]): string {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes.toString('base64');
}
