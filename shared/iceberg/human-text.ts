import { toHex } from '../bytes/index.ts';
import { dateFromDays, isoTimestamp, NANOS_PER_MICRO, shortTime, twoDigits } from './date-time.ts';
import { decimalText, doubleText, floatText } from './number-text.ts';
import type { PrimitiveType, SingleValue, Transform } from './types.ts';

const EPOCH_YEAR = 1970;
const HOURS_PER_DAY = 24;

/**
 * The text that people and partition paths show for a partition value, equal to Iceberg Java's
 * `Transform.toHumanString`; `null` for null.
 *
 * @param resultType the type of `value`, as `transformResultType` gives it
 */
export function humanText(
  transform: Transform,
  resultType: PrimitiveType,
  value: SingleValue | null,
): string {
  if (value === null) return 'null';
  if (typeof value === 'number') {
    switch (transform.kind) {
      case 'year':
        return fourDigits(EPOCH_YEAR + value);
      case 'month':
        return `${fourDigits(EPOCH_YEAR + Math.floor(value / 12))}-${twoDigits((((value % 12) + 12) % 12) + 1)}`;
      case 'day':
        return humanDay(value);
      case 'hour':
        return humanHour(value);
      default:
    }
  }
  return humanValue(resultType, value);
}

function humanValue(type: PrimitiveType, value: SingleValue): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) return type.kind === 'uuid' ? uuidText(value) : base64(value);
  if (typeof value === 'bigint') return humanBigint(type, value);
  switch (type.kind) {
    case 'date':
      return humanDay(value);
    case 'float':
      return floatText(value);
    case 'double':
      return doubleText(value);
    default:
      return String(value);
  }
}

function humanBigint(type: PrimitiveType, value: bigint): string {
  switch (type.kind) {
    case 'decimal':
      return decimalText(value, type.scale);
    case 'time':
      return shortTime(value * NANOS_PER_MICRO);
    case 'timestamp':
      return isoTimestamp(value * NANOS_PER_MICRO);
    case 'timestamptz':
      return `${isoTimestamp(value * NANOS_PER_MICRO)}+00:00`;
    case 'timestamp_ns':
      return isoTimestamp(value);
    case 'timestamptz_ns':
      return `${isoTimestamp(value)}+00:00`;
    default:
      return value.toString();
  }
}

/** Lower-case text of a uuid's 16 bytes. */
export function uuidText(bytes: Uint8Array): string {
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function humanDay(days: number): string {
  const { year, month, day } = dateFromDays(days);
  return `${fourDigits(year)}-${twoDigits(month)}-${twoDigits(day)}`;
}

function humanHour(hours: number): string {
  const days = Math.floor(hours / HOURS_PER_DAY);
  return `${humanDay(days)}-${twoDigits(hours - days * HOURS_PER_DAY)}`;
}

/** Java's `%04d`: the sign counts as one of the four characters. */
function fourDigits(value: number): string {
  return value < 0 ? `-${(-value).toString().padStart(3, '0')}` : value.toString().padStart(4, '0');
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
