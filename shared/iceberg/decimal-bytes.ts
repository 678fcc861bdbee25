/** The minimal two's-complement big-endian bytes of an integer; 0 is one byte. */
export function decimalToBytes(unscaled: bigint): Uint8Array<ArrayBuffer> {
  let lengthBytes = 1;
  while (BigInt.asIntN(lengthBytes * 8, unscaled) !== unscaled) lengthBytes++;
  const bytes = new Uint8Array(lengthBytes);
  let rest = BigInt.asUintN(lengthBytes * 8, unscaled);
  for (let offset = lengthBytes - 1; offset >= 0; offset--) {
    bytes[offset] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

/** The integer whose two's-complement big-endian bytes these are; at least one byte. */
export function decimalFromBytes(bytes: Uint8Array): bigint {
  let unsigned = 0n;
  for (const byte of bytes) unsigned = (unsigned << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, unsigned);
}
