const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

const STRIPE_BYTES = 16;

/** The 32-bit xxHash with seed 0, unsigned: the checksum of LZ4 frames. @see xxHash specification, "XXH32" */
export function xxHash32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stripesEnd = bytes.length - (bytes.length % STRIPE_BYTES);
  let hash = (stripesEnd === 0 ? PRIME_5 : hashStripes(view, stripesEnd)) + bytes.length;
  let offset = stripesEnd;
  for (; offset + 4 <= bytes.length; offset += 4) {
    hash += Math.imul(view.getUint32(offset, true), PRIME_3);
    hash = Math.imul(rotateLeft(hash, 17), PRIME_4);
  }
  for (; offset < bytes.length; offset++) {
    hash += Math.imul(bytes[offset]!, PRIME_5);
    hash = Math.imul(rotateLeft(hash, 11), PRIME_1);
  }
  return avalanche(hash);
}

function hashStripes(view: DataView, end: number): number {
  let one = (PRIME_1 + PRIME_2) | 0;
  let two = PRIME_2 | 0;
  let three = 0;
  let four = -PRIME_1 | 0;
  for (let offset = 0; offset < end; offset += STRIPE_BYTES) {
    one = round(one, view.getUint32(offset, true));
    two = round(two, view.getUint32(offset + 4, true));
    three = round(three, view.getUint32(offset + 8, true));
    four = round(four, view.getUint32(offset + 12, true));
  }
  const low = rotateLeft(one, 1) + rotateLeft(two, 7);
  return (low + rotateLeft(three, 12) + rotateLeft(four, 18)) | 0;
}

function round(lane: number, input: number): number {
  return Math.imul(rotateLeft(lane + Math.imul(input, PRIME_2), 13), PRIME_1);
}

function avalanche(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  mixed = Math.imul(mixed ^ (mixed >>> 13), PRIME_3);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
