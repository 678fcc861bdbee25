import { compareBytes, decodeUtf8, encodeUtf8 } from '../bytes/index.ts';
import type { ValueBounds, ValueOrder } from './encode-bounds.ts';
import type { Statistics } from './metadata-types.ts';

/** Longer bounds are cut, and marked as not exact. The page index of other writers uses the same length. */
const BOUND_BYTES_MAX = 64;

/** Statistics of a page or chunk; byte arrays and text are cut to bounds of at most 64 bytes. */
export function statisticsOf(
  bounds: ValueBounds | undefined,
  nullCount: number,
  order: ValueOrder,
): Statistics {
  if (bounds === undefined) return { nullCount };
  const minValue = lowerBound(bounds.min, order);
  const maxValue = upperBound(bounds.max, order);
  return {
    nullCount,
    minValue,
    isMinValueExact: minValue.length === bounds.min.length,
    ...(maxValue === undefined
      ? {}
      : { maxValue, isMaxValueExact: compareBytes(maxValue, bounds.max) === 0 }),
  };
}

function lowerBound(min: Uint8Array, order: ValueOrder): Uint8Array {
  // A copy: bounds outlive the page whose bytes they are.
  if (min.length <= BOUND_BYTES_MAX || !isCut(order)) return min.slice();
  return min.slice(0, order === 'text' ? textCutLength(min) : BOUND_BYTES_MAX);
}

/** `undefined` when no short value lies above: then there is no upper bound. */
function upperBound(max: Uint8Array, order: ValueOrder): Uint8Array | undefined {
  if (max.length <= BOUND_BYTES_MAX || !isCut(order)) return max.slice();
  if (order === 'text') {
    const text = incrementText(max.subarray(0, textCutLength(max)));
    if (text !== undefined) return text;
  }
  return incrementBytes(max.slice(0, BOUND_BYTES_MAX));
}

function isCut(order: ValueOrder): boolean {
  return order === 'text' || order === 'bytes';
}

/** The greatest length up to the limit that does not cut a UTF-8 character. */
function textCutLength(bytes: Uint8Array): number {
  let length = BOUND_BYTES_MAX;
  while (length > 0 && (bytes[length]! & 0xc0) === 0x80) length--;
  return length;
}

/** The text with its last code point that can grow grown by one; `undefined` if none can, or it is not text. */
function incrementText(bytes: Uint8Array): Uint8Array | undefined {
  const characters = Array.from(textOrEmpty(bytes));
  while (characters.length > 0) {
    const codePoint = characters.pop()!.codePointAt(0)!;
    // Surrogates are not characters: the one after U+D7FF is U+E000.
    const next = codePoint === 0xd7ff ? 0xe000 : codePoint + 1;
    if (next <= 0x10ffff) return encodeUtf8(characters.join('') + String.fromCodePoint(next));
  }
  return undefined;
}

function textOrEmpty(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes, 'bound');
  } catch {
    // Writers do store other bytes in text columns; the bound is then made of bytes.
    return '';
  }
}

function incrementBytes(bytes: Uint8Array): Uint8Array | undefined {
  for (let index = bytes.length - 1; index >= 0; index--) {
    if (bytes[index] === 0xff) continue;
    const incremented = bytes.slice(0, index + 1);
    incremented[index] = bytes[index]! + 1;
    return incremented;
  }
  return undefined;
}
