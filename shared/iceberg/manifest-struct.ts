import {
  type AvroField,
  type AvroRecord,
  type AvroType,
  type AvroValue,
  serializeAvroType,
} from '../avro/index.ts';
import { IcebergError, type JsonObject, toCount, toSafeNumber } from '../base/index.ts';
import type { ManifestField } from './manifest-fields.ts';
import type { UnknownField } from './manifest-types.ts';

/** How the structs of one file lie in its Avro schema. */
export interface StructShape {
  readonly fieldsById: ReadonlyMap<number, AvroField>;
  /** Fields that Firn does not know, by the id or name that it does not know. */
  readonly unknownFields: readonly AvroField[];
}

/**
 * Finds the fields of a struct by their ids; names do not matter.
 *
 * @throws invalid-data — when the type is not a record, or an id stands twice
 */
export function structShape(
  type: AvroType | undefined,
  knownIds: readonly number[],
  subject: string,
): StructShape {
  const record = withoutOption(type);
  if (record?.kind !== 'record') {
    throw new IcebergError('invalid-data', `${subject}: avro type is not a record`);
  }
  const fieldsById = new Map<number, AvroField>();
  const unknownFields: AvroField[] = [];
  for (const field of record.fields) {
    const id = field.source['field-id'];
    if (typeof id === 'number' && fieldsById.has(id)) {
      throw new IcebergError('invalid-data', `${subject}: field id ${id} stands twice`);
    }
    if (typeof id === 'number') fieldsById.set(id, field);
    if (typeof id !== 'number' || !knownIds.includes(id)) unknownFields.push(field);
  }
  return { fieldsById, unknownFields };
}

/** The type inside an optional type; a required type as it is. */
export function withoutOption(type: AvroType | undefined): AvroType | undefined {
  if (type?.kind !== 'option') return type;
  return type.branches.find((branch) => branch.kind !== 'null') ?? type.branches[0];
}

/** One struct of a manifest or manifest list; absent and null fields are `undefined`. */
export class StructReader {
  readonly #shape: StructShape;
  readonly #record: AvroRecord;
  readonly #subject: string;

  /** @throws invalid-data — when the value is not a struct */
  constructor(shape: StructShape, value: AvroValue | undefined, subject: string) {
    if (!isAvroRecord(value)) throw new IcebergError('invalid-data', `${subject}: is missing`);
    this.#shape = shape;
    this.#record = value;
    this.#subject = subject;
  }

  value(field: ManifestField): AvroValue | undefined {
    const avroField = this.#shape.fieldsById.get(field.id);
    if (avroField === undefined) return undefined;
    return this.#record[avroField.name] ?? undefined;
  }

  boolean(field: ManifestField): boolean | undefined {
    const value = this.value(field);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.invalid(field, 'is not a boolean');
  }

  int(field: ManifestField): number | undefined {
    const value = this.value(field);
    if (value === undefined || typeof value === 'number') return value;
    throw this.invalid(field, 'is not an int');
  }

  /** A long; an int is one too, as for any column that was widened. */
  long(field: ManifestField): bigint | undefined {
    const value = this.value(field);
    if (value === undefined || typeof value === 'bigint') return value;
    if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
    throw this.invalid(field, 'is not a long');
  }

  /** An id, sequence number or row id: a long of at least 0. */
  unsignedLong(field: ManifestField): bigint | undefined {
    const value = this.long(field);
    if (value !== undefined && value < 0n) throw this.invalid(field, `${value} is negative`);
    return value;
  }

  /** A size, count or offset. */
  count(field: ManifestField): number | undefined {
    const value = this.long(field);
    return value === undefined ? undefined : toCount(value, this.#name(field));
  }

  text(field: ManifestField): string | undefined {
    const value = this.value(field);
    if (value === undefined || typeof value === 'string') return value;
    throw this.invalid(field, 'is not a string');
  }

  bytes(field: ManifestField): Uint8Array | undefined {
    const value = this.value(field);
    if (value === undefined || value instanceof Uint8Array) return value;
    throw this.invalid(field, 'is not binary');
  }

  list(field: ManifestField): readonly AvroValue[] | undefined {
    const value = this.value(field);
    if (value === undefined || isAvroArray(value)) return value;
    throw this.invalid(field, 'is not a list');
  }

  /** A list of sizes, offsets or ids. */
  numbers(field: ManifestField): readonly number[] | undefined {
    return this.list(field)?.map((value) => this.#number(field, value));
  }

  /** A map from field id to a count, in Avro an array of key and value. */
  countMap(field: ManifestField): ReadonlyMap<number, number> | undefined {
    return this.#map(field, (value) => this.#number(field, value));
  }

  /** A map from field id to bytes. */
  bytesMap(field: ManifestField): ReadonlyMap<number, Uint8Array> | undefined {
    return this.#map(field, (value) => {
      if (value instanceof Uint8Array) return value;
      throw this.invalid(field, 'has a value that is not binary');
    });
  }

  requireInt(field: ManifestField): number {
    return this.require(field, this.int(field));
  }

  requireLong(field: ManifestField): bigint {
    return this.require(field, this.long(field));
  }

  requireCount(field: ManifestField): number {
    return this.require(field, this.count(field));
  }

  requireText(field: ManifestField): string {
    return this.require(field, this.text(field));
  }

  require<Value>(field: ManifestField, value: Value | undefined): Value {
    if (value === undefined) throw this.invalid(field, 'is missing');
    return value;
  }

  invalid(field: ManifestField, problem: string): IcebergError {
    return new IcebergError('invalid-data', `${this.#name(field)} ${problem}`);
  }

  /** Fields that Firn does not know and that are not null. */
  unknownFields(): readonly UnknownField[] {
    if (this.#shape.unknownFields.length === 0) return NO_UNKNOWN_FIELDS;
    return this.#shape.unknownFields.flatMap((field) => {
      const value = this.#record[field.name];
      return value === undefined || value === null ? [] : [toUnknownField(field, value)];
    });
  }

  #name(field: ManifestField): string {
    return `${this.#subject}: ${field.name}`;
  }

  #number(field: ManifestField, value: AvroValue | undefined): number {
    if (typeof value === 'number' || typeof value === 'bigint') {
      return toSafeNumber(value, this.#name(field));
    }
    throw this.invalid(field, 'has a value that is not a number');
  }

  #map<Value>(
    field: ManifestField,
    convert: (value: AvroValue | undefined) => Value,
  ): ReadonlyMap<number, Value> | undefined {
    const items = this.list(field);
    if (items === undefined) return undefined;
    const map = new Map<number, Value>();
    for (const item of items) {
      // The names of the two are fixed by the spec; their ids are the map's own.
      const { key, value } = isAvroRecord(item) ? item : {};
      if (typeof key !== 'number') throw this.invalid(field, 'has a key that is not a field id');
      map.set(key, convert(value));
    }
    return map;
  }
}

const NO_UNKNOWN_FIELDS: readonly UnknownField[] = [];

const AVRO_FIELDS = new WeakMap<AvroField, JsonObject>();

function toUnknownField(field: AvroField, value: AvroValue): UnknownField {
  const avroField = AVRO_FIELDS.get(field) ?? {
    ...field.source,
    type: serializeAvroType(field.type),
  };
  AVRO_FIELDS.set(field, avroField);
  return { avroField, value };
}

function isAvroRecord(value: AvroValue | undefined): value is AvroRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  );
}

function isAvroArray(value: AvroValue): value is readonly AvroValue[] {
  return Array.isArray(value);
}

/** The property where the value is known, else nothing: for spreading into an object. */
export function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { [Name in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [Name in Key]?: Value };
}
