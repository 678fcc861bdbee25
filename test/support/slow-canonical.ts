import type {
  IcebergType,
  ListType,
  MapType,
  NestedField,
  PrimitiveType,
} from '../../shared/iceberg/index.ts';
import { singleValueFromJson } from '../../shared/iceberg/index.ts';
import type { ParquetNode } from './slow-parquet-rows.ts';

const MICROS_PER_DAY = 86_400_000_000n;

type PlainRecord = Readonly<Record<string, unknown>>;

/** Texts of identity-partitioned columns by field id: what a file that lacks the column reads as. */
export type PartitionTexts = ReadonlyMap<number, string>;

/**
 * One value as text that is equal if and only if the value is, whatever the file stored it as: promotions are
 * applied, nulls kept apart from empty values, floats shown by their bits. A column that the file lacks gives its
 * partition's value, else its initial default, else null.
 *
 * @see Iceberg spec, "Column Projection"
 */
export function canonicalField(
  field: NestedField,
  parents: readonly ParquetNode[],
  record: PlainRecord | null,
  partition: PartitionTexts,
): string {
  const node = parents.find(({ element }) => element.field_id === field.fieldId);
  if (node === undefined) return partition.get(field.fieldId) ?? canonicalDefault(field);
  return canonicalValue(field.type, node, record?.[node.element.name], partition);
}

function canonicalDefault(field: NestedField): string {
  if (field.initialDefault === undefined || field.initialDefault === null) {
    if (field.isRequired) throw new TypeError(`slow reader: required ${field.name} is missing`);
    return 'null';
  }
  if ('fields' in field.type || 'elementType' in field.type || 'keyType' in field.type) {
    throw new TypeError(`slow reader: default of nested field ${field.name}`);
  }
  const type = field.type as PrimitiveType;
  return canonicalLogical(type, singleValueFromJson(type, field.initialDefault, field.name));
}

function canonicalValue(
  type: IcebergType,
  node: ParquetNode,
  value: unknown,
  partition: PartitionTexts,
): string {
  if (value === null || value === undefined) return 'null';
  switch (type.kind) {
    case 'struct': {
      const texts = type.fields.map((field) =>
        canonicalField(field, node.children, value as PlainRecord, partition),
      );
      return `{${texts.join(',')}}`;
    }
    case 'list':
      return canonicalList(type, node, value as PlainRecord, partition);
    case 'map':
      return canonicalMap(type, node, value as PlainRecord, partition);
    case 'variant':
      return JSON.stringify(value, (_, part) =>
        part instanceof Uint8Array ? hex(part) : typeof part === 'bigint' ? `${part}` : part,
      );
    default:
      return canonicalLogical(type, toLogical(type, node, value));
  }
}

/** Lists of three levels, and of two, where the repeated node itself is the element. */
function canonicalList(
  type: ListType,
  node: ParquetNode,
  value: PlainRecord,
  partition: PartitionTexts,
): string {
  const repeated = node.children[0]!;
  const items = repeatedItems(value, repeated);
  const isElement = repeated.children.length === 0 || repeated.element.field_id === type.elementId;
  if (isElement) {
    const texts = items.map((item) => canonicalValue(type.elementType, repeated, item, partition));
    return `[${texts.join(',')}]`;
  }
  const element = memberNode(repeated, type.elementId);
  const texts = items.map((item) =>
    canonicalValue(
      type.elementType,
      element,
      (item as PlainRecord)[element.element.name],
      partition,
    ),
  );
  return `[${texts.join(',')}]`;
}

function canonicalMap(
  type: MapType,
  node: ParquetNode,
  value: PlainRecord,
  partition: PartitionTexts,
): string {
  const repeated = node.children[0]!;
  const key = memberNode(repeated, type.keyId);
  const mapValue = memberNode(repeated, type.valueId);
  const texts = repeatedItems(value, repeated).map((item) => {
    const entry = item as PlainRecord;
    const keyText = canonicalValue(type.keyType, key, entry[key.element.name], partition);
    const valueText = canonicalValue(
      type.valueType,
      mapValue,
      entry[mapValue.element.name],
      partition,
    );
    return `${keyText}:${valueText}`;
  });
  return `<${texts.sort().join(',')}>`;
}

function repeatedItems(value: PlainRecord, repeated: ParquetNode): readonly unknown[] {
  return (value[repeated.element.name] as readonly unknown[] | null | undefined) ?? [];
}

function memberNode(repeated: ParquetNode, fieldId: number): ParquetNode {
  const member = repeated.children.find(({ element }) => element.field_id === fieldId);
  if (member !== undefined) return member;
  throw new TypeError(`slow reader: ${repeated.element.name} has no member of id ${fieldId}`);
}

/** The text of a value in its Iceberg representation: bigints, bytes, strings, numbers. */
export function canonicalLogical(type: PrimitiveType, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return hex(value);
  if (type.kind === 'float' || type.kind === 'double') return floatBits(value as number);
  return String(value);
}

/** From what the file stores to the one representation of the Iceberg type. */
function toLogical(type: PrimitiveType, node: ParquetNode, value: unknown): unknown {
  switch (type.kind) {
    case 'long':
      return BigInt(value as number | bigint);
    case 'time':
      return node.element.type === 'INT32' ? BigInt(value as number) * 1000n : value;
    case 'timestamp':
    case 'timestamptz':
      return toMicros(node, value);
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return toNanos(node, value);
    case 'decimal':
      return value instanceof Uint8Array
        ? signedBigEndian(value)
        : BigInt(value as number | bigint);
    case 'string':
      return utf8(value as Uint8Array);
    default:
      return value;
  }
}

export function utf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** INT96 arrives as nanoseconds; what does not divide is cut off towards the past, as Iceberg Java does. */
function toMicros(node: ParquetNode, value: unknown): bigint {
  const { type, converted_type: converted, logical_type: logical } = node.element;
  const plain = BigInt(value as number | bigint);
  if (type === 'INT96') return (plain - (((plain % 1000n) + 1000n) % 1000n)) / 1000n;
  if (type === 'INT32') return plain * MICROS_PER_DAY;
  const isMillis =
    converted === 'TIMESTAMP_MILLIS' ||
    (logical?.type === 'TIMESTAMP' && logical.unit === 'MILLIS');
  return isMillis ? plain * 1000n : plain;
}

function toNanos(node: ParquetNode, value: unknown): bigint {
  const plain = BigInt(value as number | bigint);
  return node.element.type === 'INT32' ? plain * MICROS_PER_DAY * 1000n : plain;
}

export function signedBigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** Every float widens to a double without loss, so both types share the double's bits; all NaNs are one. */
function floatBits(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return `f${view.getBigUint64(0).toString(16)}`;
}

function hex(bytes: Uint8Array): string {
  return `x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
