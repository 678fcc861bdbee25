import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import { decodeLz4Block } from './lz4-block.ts';
import { xxHash32 } from './xxhash32.ts';

const MAGIC = 0x184d2204;
const MAGIC_BYTES = 4;

/** Of the frame descriptor's first byte. */
const VERSION_MASK = 0xc0;
const VERSION_1 = 0x40;
const BLOCKS_INDEPENDENT = 0x20;
const BLOCK_CHECKSUM = 0x10;
const CONTENT_SIZE = 0x08;
const CONTENT_CHECKSUM = 0x04;
const RESERVED = 0x02;
const DICTIONARY_ID = 0x01;

/** The second byte has the largest block size in bits 4 to 6: 64 KiB for 4, four times more for each step to 7. */
const BLOCK_SIZE_RESERVED = 0x8f;
const BLOCK_SIZE_CODE_MIN = 4;

const END_MARK = 0;
const BLOCK_UNCOMPRESSED = 0x8000_0000;

/** A match grows by at most 255 bytes for each byte of input. */
const EXPANSION_MAX = 255;

interface FrameDescriptor {
  readonly areBlocksIndependent: boolean;
  readonly hasBlockChecksum: boolean;
  readonly hasContentChecksum: boolean;
  readonly blockBytesMax: number;
  readonly contentBytes: number;
}

/**
 * Decompresses a single LZ4 frame that says its content's size, and checks every checksum it has. The output is
 * allocated once its size is known to be possible.
 *
 * @throws invalid-data — when the frame is corrupt, says no content size, or has bytes behind it
 * @throws unsupported — when the content exceeds `outputBytesMax`, or a dictionary is needed
 * @see LZ4 frame format, "General Structure of LZ4 Frame format"
 */
export function decompressLz4Frame(
  bytes: Uint8Array,
  outputBytesMax: number,
  subject: string,
): Uint8Array {
  const reader = new ByteReader(bytes, `${subject}: lz4 frame`);
  const descriptor = parseDescriptor(reader, bytes, subject);
  requirePossibleSize(reader, descriptor.contentBytes, { outputBytesMax, subject });
  const output = new Uint8Array(descriptor.contentBytes);
  let outputLength = 0;
  for (let size = reader.u32le(); size !== END_MARK; size = reader.u32le()) {
    outputLength = decodeBlock({ reader, descriptor, output, outputLength, size });
  }
  if (outputLength !== output.length) {
    throw reader.invalid(`content of ${outputLength} bytes is said to have ${output.length}`);
  }
  if (descriptor.hasContentChecksum) requireChecksum(reader, output);
  reader.requireEnd();
  return output;
}

function parseDescriptor(reader: ByteReader, bytes: Uint8Array, subject: string): FrameDescriptor {
  const magic = reader.u32le();
  if (magic !== MAGIC) throw reader.invalid(`magic ${magic} is not ${MAGIC}`);
  const flags = reader.u8();
  const blockSize = reader.u8();
  const code = blockSize >> 4;
  if ((flags & (VERSION_MASK | RESERVED)) !== VERSION_1) throw reader.invalid(`flags ${flags}`);
  if ((blockSize & BLOCK_SIZE_RESERVED) !== 0 || code < BLOCK_SIZE_CODE_MIN) {
    throw reader.invalid(`block size ${blockSize}`);
  }
  if ((flags & DICTIONARY_ID) !== 0) {
    throw new IcebergError('unsupported', `${subject}: lz4 frame needs a dictionary`);
  }
  if ((flags & CONTENT_SIZE) === 0) throw reader.invalid('says no content size');
  const contentBytes = Number(reader.u64le());
  const checksum = (xxHash32(bytes.subarray(MAGIC_BYTES, reader.offset)) >>> 8) & 0xff;
  const found = reader.u8();
  if (found !== checksum) throw reader.invalid(`header checksum ${found} is not ${checksum}`);
  return {
    areBlocksIndependent: (flags & BLOCKS_INDEPENDENT) !== 0,
    hasBlockChecksum: (flags & BLOCK_CHECKSUM) !== 0,
    hasContentChecksum: (flags & CONTENT_CHECKSUM) !== 0,
    blockBytesMax: 2 ** (8 + 2 * code),
    contentBytes,
  };
}

function requirePossibleSize(
  reader: ByteReader,
  contentBytes: number,
  { outputBytesMax, subject }: { readonly outputBytesMax: number; readonly subject: string },
): void {
  const possibleBytes = reader.remainingBytes * EXPANSION_MAX;
  if (contentBytes > possibleBytes) {
    throw reader.invalid(`claims ${contentBytes} bytes, at most ${possibleBytes} are possible`);
  }
  if (contentBytes <= outputBytesMax) return;
  throw new IcebergError(
    'unsupported',
    `${subject}: uncompressed size ${contentBytes} exceeds the limit of ${outputBytesMax} bytes`,
  );
}

/** Appends one block to the output; returns how long that is then. */
function decodeBlock(options: {
  readonly reader: ByteReader;
  readonly descriptor: FrameDescriptor;
  readonly output: Uint8Array;
  readonly outputLength: number;
  readonly size: number;
}): number {
  const { reader, descriptor, output, outputLength, size } = options;
  const { blockBytesMax } = descriptor;
  const isCompressed = size < BLOCK_UNCOMPRESSED;
  const block = reader.bytes(isCompressed ? size : size - BLOCK_UNCOMPRESSED);
  if (block.length > blockBytesMax) {
    throw reader.invalid(`block of ${block.length} bytes exceeds ${blockBytesMax}`);
  }
  if (descriptor.hasBlockChecksum) requireChecksum(reader, block);
  const outputEnd = Math.min(output.length, outputLength + blockBytesMax);
  if (!isCompressed) {
    if (outputLength + block.length > outputEnd) throw reader.invalid('block exceeds the content');
    output.set(block, outputLength);
    return outputLength + block.length;
  }
  const historyStart = descriptor.areBlocksIndependent ? outputLength : 0;
  const end = decodeLz4Block(block, output, { start: outputLength, end: outputEnd, historyStart });
  if (end === undefined) throw reader.invalid(`block of ${block.length} bytes is corrupt`);
  return end;
}

function requireChecksum(reader: ByteReader, bytes: Uint8Array): void {
  const checksum = xxHash32(bytes);
  const found = reader.u32le();
  if (found !== checksum) throw reader.invalid(`checksum ${found} is not ${checksum}`);
}
