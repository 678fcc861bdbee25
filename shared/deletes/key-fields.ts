import { IcebergError } from '../base/index.ts';
import {
  currentSchema,
  fieldById,
  isPrimitiveType,
  type NestedField,
  type Schema,
  type SchemaField,
  type TableMetadata,
  typeText,
} from '../iceberg/index.ts';

const KINDS_WITHOUT_EQUALITY: readonly string[] = [
  'float',
  'double',
  'unknown',
  'geometry',
  'geography',
];

/**
 * The columns with the ids, within the structs around them and nothing else, all optional. Each has the type and
 * default that the first schema gives it which has it: with the current schema first, a column's present ones, and
 * those it had last where it was dropped.
 *
 * @throws invalid-data — when no schema has a column with the id
 * @throws unsupported — for columns of float, double, and types without equality, and for members of lists and maps
 * @see Iceberg spec, "Equality Delete Files"
 */
export function keyFields(
  fieldIds: Iterable<number>,
  schemas: readonly Schema[],
  subject: string,
): readonly NestedField[] {
  return mergeFields([...fieldIds].map((fieldId) => keyField(fieldId, schemas, subject)));
}

/** Each field once, structs with the children of all structs of the same id. */
export function mergeFields(fields: readonly NestedField[]): readonly NestedField[] {
  const merged: NestedField[] = [];
  for (const field of fields) mergeField(merged, field);
  return merged;
}

/** The table's schemas, the current one first, then the latest: the first that has a column tells its type. */
export function keySchemas(metadata: TableMetadata): readonly Schema[] {
  return [
    currentSchema(metadata),
    ...metadata.schemas.toSorted((one, other) => other.schemaId - one.schemaId),
  ];
}

/** Whether a schema has a column with the id. */
export function hasField(schemas: readonly Schema[], fieldId: number): boolean {
  return schemas.some((schema) => fieldById(schema, fieldId) !== undefined);
}

/** Whether rows cannot be deleted by one of the columns that the schemas have; the first schema that has one decides. */
export function hasUnsupportedKey(
  fieldIds: readonly number[],
  schemas: readonly Schema[],
): boolean {
  return fieldIds.some((fieldId) => {
    const schema = schemas.find((candidate) => fieldById(candidate, fieldId) !== undefined);
    const found = schema && fieldById(schema, fieldId);
    return found !== undefined && !isSupportedKey(found);
  });
}

function isSupportedKey({ field, isRepeated }: SchemaField): boolean {
  const { type } = field;
  return isPrimitiveType(type) && !KINDS_WITHOUT_EQUALITY.includes(type.kind) && !isRepeated;
}

function keyField(fieldId: number, schemas: readonly Schema[], subject: string): NestedField {
  const schema = schemas.find((candidate) => fieldById(candidate, fieldId) !== undefined);
  const found = schema && fieldById(schema, fieldId);
  if (schema === undefined || found === undefined) {
    const problem = `no schema has a column with id ${fieldId} to delete by`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
  const { field, parentIds, isRepeated, fullName } = found;
  if (!isSupportedKey(found)) {
    const type = isPrimitiveType(field.type) ? typeText(field.type) : field.type.kind;
    const place = isRepeated ? ' within a list or map' : '';
    const problem = `equality deletes by column ${fullName} of type ${type}${place}`;
    throw new IcebergError('unsupported', `${subject}: ${problem} are not supported`);
  }
  return parentIds.reduceRight<NestedField>(
    (child, parentId) => ({
      fieldId: parentId,
      name: fieldById(schema, parentId)?.field.name ?? String(parentId),
      isRequired: false,
      type: { kind: 'struct', fields: [child] },
    }),
    { ...field, isRequired: false },
  );
}

/** Adds a field, or its only child to the struct of the same id that is there already. */
function mergeField(fields: NestedField[], field: NestedField): void {
  const index = fields.findIndex(({ fieldId }) => fieldId === field.fieldId);
  const known = fields[index];
  if (known === undefined) {
    fields.push(field);
    return;
  }
  if (known.type.kind !== 'struct' || field.type.kind !== 'struct') return;
  const children = mergeFields([...known.type.fields, ...field.type.fields]);
  fields[index] = { ...known, type: { kind: 'struct', fields: children } };
}
