import type { JsonObject, JsonValue } from '../base/index.ts';
import {
  invalidJson,
  optionalInt,
  requireArray,
  requireInt,
  requireObject,
  requireString,
  requireUniqueIds,
  toInt32,
} from './json-fields.ts';
import { fieldById } from './schema-index.ts';
import { parseTransform, transformResultType, transformText } from './transform.ts';
import type {
  IcebergType,
  NestedField,
  PartitionField,
  PartitionSpec,
  PrimitiveType,
  Schema,
  Transform,
} from './types.ts';

/** Id of the first partition field where a v1 spec does not give ids. */
export const PARTITION_FIELD_ID_START = 1000;

/** A field of a partition tuple: optional, and of a primitive type. */
export interface PartitionTypeField extends NestedField {
  readonly type: PrimitiveType;
}

/** The struct type of a spec's partition tuples, fields in spec order. */
export interface PartitionType {
  readonly kind: 'struct';
  readonly fields: readonly PartitionTypeField[];
}

/**
 * Parses a partition spec object.
 *
 * @throws invalid-data — when a key is missing or malformed, a field id occurs twice, or only some fields
 *   have ids
 * @see Iceberg spec, "Appendix C: JSON serialization", Partition Specs
 */
export function parsePartitionSpec(value: JsonValue | undefined, subject: string): PartitionSpec {
  const source = requireObject(value, subject);
  const fields = parsePartitionFields(source['fields'], subject);
  return { specId: requireInt(source, 'spec-id', subject), fields, source };
}

/** Parses a list of partition fields, the form of v1's `partition-spec`. Throws as `parsePartitionSpec`. */
export function parsePartitionFields(
  value: JsonValue | undefined,
  subject: string,
): readonly PartitionField[] {
  const objects = requireArray(value, `${subject} fields`).map((field) =>
    requireObject(field, `${subject} field`),
  );
  const withId = objects.filter((field) => optionalInt(field, 'field-id', subject) !== undefined);
  if (withId.length !== 0 && withId.length !== objects.length) {
    throw invalidJson(subject, `${withId.length} of ${objects.length} fields have a field-id`);
  }
  const fields = objects.map((field, index) => parsePartitionField(field, index, subject));
  requireUniqueIds(fields, (field) => field.fieldId, `${subject} fields`);
  return fields;
}

/** A spec made of fields, with the JSON form that follows from them. */
export function createPartitionSpec(
  specId: number,
  fields: readonly PartitionField[],
): PartitionSpec {
  return { specId, fields, source: { 'spec-id': specId, fields: fields.map(fieldToJson) } };
}

/** Whether files of the spec have no partition: no fields, or void ones only. */
export function isUnpartitioned(spec: PartitionSpec): boolean {
  return spec.fields.every((field) => field.transform.kind === 'void');
}

/** Whether the spec has a transform that Firn does not know; nobody may write files with such a spec. */
export function hasUnrecognizedTransform(spec: PartitionSpec): boolean {
  return spec.fields.some((field) => field.transform.kind === 'unrecognized');
}

/**
 * The type of the spec's partition tuples.
 *
 * The type of a source column is taken from the first schema that has it, so give the current schema first
 * and the others newest first: a promoted column then has its present type, a dropped one its last.
 * A column in none of them counts as `unknown`.
 *
 * @throws invalid-data — when identity or truncate has a nested or variant source
 */
export function partitionType(spec: PartitionSpec, schemas: readonly Schema[]): PartitionType {
  const subject = `partition spec ${spec.specId}`;
  const fields = spec.fields.map((field) => ({
    fieldId: field.fieldId,
    name: field.name,
    isRequired: false,
    type: transformResultType(field.transform, sourceTypeOf(field, schemas), subject),
  }));
  return { kind: 'struct', fields };
}

/** Source column ids and transform of a partition or sort field. @throws invalid-data */
export function parseSource(
  object: JsonObject,
  subject: string,
): { readonly sourceIds: readonly number[]; readonly transform: Transform } {
  const text = requireString(object, 'transform', subject);
  const single = optionalInt(object, 'source-id', subject);
  const sourceIds =
    single === undefined
      ? requireArray(object['source-ids'], `${subject} source-ids`).map((id) =>
          toInt32(id, `${subject} source-ids`),
        )
      : [single];
  if (sourceIds.length === 0) throw invalidJson(subject, 'source-ids is empty');
  // The spec names no transform of several columns yet, whatever one is called.
  const transform: Transform =
    sourceIds.length > 1 ? { kind: 'unrecognized', text } : parseTransform(text, subject);
  return { sourceIds, transform };
}

/** `source-id` or `source-ids`, and `transform`. */
export function sourceToJson(field: {
  readonly sourceIds: readonly number[];
  readonly transform: Transform;
}): JsonObject {
  const [first = 0] = field.sourceIds;
  return {
    ...(field.sourceIds.length === 1 ? { 'source-id': first } : { 'source-ids': field.sourceIds }),
    transform: transformText(field.transform),
  };
}

function parsePartitionField(object: JsonObject, index: number, subject: string): PartitionField {
  const name = requireString(object, 'name', `${subject} field`);
  const fieldId = optionalInt(object, 'field-id', subject) ?? PARTITION_FIELD_ID_START + index;
  return { ...parseSource(object, `${subject} field ${name.slice(0, 100)}`), fieldId, name };
}

function fieldToJson(field: PartitionField): JsonObject {
  return { ...sourceToJson(field), 'field-id': field.fieldId, name: field.name };
}

function sourceTypeOf(field: PartitionField, schemas: readonly Schema[]): IcebergType {
  const [sourceId = -1] = field.sourceIds;
  for (const schema of schemas) {
    const source = fieldById(schema, sourceId);
    if (source !== undefined) return source.field.type;
  }
  return { kind: 'unknown' };
}
