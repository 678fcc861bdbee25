import { assertNever, type JsonObject, type JsonValue } from '../base/index.ts';
import type { AvroType } from './schema.ts';

/**
 * Turns a parsed type back into a schema that stands alone: every named type is defined where it first
 * occurs, and two different types of one name get different names. So types from several files can be
 * put into one schema.
 */
export function serializeAvroType(type: AvroType): JsonValue {
  return serializeType(type, { names: new Map(), taken: new Set() });
}

interface Names {
  /** The name under which a type was defined already. */
  readonly names: Map<AvroType, string>;
  readonly taken: Set<string>;
}

function serializeType(type: AvroType, names: Names): JsonValue {
  switch (type.kind) {
    case 'option':
      return type.branches.map((branch) => serializeType(branch, names));
    case 'array':
      return { ...type.source, items: serializeType(type.items, names) };
    case 'map':
      return { ...type.source, values: serializeType(type.values, names) };
    case 'fixed':
    case 'enum':
    case 'record':
      return serializeNamed(type, names);
    case 'null':
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'bytes':
    case 'string':
      return Object.keys(type.source).length === 1 ? type.kind : type.source;
    default:
      return assertNever(type, 'avro type');
  }
}

function serializeNamed(
  type: Extract<AvroType, { kind: 'fixed' | 'enum' | 'record' }>,
  names: Names,
): JsonValue {
  const known = names.names.get(type);
  if (known !== undefined) return known;
  // Without dots no name depends on the namespace of what surrounds it.
  const name = freeName(type.name.replaceAll('.', '_'), names.taken);
  names.taken.add(name);
  names.names.set(type, name);
  const definition: JsonObject = { ...withoutNamespace(type.source), name };
  if (type.kind !== 'record') return definition;
  const fields = type.fields.map((field) => ({
    ...field.source,
    type: serializeType(field.type, names),
  }));
  return { ...definition, fields };
}

/** Names are full names already; aliases belong to the reader's side. */
function withoutNamespace(source: JsonObject): JsonObject {
  const { namespace: _namespace, aliases: _aliases, ...rest } = source;
  return rest;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let suffix = 2;
  while (taken.has(`${name}_${suffix}`)) suffix++;
  return `${name}_${suffix}`;
}
