import { crc32 as zlibCrc32 } from 'node:zlib';
import { IcebergError } from '../base/index.ts';

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/** CRC-32 (ISO 3309) of the bytes, or continued from the checksum of what came before them. */
export function crc32(bytes: Uint8Array, before = 0): number {
  return zlibCrc32(bytes, before);
}

/** One array holding the parts in order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let lengthBytes = 0;
  for (const part of parts) lengthBytes += part.length;
  const whole = new Uint8Array(lengthBytes);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return compareBytes(one, other) === 0;
}

/** Lexicographic order of unsigned bytes: negative, zero or positive. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const difference = one[index]! - other[index]!;
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Lower-case hexadecimal text of the bytes. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @throws invalid-data — when the text is not pairs of hexadecimal digits */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  if (!HEX.test(text))
    throw new IcebergError(
      'invalid-data',
      `hex: ${text.length} characters are not pairs of hexadecimal digits`,
    );
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  );
}
