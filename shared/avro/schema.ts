import { IcebergError, isJsonObject, type JsonObject, type JsonValue } from '../base/index.ts';
import { TYPE_DEPTH_MAX, TYPE_NODES_MAX } from './layout.ts';

/** What every type knows of itself: least bytes of a value, and types in it with references written out. */
interface TypeSize {
  readonly bytesMin: number;
  readonly nodeCount: number;
}

export type AvroPrimitiveKind =
  | 'null'
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'bytes'
  | 'string';

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
  /** The field as it stood in the schema, with attributes such as `field-id`. */
  readonly source: JsonObject;
}

export type AvroRecordType = TypeSize & {
  readonly kind: 'record';
  readonly name: string;
  readonly fields: readonly AvroField[];
  readonly source: JsonObject;
};

/**
 * A parsed schema. `source` is the JSON of the type itself, with attributes such as `logicalType` and
 * `element-id`. An `option` is a union of null and at most one other type. Named types that are referred to
 * again are the same object again; there are no cycles.
 */
export type AvroType =
  | (TypeSize & { readonly kind: AvroPrimitiveKind; readonly source: JsonObject })
  | (TypeSize & {
      readonly kind: 'fixed';
      readonly name: string;
      readonly sizeBytes: number;
      readonly source: JsonObject;
    })
  | (TypeSize & {
      readonly kind: 'enum';
      readonly name: string;
      readonly symbols: readonly string[];
      readonly source: JsonObject;
    })
  | (TypeSize & { readonly kind: 'array'; readonly items: AvroType; readonly source: JsonObject })
  | (TypeSize & { readonly kind: 'map'; readonly values: AvroType; readonly source: JsonObject })
  | (TypeSize & { readonly kind: 'option'; readonly branches: readonly AvroType[] })
  | AvroRecordType;

const PRIMITIVE_BYTES_MIN: Readonly<Record<AvroPrimitiveKind, number>> = {
  null: 0,
  boolean: 1,
  int: 1,
  long: 1,
  float: 4,
  double: 8,
  bytes: 1,
  string: 1,
};

const FIXED_BYTES_MAX = 1024 * 1024;

/** Where parsing stands: named types seen so far (`undefined` while still open) and the nesting. */
interface Scope {
  readonly subject: string;
  readonly types: Map<string, AvroType | undefined>;
  readonly namespace: string;
  readonly depth: number;
}

/**
 * Parses an Avro schema from JSON.
 *
 * @throws invalid-data — when it is not a schema
 * @throws unsupported — for recursive types, unions of two non-null types, and beyond the limits of depth
 *   and size
 * @see Avro specification, "Schema Declaration"
 */
export function parseAvroType(json: JsonValue, subject: string): AvroType {
  return parseType(json, { subject, types: new Map(), namespace: '', depth: 0 });
}

function parseType(json: JsonValue, outer: Scope): AvroType {
  const scope = { ...outer, depth: outer.depth + 1 };
  if (scope.depth > TYPE_DEPTH_MAX) {
    throw unsupported(scope, `types are nested deeper than ${TYPE_DEPTH_MAX}`);
  }
  if (typeof json === 'string') {
    return isPrimitiveKind(json) ? primitive(json, { type: json }) : resolveName(json, scope);
  }
  if (Array.isArray(json)) return parseOption(json, scope);
  if (!isJsonObject(json)) throw invalid(scope, 'a type is neither name, object nor union');
  const kind = json['type'];
  if (typeof kind !== 'string') return parseType(requireMember(json, 'type', scope), scope);
  if (isPrimitiveKind(kind)) return primitive(kind, json);
  return parseComplex(kind, json, scope);
}

function parseComplex(kind: string, source: JsonObject, scope: Scope): AvroType {
  switch (kind) {
    case 'record':
      return parseRecord(source, scope);
    case 'fixed':
      return define(source, scope, (name) => parseFixed(name, source, scope));
    case 'enum':
      return define(source, scope, (name) => parseEnum(name, source, scope));
    case 'array': {
      const items = parseType(requireMember(source, 'items', scope), scope);
      return { kind, items, source, bytesMin: 1, nodeCount: countNodes([items], scope) };
    }
    case 'map': {
      const values = parseType(requireMember(source, 'values', scope), scope);
      return { kind, values, source, bytesMin: 1, nodeCount: countNodes([values], scope) };
    }
    default:
      return resolveName(kind, scope);
  }
}

function parseOption(json: readonly JsonValue[], scope: Scope): AvroType {
  const branches = json.map((branch) => parseType(branch, scope));
  const values = branches.filter((branch) => branch.kind !== 'null');
  if (branches.length === 0) throw invalid(scope, 'a union has no branch');
  if (branches.some((branch) => branch.kind === 'option')) throw invalid(scope, 'nested unions');
  if (branches.length - values.length > 1) throw invalid(scope, 'a union has null twice');
  if (values.length > 1) {
    throw unsupported(scope, `a union has ${values.length} branches beside null`);
  }
  const bytesMin = 1 + Math.min(...branches.map((branch) => branch.bytesMin));
  return { kind: 'option', branches, bytesMin, nodeCount: countNodes(branches, scope) };
}

function parseRecord(source: JsonObject, scope: Scope): AvroType {
  return define(source, scope, (name) => {
    const inner = { ...scope, namespace: namespaceOf(name) };
    const fieldsJson = source['fields'];
    if (!Array.isArray(fieldsJson)) throw invalid(scope, `record ${name} has no fields`);
    const fields = fieldsJson.map((json: JsonValue) => parseField(json, inner));
    if (new Set(fields.map((field) => field.name)).size !== fields.length) {
      throw invalid(scope, `record ${name} has two fields of one name`);
    }
    const types = fields.map((field) => field.type);
    const bytesMin = types.reduce((sum, type) => sum + type.bytesMin, 0);
    return { kind: 'record', name, fields, source, bytesMin, nodeCount: countNodes(types, scope) };
  });
}

function parseField(json: JsonValue, scope: Scope): AvroField {
  if (!isJsonObject(json)) throw invalid(scope, 'a field is not an object');
  const name = json['name'];
  if (typeof name !== 'string' || name === '') throw invalid(scope, 'a field has no name');
  // A property of this name would replace the prototype of a decoded record instead of being stored.
  if (name === '__proto__') throw unsupported(scope, 'a field is named __proto__');
  return { name, type: parseType(requireMember(json, 'type', scope), scope), source: json };
}

function parseFixed(name: string, source: JsonObject, scope: Scope): AvroType {
  const size = source['size'];
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0) {
    throw invalid(scope, `fixed ${name} has no valid size`);
  }
  if (size > FIXED_BYTES_MAX) {
    throw unsupported(scope, `fixed ${name} of ${size} bytes exceeds ${FIXED_BYTES_MAX}`);
  }
  return { kind: 'fixed', name, sizeBytes: size, source, bytesMin: size, nodeCount: 1 };
}

function parseEnum(name: string, source: JsonObject, scope: Scope): AvroType {
  const symbols = source['symbols'];
  if (!isStringArray(symbols)) throw invalid(scope, `enum ${name} has no symbols`);
  return { kind: 'enum', name, symbols, source, bytesMin: 1, nodeCount: 1 };
}

/** Registers a named type; while its inside is parsed the name is known but open, so that recursion shows. */
function define(source: JsonObject, scope: Scope, parse: (name: string) => AvroType): AvroType {
  const name = fullName(source, scope);
  if (scope.types.has(name)) throw invalid(scope, `type ${name} is defined twice`);
  scope.types.set(name, undefined);
  const type = parse(name);
  scope.types.set(name, type);
  return type;
}

function resolveName(name: string, scope: Scope): AvroType {
  const qualified = qualify(name, scope.namespace);
  const key = scope.types.has(qualified) ? qualified : name;
  if (!scope.types.has(key)) throw invalid(scope, `type ${name} is not defined`);
  const type = scope.types.get(key);
  if (type === undefined) throw unsupported(scope, `type ${name} contains itself`);
  return type;
}

function fullName(source: JsonObject, scope: Scope): string {
  const { name, namespace } = source;
  if (typeof name !== 'string' || name === '') throw invalid(scope, 'a named type has no name');
  return qualify(name, typeof namespace === 'string' ? namespace : scope.namespace);
}

function qualify(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}

function namespaceOf(name: string): string {
  return name.slice(0, Math.max(name.lastIndexOf('.'), 0));
}

function primitive(kind: AvroPrimitiveKind, source: JsonObject): AvroType {
  return { kind, source, bytesMin: PRIMITIVE_BYTES_MIN[kind], nodeCount: 1 };
}

function countNodes(children: readonly AvroType[], scope: Scope): number {
  const nodeCount = children.reduce((sum, child) => sum + child.nodeCount, 1);
  if (nodeCount > TYPE_NODES_MAX) {
    throw unsupported(scope, `${nodeCount} types exceed the limit of ${TYPE_NODES_MAX}`);
  }
  return nodeCount;
}

function requireMember(source: JsonObject, key: string, scope: Scope): JsonValue {
  const member = source[key];
  if (member === undefined) throw invalid(scope, `${key} is missing`);
  return member;
}

function isPrimitiveKind(kind: string): kind is AvroPrimitiveKind {
  return Object.hasOwn(PRIMITIVE_BYTES_MIN, kind);
}

function isStringArray(json: JsonValue | undefined): json is readonly string[] {
  return Array.isArray(json) && json.every((item) => typeof item === 'string');
}

function invalid(scope: Scope, problem: string): IcebergError {
  return new IcebergError('invalid-data', `${scope.subject}: avro schema: ${problem}`);
}

function unsupported(scope: Scope, problem: string): IcebergError {
  return new IcebergError('unsupported', `${scope.subject}: avro schema: ${problem}`);
}
