import { IcebergError, JsonNumber, type JsonValue, toInt64 } from '../base/index.ts';
import { fromHex, toHex } from '../bytes/index.ts';
import {
  floorDivide,
  isoDate,
  isoTime,
  isoTimestamp,
  NANOS_PER_MICRO,
  parseIsoDate,
  parseIsoTime,
  parseIsoTimestamp,
} from './date-time.ts';
import { uuidText } from './human-text.ts';
import { toInt32 } from './json-fields.ts';
import { doubleText, floatText, plainDecimalText } from './number-text.ts';
import { typeText } from './type-text.ts';
import type { PrimitiveType, SingleValue } from './types.ts';

const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const DECIMAL = /^(-?)(\d{1,38})(?:\.(\d{1,38}))?$/;
const UTC_OFFSET = /(?:\+00:00|Z)$/i;

/**
 * The JSON single-value form of a value, as column defaults hold it.
 *
 * @throws unsupported — for NaN and infinities, which JSON cannot say, and for geometry and geography
 * @see Iceberg spec, "JSON single-value serialization"
 */
export function singleValueToJson(type: PrimitiveType, value: SingleValue): JsonValue {
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return bytesToJson(type, value);
  if (typeof value === 'bigint') return bigintToJson(type, value);
  switch (type.kind) {
    case 'date':
      return isoDate(value);
    case 'float':
    case 'double':
      if (!Number.isFinite(value)) throw unsupported(type, String(value));
      return new JsonNumber(type.kind === 'float' ? floatText(value) : doubleText(value));
    default:
      return value;
  }
}

/**
 * Reads a value from its JSON single-value form; null for null.
 *
 * @throws invalid-data — when the JSON does not fit the type
 * @throws unsupported — for geometry and geography, whose only default is null
 */
export function singleValueFromJson(
  type: PrimitiveType,
  json: JsonValue,
  subject: string,
): SingleValue | null {
  if (json === null) return null;
  switch (type.kind) {
    case 'boolean':
      if (typeof json === 'boolean') return json;
      throw notOf(type, subject);
    case 'int':
      return toInt32(json, subject);
    case 'long':
      if (typeof json === 'bigint') return toInt64(json, subject);
      if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
      throw notOf(type, subject);
    case 'float':
      return Math.fround(parseNumber(type, json, subject));
    case 'double':
      return parseNumber(type, json, subject);
    case 'geometry':
    case 'geography':
    case 'unknown':
      throw unsupported(type, 'other than null');
    default:
      if (typeof json !== 'string') throw notOf(type, subject);
      return valueFromText(type, json, subject);
  }
}

function valueFromText(type: PrimitiveType, text: string, subject: string): SingleValue {
  switch (type.kind) {
    case 'string':
      return text;
    case 'decimal':
      return parseDecimal(type, text, subject);
    case 'date':
      return toInt32(parseIsoDate(text, subject), subject);
    case 'time':
      return floorDivide(parseIsoTime(text, subject), NANOS_PER_MICRO);
    case 'timestamp':
      return floorDivide(parseIsoTimestamp(text, subject), NANOS_PER_MICRO);
    case 'timestamptz':
      return floorDivide(
        parseIsoTimestamp(withoutOffset(type, text, subject), subject),
        NANOS_PER_MICRO,
      );
    case 'timestamp_ns':
      return toInt64(parseIsoTimestamp(text, subject), subject);
    case 'timestamptz_ns':
      return toInt64(parseIsoTimestamp(withoutOffset(type, text, subject), subject), subject);
    case 'uuid':
      if (!UUID.test(text)) throw notOf(type, subject);
      return fromHex(text.replaceAll('-', ''));
    case 'fixed':
      if (text.length !== type.lengthBytes * 2) throw notOf(type, subject);
      return fromHex(text);
    case 'binary':
      return fromHex(text);
    default:
      throw notOf(type, subject);
  }
}

function bytesToJson(type: PrimitiveType, bytes: Uint8Array): string {
  if (type.kind === 'geometry' || type.kind === 'geography') throw unsupported(type, 'as JSON');
  return type.kind === 'uuid' ? uuidText(bytes) : toHex(bytes);
}

function bigintToJson(type: PrimitiveType, value: bigint): JsonValue {
  switch (type.kind) {
    case 'decimal':
      return plainDecimalText(value, type.scale);
    case 'time':
      return isoTime(value * NANOS_PER_MICRO);
    case 'timestamp':
      return isoTimestamp(value * NANOS_PER_MICRO);
    case 'timestamptz':
      return `${isoTimestamp(value * NANOS_PER_MICRO)}+00:00`;
    case 'timestamp_ns':
      return isoTimestamp(value);
    case 'timestamptz_ns':
      return `${isoTimestamp(value)}+00:00`;
    default:
      return value;
  }
}

function parseNumber(type: PrimitiveType, json: JsonValue, subject: string): number {
  if (typeof json === 'number') return json;
  if (typeof json === 'bigint') return Number(json);
  if (json instanceof JsonNumber) return Number(json.text);
  throw notOf(type, subject);
}

function parseDecimal(
  type: { readonly kind: 'decimal'; readonly precision: number; readonly scale: number },
  text: string,
  subject: string,
): bigint {
  const match = DECIMAL.exec(text);
  if (match === null) throw notOf(type, subject);
  const [, sign = '', whole = '', fraction = ''] = match;
  if (fraction.length !== type.scale) throw notOf(type, subject);
  const unscaled = BigInt(whole + fraction);
  if (unscaled >= 10n ** BigInt(type.precision)) throw notOf(type, subject);
  return sign === '-' ? -unscaled : unscaled;
}

function withoutOffset(type: PrimitiveType, text: string, subject: string): string {
  if (!UTC_OFFSET.test(text)) throw notOf(type, subject);
  return text.replace(UTC_OFFSET, '');
}

function notOf(type: PrimitiveType, subject: string): IcebergError {
  return new IcebergError(
    'invalid-data',
    `${subject}: is not a JSON value of type ${typeText(type)}`,
  );
}

function unsupported(type: PrimitiveType, what: string): IcebergError {
  return new IcebergError(
    'unsupported',
    `single value: type ${typeText(type)} has no value ${what}`,
  );
}
