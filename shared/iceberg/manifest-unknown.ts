import {
  type AvroField,
  type AvroRecord,
  type AvroRecordType,
  type AvroType,
  parseAvroType,
} from '../avro/index.ts';
import { assert, IcebergError, type JsonValue, serializeJson } from '../base/index.ts';
import type { UnknownField } from './manifest-types.ts';

/** A record type with the unknown fields of the structs that are to be written, each optional. */
export interface ExtendedRecord {
  readonly type: AvroRecordType;
  /** The unknown fields of one struct under the names that they have in `type`; null where it has none. */
  unknownValues(fields: readonly UnknownField[]): AvroRecord;
}

/**
 * Adds to a record type every unknown field that one of the structs has, so that nothing is lost by rewriting.
 *
 * @throws unsupported — when two structs have different types for one field
 */
export function withUnknownFields(
  base: AvroType,
  structs: Iterable<readonly UnknownField[]>,
  subject: string,
): ExtendedRecord {
  assert(base.kind === 'record', 'manifest schemas are records');
  const added = new Map<string, AvroField>();
  const typeTexts = new Map<string, string>();
  const taken = new Set(base.fields.map((field) => field.name));
  for (const fields of structs) {
    for (const field of fields) {
      const key = fieldKey(field);
      const typeText = serializeJson(field.avroField['type'] ?? null);
      const known = typeTexts.get(key);
      if (known === undefined) {
        typeTexts.set(key, typeText);
        added.set(key, optionalField(field, taken, subject));
      } else if (known !== typeText) {
        throw new IcebergError('unsupported', `${subject}: unknown field ${key} has two types`);
      }
    }
  }
  const nulls = Object.fromEntries([...added.values()].map((field) => [field.name, null]));
  return {
    type: { ...base, fields: [...base.fields, ...added.values()] },
    unknownValues(fields) {
      if (fields.length === 0) return nulls;
      const values = fields.map((field) => [added.get(fieldKey(field))?.name ?? '', field.value]);
      return { ...nulls, ...Object.fromEntries(values) };
    },
  };
}

function fieldKey({ avroField }: UnknownField): string {
  const id = avroField['field-id'];
  return typeof id === 'number' ? `${id}` : String(avroField['name']);
}

function optionalField(
  { avroField }: UnknownField,
  taken: Set<string>,
  subject: string,
): AvroField {
  const wished = String(avroField['name']);
  const name = taken.has(wished) ? `${wished}_${taken.size}` : wished;
  taken.add(name);
  const type = parseAvroType(['null', withoutNull(avroField['type'] ?? 'null')], subject);
  return { name, type, source: { ...avroField, name, default: null } };
}

function withoutNull(type: JsonValue): JsonValue {
  if (!Array.isArray(type)) return type;
  return type.find((branch: JsonValue) => branch !== 'null') ?? 'null';
}
