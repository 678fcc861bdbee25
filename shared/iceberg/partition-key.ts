import { toHex } from '../bytes/index.ts';
import type { Partition, SingleValue } from './types.ts';

/**
 * A text that is equal exactly when spec and partition are: `-0.0` differs from `0.0`, null from every value, one
 * NaN equals another. Whole numbers are equal whether they were read as int or, after promotion, as long.
 *
 * @see Iceberg Java, `StructLikeMap` and `Comparators` for what equal means
 */
export function partitionKey(specId: number, partition: Partition): string {
  return `${specId}:${partition.map(valueKey).join('')}`;
}

/** Tag, text and length of one value; the length keeps neighbouring texts apart. */
function valueKey(value: SingleValue | null): string {
  if (value === null) return '~;';
  if (typeof value === 'string') return `s${value.length}:${value};`;
  if (typeof value === 'boolean') return value ? 't;' : 'f;';
  if (typeof value === 'bigint') return `i${value};`;
  if (value instanceof Uint8Array) return `b${toHex(value)};`;
  if (Object.is(value, -0)) return 'd-0;';
  return Number.isInteger(value) ? `i${value};` : `d${value};`;
}
