import { assert } from '../base/index.ts';
import { compareBytes } from '../bytes/index.ts';
import type { SingleValue } from './types.ts';

/**
 * Orders two values of the same type: negative, zero or positive. Strings by the order of their UTF-8
 * bytes, binary, fixed and uuid by unsigned bytes, numbers with −0.0 below 0.0 and NaN above everything
 * (bounds never hold NaN). False comes before true.
 */
export function compareSingleValues(one: SingleValue, other: SingleValue): number {
  if (typeof one === 'string' && typeof other === 'string') return compareCodePoints(one, other);
  if (one instanceof Uint8Array && other instanceof Uint8Array) return compareBytes(one, other);
  if (typeof one === 'number' && typeof other === 'number') return compareNumbers(one, other);
  assert(typeof one === typeof other, 'compare: values of different types');
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function compareNumbers(one: number, other: number): number {
  if (one < other) return -1;
  if (one > other) return 1;
  return rank(one) - rank(other);
}

/** Tells apart what `<` and `>` do not: −0.0, everything else, NaN. */
function rank(value: number): number {
  if (Number.isNaN(value)) return 1;
  return Object.is(value, -0) ? -1 : 0;
}

/** UTF-16 order differs from UTF-8 order only where a surrogate meets a unit from 0xE000 on. */
function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const left = one.charCodeAt(index);
    const right = other.charCodeAt(index);
    if (left !== right) return orderOf(left) - orderOf(right);
  }
  return one.length - other.length;
}

function orderOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
