import { IcebergError } from './errors.ts';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Turns a quantity (size, count, offset, milliseconds) into a number.
 *
 * @param subject names the object and field for the error message
 * @throws unsupported — when the value lies beyond ±(2^53 − 1)
 * @throws invalid-data — when a number is not an integer
 */
export function toSafeNumber(value: bigint | number, subject: string): number {
  if (typeof value === 'number' && !Number.isInteger(value)) {
    throw new IcebergError('invalid-data', `${subject}: ${value} is not an integer`);
  }
  const quantity = Number(value);
  if (!Number.isSafeInteger(quantity)) {
    throw new IcebergError(
      'unsupported',
      `${subject}: ${value} exceeds the largest safe integer ${Number.MAX_SAFE_INTEGER}`,
    );
  }
  return quantity;
}

/** As `toSafeNumber`, and refuses negative values as `invalid-data`. */
export function toCount(value: bigint | number, subject: string): number {
  const count = toSafeNumber(value, subject);
  if (count < 0) throw new IcebergError('invalid-data', `${subject}: ${count} is negative`);
  return count;
}

/**
 * Checks that a bigint fits a signed 64-bit integer.
 *
 * @throws invalid-data — when it does not
 */
export function toInt64(value: bigint, subject: string): bigint {
  if (value < INT64_MIN || value > INT64_MAX) {
    throw new IcebergError('invalid-data', `${subject}: ${value} does not fit 64 bits`);
  }
  return value;
}
