import type { AvroRecord, AvroType, AvroValue } from '../avro/index.ts';
import { IcebergError, type JsonObject, type JsonValue } from '../base/index.ts';
import { decimalFromBytes, decimalToBytes } from './decimal-bytes.ts';
import { type StructShape, structShape, withoutOption } from './manifest-struct.ts';
import type { PartitionType, PartitionTypeField } from './partition-spec.ts';
import { typeText } from './type-text.ts';
import type { Partition, PartitionSpec, PrimitiveType, SingleValue } from './types.ts';

/** Turns the partition struct of an entry into a tuple in spec order. */
export type PartitionReader = (value: AvroValue | undefined) => Partition;

const INT32_MIN = -(2n ** 31n);
const INT32_MAX = 2n ** 31n - 1n;

/**
 * Prepares reading the partition structs of one file. Fields are found by their ids; an int where the type
 * has become long is widened. A void field may be missing, any other must be there.
 *
 * @throws invalid-data — when a field is missing or its Avro type cannot hold the partition field's type
 */
export function compilePartitionReader(
  avroType: AvroType | undefined,
  spec: PartitionSpec,
  type: PartitionType,
  subject: string,
): PartitionReader {
  if (spec.fields.length === 0) return () => [];
  const shape = structShape(avroType, [], `${subject}: partition`);
  const readers = type.fields.map((field, index) =>
    compileField(shape, field, spec.fields[index]?.transform.kind, subject),
  );
  return (value) => {
    if (typeof value !== 'object' || value === null) {
      throw new IcebergError('invalid-data', `${subject}: partition is missing`);
    }
    return readers.map((read) => read(value as AvroRecord));
  };
}

function compileField(
  shape: StructShape,
  field: PartitionTypeField,
  transformKind: string | undefined,
  subject: string,
): (record: AvroRecord) => SingleValue | null {
  const fieldSubject = `${subject}: partition field ${field.fieldId}`;
  const avroField = shape.fieldsById.get(field.fieldId);
  if (avroField === undefined) {
    if (transformKind === 'void') return () => null;
    throw new IcebergError('invalid-data', `${fieldSubject} is missing`);
  }
  // Nothing is known of what an unknown transform or a lost source column gives: its values stay as read.
  const isTypeKnown = transformKind !== 'unrecognized' && field.type.kind !== 'unknown';
  const avroType = withoutOption(avroField.type);
  const convert = converter(avroType, isTypeKnown ? field.type : undefined, fieldSubject);
  return (record) => {
    const value = record[avroField.name];
    return value === undefined || value === null ? null : convert(value);
  };
}

function converter(
  avroType: AvroType | undefined,
  type: PrimitiveType | undefined,
  subject: string,
): (value: AvroValue) => SingleValue {
  const mismatch = (): IcebergError =>
    new IcebergError(
      'invalid-data',
      `${subject}: avro ${avroType?.kind} does not hold ${type && typeText(type)}`,
    );
  switch (avroType?.kind) {
    case 'null':
      return () => {
        throw mismatch();
      };
    case 'boolean':
    case 'string':
      if (type !== undefined && type.kind !== avroType.kind) throw mismatch();
      return (value) => value as SingleValue;
    case 'int':
      if (type?.kind === 'long') return (value) => BigInt(value as number);
      if (type !== undefined && type.kind !== 'int' && type.kind !== 'date') throw mismatch();
      return (value) => value as number;
    case 'long':
      if (type?.kind === 'int' || type?.kind === 'date') return (value) => toInt(value, subject);
      if (type !== undefined && !LONG_KINDS.includes(type.kind)) throw mismatch();
      return (value) => value as bigint;
    case 'float':
    case 'double':
      if (type !== undefined && type.kind !== 'float' && type.kind !== 'double') throw mismatch();
      return (value) => value as number;
    case 'bytes':
    case 'fixed':
      return bytesConverter(avroType, type, mismatch);
    default:
      throw mismatch();
  }
}

/** For Avro bytes and fixed. */
function bytesConverter(
  avroType: Extract<AvroType, { readonly source: JsonObject }>,
  type: PrimitiveType | undefined,
  mismatch: () => IcebergError,
): (value: AvroValue) => SingleValue {
  const isDecimal = avroType.source['logicalType'] === 'decimal';
  if (type?.kind === 'decimal' || (type === undefined && isDecimal)) {
    if (!isDecimal) throw mismatch();
    return (value) => decimalFromBytes(value as Uint8Array);
  }
  const sizeBytes = avroType.kind === 'fixed' ? avroType.sizeBytes : undefined;
  switch (type?.kind) {
    case 'uuid':
      if (sizeBytes !== 16) throw mismatch();
      break;
    case 'fixed':
      if (sizeBytes !== type.lengthBytes) throw mismatch();
      break;
    case 'binary':
    case undefined:
      break;
    default:
      throw mismatch();
  }
  return (value) => value as Uint8Array;
}

const LONG_KINDS: readonly string[] = [
  'long',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
];

function toInt(value: AvroValue, subject: string): number {
  const long = value as bigint;
  if (long < INT32_MIN || long > INT32_MAX) {
    throw new IcebergError('invalid-data', `${subject}: ${long} does not fit 32 bits`);
  }
  return Number(long);
}

/** How the partition tuples of a manifest are written. */
export interface PartitionAvro {
  readonly avroType: JsonObject;
  /** The struct of one tuple. */
  toRecord(partition: Partition): AvroRecord;
}

/** The Avro record of a partition type. Names that Avro does not allow are replaced; ids are what counts. */
export function partitionAvro(type: PartitionType): PartitionAvro {
  const names = avroNames(type);
  const fields = type.fields.map((field, index) => ({
    name: names[index] ?? field.name,
    type: ['null', primitiveAvroType(field)],
    default: null,
    ...(names[index] === field.name ? {} : { 'iceberg-field-name': field.name }),
    'field-id': field.fieldId,
  }));
  return {
    avroType: { type: 'record', name: 'r102', fields },
    toRecord(partition) {
      const values = type.fields.map((field, index) => {
        return [names[index], toAvroValue(field.type, partition[index] ?? null)];
      });
      return Object.fromEntries(values);
    },
  };
}

function toAvroValue(type: PrimitiveType, value: SingleValue | null): AvroValue {
  if (type.kind !== 'decimal' || typeof value !== 'bigint') return value;
  const bytes = decimalToBytes(value);
  const fixed = new Uint8Array(decimalSizeBytes(type.precision)).fill(value < 0n ? 0xff : 0);
  if (bytes.length > fixed.length) {
    throw new IcebergError('invalid-data', `partition: ${value} is no ${typeText(type)}`);
  }
  fixed.set(bytes, fixed.length - bytes.length);
  return fixed;
}

function avroNames(type: PartitionType): readonly string[] {
  const names: string[] = [];
  for (const field of type.fields) {
    const name = avroName(field.name);
    names.push(names.includes(name) ? `${name}_${field.fieldId}` : name);
  }
  return names;
}

/** @see Iceberg spec, "Appendix A: Format-specific Requirements", Avro */
function primitiveAvroType({ type, fieldId }: PartitionTypeField): JsonValue {
  switch (type.kind) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'string':
      return type.kind;
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'time':
      return { type: 'long', logicalType: 'time-micros' };
    case 'timestamp':
    case 'timestamptz':
      return timestampType('timestamp-micros', type.kind === 'timestamptz');
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return timestampType('timestamp-nanos', type.kind === 'timestamptz_ns');
    case 'decimal': {
      const { precision, scale } = type;
      const size = decimalSizeBytes(precision);
      const attributes = { size, logicalType: 'decimal', precision, scale };
      return fixedType(fieldId, attributes);
    }
    case 'uuid':
      return fixedType(fieldId, { size: 16, logicalType: 'uuid' });
    case 'fixed':
      return fixedType(fieldId, { size: type.lengthBytes });
    case 'binary':
    case 'geometry':
    case 'geography':
      return 'bytes';
    case 'unknown':
      throw new IcebergError('unsupported', 'manifest: a partition field of a lost source column');
  }
}

function timestampType(logicalType: string, isUtc: boolean): JsonObject {
  return { type: 'long', logicalType, 'adjust-to-utc': isUtc };
}

/** Each field has its own named type: PyIceberg does not find a type that is defined in another field. */
function fixedType(fieldId: number, attributes: JsonObject): JsonValue {
  return { type: 'fixed', name: `fixed_${fieldId}`, ...attributes };
}

/** The least bytes whose two's complement holds every unscaled value of the precision. */
function decimalSizeBytes(precision: number): number {
  const bits = (10n ** BigInt(precision)).toString(2).length + 1;
  return Math.ceil(bits / 8);
}

function avroName(name: string): string {
  const text = name.replace(/[^A-Za-z0-9_]/g, (unit) => {
    return `_x${unit.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return /^\d/.test(text) || text === '' ? `_${text}` : text;
}
