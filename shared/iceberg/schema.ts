import { IcebergError, type JsonObject, type JsonValue } from '../base/index.ts';
import {
  invalidJson,
  optionalArray,
  optionalInt,
  optionalString,
  requireArray,
  requireBoolean,
  requireInt,
  requireObject,
  requireString,
  toInt32,
} from './json-fields.ts';
import { isPrimitiveType, parseTypeText, typeText } from './type-text.ts';
import type { IcebergType, ListType, MapType, NestedField, Schema, StructType } from './types.ts';

/** Nested types beyond this depth are refused: every recursion over a schema stays bounded. */
export const SCHEMA_DEPTH_MAX = 64;

/** Ids above are reserved for metadata columns. @see Iceberg spec, "Reserved Field IDs" */
export const FIELD_ID_MAX = 2_147_483_447;

/** Schema id of a v1 schema that has none. */
const SCHEMA_ID_DEFAULT = 0;

/** Kinds whose columns must default to null. @see Iceberg spec, "Default values" */
const KINDS_WITHOUT_DEFAULT: readonly string[] = ['unknown', 'variant', 'geometry', 'geography'];

/**
 * Parses a schema from its JSON form (all types of v1–v3).
 *
 * @throws invalid-data — when a key is missing or malformed, or a field id occurs twice or is reserved
 * @throws unsupported — when a type is not known, or types are nested deeper than `SCHEMA_DEPTH_MAX`
 * @see Iceberg spec, "Appendix C: JSON serialization", Schemas
 */
export function parseSchema(value: JsonValue | undefined, subject = 'schema'): Schema {
  const source = requireObject(value, subject);
  if (source['type'] !== undefined && source['type'] !== 'struct') {
    throw invalidJson(subject, 'type is not struct');
  }
  const { fields } = parseStruct(source, subject, 1);
  const seen = new Set<number>();
  for (const field of fields) requireUniqueFieldIds(field.fieldId, field.type, seen, subject);
  return {
    schemaId: optionalInt(source, 'schema-id', subject) ?? SCHEMA_ID_DEFAULT,
    fields,
    identifierFieldIds: optionalArray(source, 'identifier-field-ids', subject).map((id) =>
      toInt32(id, `${subject} identifier-field-ids`),
    ),
    source,
  };
}

/** A schema made of fields, with the JSON form that follows from them. */
export function createSchema(
  schemaId: number,
  fields: readonly NestedField[],
  identifierFieldIds: readonly number[] = [],
): Schema {
  const source = {
    type: 'struct',
    'schema-id': schemaId,
    ...(identifierFieldIds.length === 0 ? {} : { 'identifier-field-ids': identifierFieldIds }),
    fields: fields.map(fieldToJson),
  };
  return { schemaId, fields, identifierFieldIds, source };
}

/** The JSON form of a type: a string, or an object for struct, list and map. */
export function typeToJson(type: IcebergType): JsonValue {
  switch (type.kind) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map(fieldToJson) };
    case 'list':
      return {
        type: 'list',
        'element-id': type.elementId,
        element: typeToJson(type.elementType),
        'element-required': type.isElementRequired,
      };
    case 'map':
      return {
        type: 'map',
        'key-id': type.keyId,
        key: typeToJson(type.keyType),
        'value-id': type.valueId,
        value: typeToJson(type.valueType),
        'value-required': type.isValueRequired,
      };
    default:
      return typeText(type);
  }
}

/** Parses the JSON form of a type. Throws as `parseSchema`. */
export function parseType(value: JsonValue | undefined, subject: string, depth = 1): IcebergType {
  if (depth > SCHEMA_DEPTH_MAX) {
    throw new IcebergError(
      'unsupported',
      `${subject}: types are nested deeper than ${SCHEMA_DEPTH_MAX} levels`,
    );
  }
  if (typeof value === 'string') return parseTypeText(value, subject);
  const object = requireObject(value, `${subject} type`);
  const kind = requireString(object, 'type', `${subject} type`);
  switch (kind) {
    case 'struct':
      return parseStruct(object, subject, depth);
    case 'list':
      return parseList(object, subject, depth);
    case 'map':
      return parseMap(object, subject, depth);
    default:
      throw new IcebergError('unsupported', `${subject}: type ${kind.slice(0, 100)} is not known`);
  }
}

function parseStruct(object: JsonObject, subject: string, depth: number): StructType {
  const fields = requireArray(object['fields'], `${subject} fields`).map((value) =>
    parseField(value, subject, depth),
  );
  return { kind: 'struct', fields };
}

function parseField(value: JsonValue, subject: string, depth: number): NestedField {
  const object = requireObject(value, `${subject} field`);
  const name = requireString(object, 'name', `${subject} field`);
  const fieldSubject = `${subject} field ${name.slice(0, 100)}`;
  const type = parseType(object['type'], fieldSubject, depth + 1);
  const doc = optionalString(object, 'doc', fieldSubject);
  const initialDefault = parseDefault(object, 'initial-default', type, fieldSubject);
  const writeDefault = parseDefault(object, 'write-default', type, fieldSubject);
  return {
    fieldId: requireInt(object, 'id', fieldSubject),
    name,
    isRequired: requireBoolean(object, 'required', fieldSubject),
    type,
    ...(doc === undefined ? {} : { doc }),
    ...(initialDefault === undefined ? {} : { initialDefault }),
    ...(writeDefault === undefined ? {} : { writeDefault }),
  };
}

function parseDefault(
  object: JsonObject,
  key: string,
  type: IcebergType,
  subject: string,
): JsonValue | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (KINDS_WITHOUT_DEFAULT.includes(type.kind)) {
    throw invalidJson(subject, `${key} of type ${type.kind} is not null`);
  }
  return value;
}

function parseList(object: JsonObject, subject: string, depth: number): ListType {
  return {
    kind: 'list',
    elementId: requireInt(object, 'element-id', subject),
    isElementRequired: requireBoolean(object, 'element-required', subject),
    elementType: parseType(object['element'], subject, depth + 1),
  };
}

function parseMap(object: JsonObject, subject: string, depth: number): MapType {
  return {
    kind: 'map',
    keyId: requireInt(object, 'key-id', subject),
    keyType: parseType(object['key'], subject, depth + 1),
    valueId: requireInt(object, 'value-id', subject),
    isValueRequired: requireBoolean(object, 'value-required', subject),
    valueType: parseType(object['value'], subject, depth + 1),
  };
}

/** Depth needs no check here: the types were parsed, and parsing bounds it. */
function requireUniqueFieldIds(
  fieldId: number,
  type: IcebergType,
  seen: Set<number>,
  subject: string,
): void {
  if (fieldId < 0 || fieldId > FIELD_ID_MAX) {
    throw invalidJson(subject, `field id ${fieldId} lies outside 0 to ${FIELD_ID_MAX}`);
  }
  if (seen.has(fieldId)) throw invalidJson(subject, `field id ${fieldId} occurs twice`);
  seen.add(fieldId);
  if (isPrimitiveType(type)) return;
  for (const child of childrenOf(type)) {
    requireUniqueFieldIds(child.fieldId, child.type, seen, subject);
  }
}

/**
 * The fields directly below a type: those of a struct, `element` of a list, `key` and `value` of a map.
 * Empty for primitives and variant.
 */
export function childrenOf(type: IcebergType): readonly NestedField[] {
  switch (type.kind) {
    case 'struct':
      return type.fields;
    case 'list':
      return [child(type.elementId, 'element', type.isElementRequired, type.elementType)];
    case 'map':
      return [
        child(type.keyId, 'key', true, type.keyType),
        child(type.valueId, 'value', type.isValueRequired, type.valueType),
      ];
    default:
      return [];
  }
}

function child(fieldId: number, name: string, isRequired: boolean, type: IcebergType): NestedField {
  return { fieldId, name, isRequired, type };
}

function fieldToJson(field: NestedField): JsonObject {
  return {
    id: field.fieldId,
    name: field.name,
    required: field.isRequired,
    type: typeToJson(field.type),
    ...(field.doc === undefined ? {} : { doc: field.doc }),
    ...(field.initialDefault === undefined ? {} : { 'initial-default': field.initialDefault }),
    ...(field.writeDefault === undefined ? {} : { 'write-default': field.writeDefault }),
  };
}
