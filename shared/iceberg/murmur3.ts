const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

/**
 * The 32-bit Murmur3 hash (x86 variant, seed 0) as a signed 32-bit integer.
 *
 * @see Iceberg spec, "Appendix B: 32-bit Hash Requirements"
 */
export function murmur3(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocksEnd = bytes.length & ~3;
  let hash = 0;
  for (let offset = 0; offset < blocksEnd; offset += 4) {
    hash ^= mixBlock(view.getUint32(offset, true));
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash ^= mixBlock(tailBlock(bytes, blocksEnd));
  return finish(hash ^ bytes.length);
}

function mixBlock(block: number): number {
  const mixed = Math.imul(block, C1);
  return Math.imul((mixed << 15) | (mixed >>> 17), C2);
}

/** The last one to three bytes as a little-endian number; 0, which mixes to 0, where there are none. */
function tailBlock(bytes: Uint8Array, start: number): number {
  let block = 0;
  for (let offset = bytes.length - 1; offset >= start; offset--) {
    block = (block << 8) | bytes[offset]!;
  }
  return block;
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
