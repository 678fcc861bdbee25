import { firstCodePoints } from './transform-apply.ts';
import type { SingleValue } from './types.ts';

const SURROGATE_MIN = 0xd800;
const LOW_SURROGATE_MIN = 0xdc00;
const SURROGATE_MAX = 0xdfff;
const CODE_POINT_MAX = 0x10ffff;

/**
 * A lower bound no longer than `length` code points (strings) or bytes (binary, fixed). Other values come
 * back as they are.
 *
 * @param length at least 1
 */
export function truncateLowerBound(value: SingleValue, length: number): SingleValue {
  if (typeof value === 'string') return firstCodePoints(value, length);
  return value instanceof Uint8Array ? value.subarray(0, length) : value;
}

/**
 * An upper bound no longer than `length` code points (strings) or bytes (binary, fixed): the value cut and
 * its last code point or byte raised, skipping surrogates. Equal to Iceberg Java's `UnicodeUtil` and
 * `BinaryUtil`, except that ill-formed text gives no bound where Java throws.
 *
 * @param length at least 1
 * @returns undefined when nothing that short is larger: then the bound must be left out
 */
export function truncateUpperBound(value: SingleValue, length: number): SingleValue | undefined {
  if (typeof value === 'string') return truncateUpperText(value, length);
  return value instanceof Uint8Array ? truncateUpperBytes(value, length) : value;
}

function truncateUpperText(text: string, length: number): string | undefined {
  const cut = firstCodePoints(text, length);
  if (cut.length === text.length) return text;
  if (!cut.isWellFormed()) return undefined;
  let end = cut.length;
  while (end > 0) {
    const isPair =
      cut.charCodeAt(end - 1) >= LOW_SURROGATE_MIN && cut.charCodeAt(end - 1) <= SURROGATE_MAX;
    const start = end - (isPair ? 2 : 1);
    const codePoint = cut.codePointAt(start)!;
    if (codePoint < CODE_POINT_MAX) {
      return cut.slice(0, start) + String.fromCodePoint(nextScalarValue(codePoint));
    }
    end = start;
  }
  return undefined;
}

function nextScalarValue(codePoint: number): number {
  return codePoint === SURROGATE_MIN - 1 ? SURROGATE_MAX + 1 : codePoint + 1;
}

function truncateUpperBytes(bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (bytes.length <= length) return bytes;
  for (let last = length - 1; last >= 0; last--) {
    const byte = bytes[last]!;
    if (byte < 0xff) {
      const bound = bytes.slice(0, last + 1);
      bound[last] = byte + 1;
      return bound;
    }
  }
  return undefined;
}
