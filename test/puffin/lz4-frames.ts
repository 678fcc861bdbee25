import * as lz4 from 'lz4-napi';
import { ByteWriter, concatBytes } from '../../shared/bytes/index.ts';
import { xxHash32 } from '../../shared/puffin/xxhash32.ts';

const MAGIC_BYTES = 4;
const DESCRIPTOR_BYTES = 2;
const CONTENT_SIZE = 0x08;

/** An LZ4 frame by the library, to which the content's size is added, since the library leaves it out. */
export function lz4Frame(
  content: Uint8Array,
  options: { readonly contentChecksum?: boolean; readonly blockChecksums?: boolean } = {},
): Uint8Array {
  const frame = lz4.compressFrameSync(Buffer.from(content), options);
  const blocks = frame.subarray(MAGIC_BYTES + DESCRIPTOR_BYTES + 1);
  return frameOf({ flags: frame[4]! | CONTENT_SIZE, blockSize: frame[5]!, content, blocks });
}

/** A frame of blocks as they are, its header's checksum made to fit. */
export function frameOf(parts: {
  readonly flags: number;
  readonly blockSize: number;
  readonly content: Uint8Array;
  readonly blocks: Uint8Array;
}): Uint8Array {
  const { flags, blockSize, content, blocks } = parts;
  const descriptor = new ByteWriter();
  descriptor.u8(flags);
  descriptor.u8(blockSize);
  descriptor.u64le(BigInt(content.length));
  return withHeaderChecksum(descriptor.finish(), blocks);
}

export function withHeaderChecksum(descriptor: Uint8Array, blocks: Uint8Array): Uint8Array {
  const checksum = (xxHash32(descriptor) >>> 8) & 0xff;
  return concatBytes([
    Uint8Array.of(0x04, 0x22, 0x4d, 0x18),
    descriptor,
    Uint8Array.of(checksum),
    blocks,
  ]);
}

/** Blocks with their sizes in front, and the end mark. */
export function blocksOf(
  ...blocks: readonly { bytes: Uint8Array; isStored?: boolean }[]
): Uint8Array {
  const writer = new ByteWriter();
  for (const { bytes, isStored = false } of blocks) {
    writer.u32le(bytes.length + (isStored ? 0x8000_0000 : 0));
    writer.bytes(bytes);
  }
  writer.u32le(0);
  return writer.finish();
}
