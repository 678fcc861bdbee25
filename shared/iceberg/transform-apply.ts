import { assert, assertNever, IcebergError } from '../base/index.ts';
import { ByteWriter, encodeUtf8 } from '../bytes/index.ts';
import {
  dateFromDays,
  floorDivide,
  MICROS_PER_DAY,
  MICROS_PER_HOUR,
  NANOS_PER_MICRO,
} from './date-time.ts';
import { decimalToBytes } from './decimal-bytes.ts';
import { murmur3 } from './murmur3.ts';
import { canTransform, transformText } from './transform.ts';
import { typeText } from './type-text.ts';
import type { PrimitiveType, SingleValue, Transform } from './types.ts';

const EPOCH_YEAR = 1970;

/**
 * The partition value that a transform makes of a source value; null for null, and always for void.
 * Results beyond 32 bits (hours of absurd timestamps) wrap around, as in Iceberg Java.
 *
 * @param sourceType the type of `value`
 * @throws unsupported — when the transform is unrecognized, or does not take the type
 * @see Iceberg spec, "Partition Transforms"
 */
export function applyTransform(
  transform: Transform,
  sourceType: PrimitiveType,
  value: SingleValue | null,
): SingleValue | null {
  if (!canTransform(transform, sourceType)) {
    throw new IcebergError(
      'unsupported',
      `transform ${transformText(transform)}: does not take values of type ${typeText(sourceType)}`,
    );
  }
  if (value === null) return null;
  switch (transform.kind) {
    case 'void':
    case 'unrecognized':
      return null;
    case 'identity':
      return value;
    case 'bucket':
      return (hashValue(sourceType, value) & 0x7fffffff) % transform.bucketCount;
    case 'truncate':
      return truncateValue(value, transform.width, sourceType);
    case 'year':
    case 'month':
      return calendarOrdinal(transform.kind, sourceType, value);
    case 'day':
      return toDays(sourceType, value);
    case 'hour':
      return wrapInt32(floorDivide(toMicros(sourceType, value), MICROS_PER_HOUR));
    default:
      return assertNever(transform, 'transform');
  }
}

/** The first `length` code points of a text. */
export function firstCodePoints(text: string, length: number): string {
  let units = 0;
  for (let count = 0; count < length && units < text.length; count++) {
    units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}

/** @see Iceberg spec, "Appendix B: 32-bit Hash Requirements" */
function hashValue(type: PrimitiveType, value: SingleValue): number {
  if (typeof value === 'string') return murmur3(encodeUtf8(value));
  if (value instanceof Uint8Array) return murmur3(value);
  if (type.kind === 'decimal') return murmur3(decimalToBytes(value as bigint));
  if (type.kind === 'timestamp_ns' || type.kind === 'timestamptz_ns') {
    return hashLong(toMicros(type, value));
  }
  return hashLong(typeof value === 'bigint' ? value : BigInt(value));
}

function hashLong(value: bigint): number {
  const writer = new ByteWriter();
  writer.i64le(value);
  return murmur3(writer.finish());
}

function truncateValue(value: SingleValue, width: number, type: PrimitiveType): SingleValue {
  if (typeof value === 'string') return firstCodePoints(value, width);
  if (value instanceof Uint8Array) return value.subarray(0, width);
  if (typeof value === 'bigint') {
    const bigWidth = BigInt(width);
    const truncated = value - (((value % bigWidth) + bigWidth) % bigWidth);
    return type.kind === 'long' ? BigInt.asIntN(64, truncated) : truncated;
  }
  assert(typeof value === 'number', 'truncate: value of type int is not a number');
  // Every step is cut to 32 bits, so that the overflows of Java's int arithmetic come out the same.
  const remainder = (((value % width) + width) | 0) % width;
  return (value - remainder) | 0;
}

function calendarOrdinal(unit: 'year' | 'month', type: PrimitiveType, value: SingleValue): number {
  const { year, month } = dateFromDays(toDays(type, value));
  const years = year - EPOCH_YEAR;
  return unit === 'year' ? years : years * 12 + month - 1;
}

function toDays(type: PrimitiveType, value: SingleValue): number {
  if (typeof value === 'number') return value;
  return wrapInt32(floorDivide(toMicros(type, value), MICROS_PER_DAY));
}

function toMicros(type: PrimitiveType, value: SingleValue): bigint {
  assert(typeof value === 'bigint', `transform: value of type ${type.kind} is not a bigint`);
  const isNanos = type.kind === 'timestamp_ns' || type.kind === 'timestamptz_ns';
  return isNanos ? floorDivide(value, NANOS_PER_MICRO) : value;
}

function wrapInt32(value: bigint): number {
  return Number(BigInt.asIntN(32, value));
}
