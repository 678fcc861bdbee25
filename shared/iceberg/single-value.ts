import { assert, assertNever, IcebergError, toInt64 } from '../base/index.ts';
import { ByteReader, ByteWriter, decodeUtf8, encodeUtf8 } from '../bytes/index.ts';
import { MICROS_PER_DAY, NANOS_PER_MICRO } from './date-time.ts';
import { decimalFromBytes, decimalToBytes } from './decimal-bytes.ts';
import { typeText } from './type-text.ts';
import type { PrimitiveType, SingleValue } from './types.ts';

/** 38 digits fit 16 bytes; one more allows for writers that keep a spare sign byte. */
const DECIMAL_BYTES_MAX = 17;

/**
 * The binary single-value serialization of a value: what bounds and partition summaries hold. Strings,
 * fixed and binary are taken as they are, so truncate first where bounds are truncated. Geometry and
 * geography bounds are opaque bytes.
 *
 * @see Iceberg spec, "Binary single-value serialization"
 */
export function encodeSingleValue(type: PrimitiveType, value: SingleValue): Uint8Array {
  if (typeof value === 'string') return encodeUtf8(value);
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'boolean') return Uint8Array.of(value ? 1 : 0);
  const writer = new ByteWriter();
  switch (type.kind) {
    case 'int':
    case 'date':
      writer.i32le(requireNumber(value, type));
      break;
    case 'float':
      writer.f32le(requireNumber(value, type));
      break;
    case 'double':
      writer.f64le(requireNumber(value, type));
      break;
    case 'decimal':
      return decimalToBytes(requireBigint(value, type));
    default:
      writer.i64le(requireBigint(value, type));
  }
  return writer.finish();
}

/**
 * Reads a value from its binary single-value serialization. Bytes of the type that a column had before it
 * was promoted are understood: 4 bytes for long, double, timestamp and timestamp_ns.
 *
 * @returns fixed, binary, uuid, geometry and geography as a view of `bytes`
 * @throws invalid-data — when the bytes do not fit the type
 * @see Iceberg spec, "Binary single-value serialization" and "Schema Evolution"
 */
export function decodeSingleValue(
  type: PrimitiveType,
  bytes: Uint8Array,
  subject: string,
): SingleValue {
  switch (type.kind) {
    case 'boolean':
      requireLength(type, bytes, [1], subject);
      return bytes[0] !== 0;
    case 'int':
    case 'date':
      return readerOf(type, bytes, [4], subject).i32le();
    case 'float':
      return readerOf(type, bytes, [4], subject).f32le();
    case 'double': {
      const reader = readerOf(type, bytes, [4, 8], subject);
      return bytes.length === 4 ? reader.f32le() : reader.f64le();
    }
    case 'long':
    case 'timestamp':
    case 'timestamp_ns':
      return readPromotable(type, bytes, subject);
    case 'time':
    case 'timestamptz':
    case 'timestamptz_ns':
      return readerOf(type, bytes, [8], subject).i64le();
    case 'decimal':
      if (bytes.length === 0 || bytes.length > DECIMAL_BYTES_MAX) {
        throw wrongLength(type, bytes, `1 to ${DECIMAL_BYTES_MAX}`, subject);
      }
      return decimalFromBytes(bytes);
    case 'string':
      return decodeUtf8(bytes, subject);
    case 'uuid':
      requireLength(type, bytes, [16], subject);
      return bytes;
    case 'fixed':
      // Truncated bounds of a fixed column are shorter than the column's values.
      if (bytes.length > type.lengthBytes) {
        throw wrongLength(type, bytes, `at most ${type.lengthBytes}`, subject);
      }
      return bytes;
    case 'binary':
    case 'geometry':
    case 'geography':
      return bytes;
    case 'unknown':
      throw new IcebergError('invalid-data', `${subject}: a value of type unknown`);
    default:
      return assertNever(type, 'type');
  }
}

/** Four bytes come from the type before promotion: int for long, date for timestamps. */
function readPromotable(type: PrimitiveType, bytes: Uint8Array, subject: string): bigint {
  const reader = readerOf(type, bytes, [4, 8], subject);
  if (bytes.length === 8) return reader.i64le();
  const value = BigInt(reader.i32le());
  if (type.kind === 'long') return value;
  const micros = value * MICROS_PER_DAY;
  return type.kind === 'timestamp' ? micros : toInt64(micros * NANOS_PER_MICRO, subject);
}

function readerOf(
  type: PrimitiveType,
  bytes: Uint8Array,
  lengths: readonly number[],
  subject: string,
): ByteReader {
  requireLength(type, bytes, lengths, subject);
  return new ByteReader(bytes, subject);
}

function requireLength(
  type: PrimitiveType,
  bytes: Uint8Array,
  lengths: readonly number[],
  subject: string,
): void {
  if (!lengths.includes(bytes.length))
    throw wrongLength(type, bytes, lengths.join(' or '), subject);
}

function wrongLength(
  type: PrimitiveType,
  bytes: Uint8Array,
  expected: string,
  subject: string,
): IcebergError {
  return new IcebergError(
    'invalid-data',
    `${subject}: a value of type ${typeText(type)} has ${bytes.length} bytes, expected ${expected}`,
  );
}

function requireNumber(value: number | bigint, type: PrimitiveType): number {
  assert(typeof value === 'number', `single value: type ${type.kind} needs a number`);
  return value;
}

function requireBigint(value: number | bigint, type: PrimitiveType): bigint {
  assert(typeof value === 'bigint', `single value: type ${type.kind} needs a bigint`);
  return value;
}
