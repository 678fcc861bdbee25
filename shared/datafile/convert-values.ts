import { IcebergError, toInt64 } from '../base/index.ts';
import { type PhysicalValues, physicalValueAt } from '../parquet/index.ts';

const JULIAN_DAY_OF_EPOCH = 2_440_588;
const NANOS_PER_DAY = 86_400_000_000_000n;
const NANOS_PER_MICRO = 1000n;

/** Turns values of one physical form into another, without nulls. Never changes what they mean. */
export type ValueConversion = (values: PhysicalValues, subject: string) => PhysicalValues;

/** INT32 to INT64, multiplied: 1 for int to long; milliseconds to microseconds; days to timestamps. */
export function int32ToInt64(factor: bigint): ValueConversion {
  return (values, subject) =>
    toInt64Values(values, (view) => toInt64(BigInt(view.getInt32(0, true)) * factor, subject));
}

/** INT64 to INT64, multiplied. */
export function scaleInt64(factor: bigint): ValueConversion {
  return (values, subject) =>
    toInt64Values(values, (view) => toInt64(view.getBigInt64(0, true) * factor, subject));
}

export const floatToDouble: ValueConversion = (values) =>
  mapFixedWidth(values, 8, (source, target) =>
    target.setFloat64(0, source.getFloat32(0, true), true),
  );

/**
 * INT96 to microseconds since 1970.
 *
 * @throws unsupported — when a value has a fraction of a microsecond, which would be lost
 * @throws invalid-data — when the time of day is not one
 */
export const int96ToMicros: ValueConversion = (values, subject) =>
  toInt64Values(values, (view) => {
    const nanosOfDay = view.getBigInt64(0, true);
    const days = BigInt(view.getInt32(8, true) - JULIAN_DAY_OF_EPOCH);
    if (nanosOfDay < 0n || nanosOfDay >= NANOS_PER_DAY) {
      throw new IcebergError('invalid-data', `${subject}: INT96 time of day ${nanosOfDay}`);
    }
    if (nanosOfDay % NANOS_PER_MICRO !== 0n) {
      throw new IcebergError('unsupported', `${subject}: INT96 value finer than a microsecond`);
    }
    return toInt64((days * NANOS_PER_DAY + nanosOfDay) / NANOS_PER_MICRO, subject);
  });

/** How a decimal's unscaled value is stored: little-endian in integers, big-endian in bytes. */
export type DecimalForm = FixedDecimalForm | { readonly kind: 'byte-array' };

export type FixedDecimalForm =
  | { readonly kind: 'int32' | 'int64' }
  | { readonly kind: 'fixed'; readonly lengthBytes: number };

/** Between forms of decimals of one scale. @throws invalid-data — when a value does not fit the target */
export function convertDecimal(source: DecimalForm, target: FixedDecimalForm): ValueConversion {
  const widthBytes = target.kind === 'fixed' ? target.lengthBytes : target.kind === 'int32' ? 4 : 8;
  return (values, subject) => {
    const bytes = new Uint8Array(values.count * widthBytes);
    for (let index = 0; index < values.count; index++) {
      const value = physicalValueAt(values, index);
      if (value.length === 0) {
        throw new IcebergError('invalid-data', `${subject}: a decimal of no bytes`);
      }
      const unscaled = unscaledValue(value, source);
      if (BigInt.asIntN(widthBytes * 8, unscaled) !== unscaled) {
        const problem = `decimal ${unscaled} does not fit ${widthBytes} bytes`;
        throw new IcebergError('invalid-data', `${subject}: ${problem}`);
      }
      const isBigEndian = target.kind === 'fixed';
      const start = index * widthBytes;
      writeUnscaled(bytes.subarray(start, start + widthBytes), unscaled, isBigEndian);
    }
    return { kind: 'fixed-width', widthBytes, count: values.count, bytes };
  };
}

function unscaledValue(bytes: Uint8Array, form: DecimalForm): bigint {
  const isBigEndian = form.kind === 'fixed' || form.kind === 'byte-array';
  let unsigned = 0n;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[isBigEndian ? index : bytes.length - 1 - index]!;
    unsigned = (unsigned << 8n) | BigInt(byte);
  }
  return BigInt.asIntN(bytes.length * 8, unsigned);
}

function writeUnscaled(target: Uint8Array, unscaled: bigint, isBigEndian: boolean): void {
  let rest = BigInt.asUintN(target.length * 8, unscaled);
  for (let index = 0; index < target.length; index++) {
    target[isBigEndian ? target.length - 1 - index : index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
}

function toInt64Values(
  values: PhysicalValues,
  convert: (view: DataView) => bigint,
): PhysicalValues {
  return mapFixedWidth(values, 8, (source, target) => target.setBigInt64(0, convert(source), true));
}

function mapFixedWidth(
  values: PhysicalValues,
  widthBytes: number,
  write: (source: DataView, target: DataView) => void,
): PhysicalValues {
  const bytes = new Uint8Array(values.count * widthBytes);
  for (let index = 0; index < values.count; index++) {
    const source = physicalValueAt(values, index);
    write(
      new DataView(source.buffer, source.byteOffset, source.byteLength),
      new DataView(bytes.buffer, index * widthBytes, widthBytes),
    );
  }
  return { kind: 'fixed-width', widthBytes, count: values.count, bytes };
}
