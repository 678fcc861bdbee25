import { childrenOf } from './schema.ts';
import type { NestedField, Schema } from './types.ts';

/** A field with its place in the schema. */
export interface SchemaField {
  readonly field: NestedField;
  /** Names from the top, with `element`, `key` and `value` for list and map members. */
  readonly path: readonly string[];
  /** The path joined by dots: the canonical name. */
  readonly fullName: string;
  /** Ids of the enclosing fields, outermost first. */
  readonly parentIds: readonly number[];
  /** Whether the field lies inside a list or map, so that a row may hold any number of its values. */
  readonly isRepeated: boolean;
}

interface SchemaIndex {
  readonly byId: ReadonlyMap<number, SchemaField>;
  readonly byName: ReadonlyMap<string, SchemaField>;
}

const INDEXES = new WeakMap<Schema, SchemaIndex>();

/** Every field of a schema by id, in depth-first order. Computed once for each schema object. */
export function schemaFields(schema: Schema): ReadonlyMap<number, SchemaField> {
  return indexOf(schema).byId;
}

/** The field with the id, wherever it is nested. */
export function fieldById(schema: Schema, fieldId: number): SchemaField | undefined {
  return indexOf(schema).byId.get(fieldId);
}

/**
 * The field with the full name. Besides canonical names, the short names of Iceberg Java are understood,
 * which leave out `element` and `value` above a struct (`points.x` for `points.element.x`).
 */
export function fieldByName(schema: Schema, name: string): SchemaField | undefined {
  return indexOf(schema).byName.get(name);
}

function indexOf(schema: Schema): SchemaIndex {
  const known = INDEXES.get(schema);
  if (known !== undefined) return known;
  const index = buildIndex(schema);
  INDEXES.set(schema, index);
  return index;
}

function buildIndex(schema: Schema): SchemaIndex {
  const byId = new Map<number, SchemaField>();
  const byName = new Map<string, SchemaField>();
  const shortNames: [string, SchemaField][] = [];
  const visit = (
    field: NestedField,
    above: SchemaField | undefined,
    abovePath: readonly string[],
  ) => {
    const entry = placeUnder(field, above);
    const shortPath = isNamedInShort(field, above) ? [...abovePath, field.name] : abovePath;
    byId.set(field.fieldId, entry);
    byName.set(entry.fullName, entry);
    if (shortPath.length < entry.path.length && isNamedInShort(field, above)) {
      shortNames.push([shortPath.join('.'), entry]);
    }
    for (const child of childrenOf(field.type)) visit(child, entry, shortPath);
  };
  for (const field of schema.fields) visit(field, undefined, []);
  for (const [name, entry] of shortNames) if (!byName.has(name)) byName.set(name, entry);
  return { byId, byName };
}

function placeUnder(field: NestedField, above: SchemaField | undefined): SchemaField {
  const path = [...(above?.path ?? []), field.name];
  return {
    field,
    path,
    fullName: path.join('.'),
    parentIds: above === undefined ? [] : [...above.parentIds, above.field.fieldId],
    isRepeated: above !== undefined && (above.isRepeated || above.field.type.kind !== 'struct'),
  };
}

/** A list element or map value that is a struct does not appear in short names. */
function isNamedInShort(field: NestedField, above: SchemaField | undefined): boolean {
  const isMember = above?.field.type.kind === 'list' || above?.field.type.kind === 'map';
  return !isMember || field.name === 'key' || field.type.kind !== 'struct';
}
