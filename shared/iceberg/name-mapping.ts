import { IcebergError, type JsonValue, parseJson } from '../base/index.ts';
import {
  invalidJson,
  optionalArray,
  optionalInt,
  requireArray,
  requireObject,
} from './json-fields.ts';
import { SCHEMA_DEPTH_MAX } from './schema.ts';

/** Field ids for columns of data files that carry none. */
export interface MappedField {
  readonly names: readonly string[];
  /** Absent for a column that the table's schema does not have. */
  readonly fieldId?: number;
  /** Children of a struct; `element` of a list; `key` and `value` of a map. */
  readonly fields: readonly MappedField[];
}

/**
 * Parses the value of `schema.name-mapping.default`.
 *
 * @throws invalid-config — when it is not a name mapping, or maps a name twice on one level
 * @see Iceberg spec, "Column Projection" and "Name Mapping Serialization"
 */
export function parseNameMapping(text: string): readonly MappedField[] {
  const subject = 'name mapping';
  try {
    return parseFields(parseJson(text, subject), subject, 1);
  } catch (cause) {
    if (!(cause instanceof IcebergError)) throw cause;
    throw new IcebergError(
      'invalid-config',
      `table property schema.name-mapping.default: ${cause.message}`,
      { key: 'schema.name-mapping.default' },
      cause,
    );
  }
}

/**
 * The mapping of the column at a path of names, or undefined.
 *
 * @param path names from the top, with `element`, `key` and `value` for list and map members
 */
export function findMappedField(
  mapping: readonly MappedField[],
  path: readonly string[],
): MappedField | undefined {
  let level = mapping;
  let found: MappedField | undefined;
  for (const name of path) {
    found = level.find((field) => field.names.includes(name));
    if (found === undefined) return undefined;
    level = found.fields;
  }
  return found;
}

function parseFields(value: JsonValue, subject: string, depth: number): readonly MappedField[] {
  if (depth > SCHEMA_DEPTH_MAX) {
    throw invalidJson(subject, `fields are nested deeper than ${SCHEMA_DEPTH_MAX} levels`);
  }
  const fields = requireArray(value, subject).map((field) => parseField(field, subject, depth));
  const seen = new Set<string>();
  for (const name of fields.flatMap((field) => field.names)) {
    if (seen.has(name)) throw invalidJson(subject, `name ${name.slice(0, 100)} is mapped twice`);
    seen.add(name);
  }
  return fields;
}

function parseField(value: JsonValue, subject: string, depth: number): MappedField {
  const object = requireObject(value, `${subject} field`);
  const names = optionalArray(object, 'names', subject).map((name) => {
    if (typeof name !== 'string') throw invalidJson(subject, 'a name is not a string');
    return name;
  });
  const fieldId = optionalInt(object, 'field-id', subject);
  const fields = parseFields(optionalArray(object, 'fields', subject), subject, depth + 1);
  return { names, fields, ...(fieldId === undefined ? {} : { fieldId }) };
}
