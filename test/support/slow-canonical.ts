import type { IcebergType, NestedField, PrimitiveType } from '../../shared/iceberg/index.ts';
import { singleValueFromJson } from '../../shared/iceberg/index.ts';
import type { ParquetNode } from './slow-parquet-rows.ts';

const MICROS_PER_DAY = 86_400_000_000n;
const JULIAN_DAY_OF_EPOCH = 2_440_588n;

/**
 * One value as text that is equal if and only if the value is, whatever the file stored it as: promotions are
 * applied, nulls kept apart from empty values, floats shown by their bits. A column that the file lacks gives its
 * initial default, else null.
 */
export function canonicalField(
  field: NestedField,
  parents: readonly ParquetNode[],
  record: Readonly<Record<string, unknown>> | null,
): string {
  const node = parents.find(({ element }) => element.field_id === field.fieldId);
  if (node === undefined) return canonicalDefault(field);
  return canonicalValue(field.type, node, record?.[node.element.name]);
}

function canonicalDefault(field: NestedField): string {
  if (field.initialDefault === undefined || field.initialDefault === null) return 'null';
  if ('fields' in field.type || 'elementType' in field.type || 'keyType' in field.type) {
    throw new TypeError(`slow reader: default of nested field ${field.name}`);
  }
  const type = field.type as PrimitiveType;
  return canonicalLogical(type, singleValueFromJson(type, field.initialDefault, field.name));
}

function canonicalValue(type: IcebergType, node: ParquetNode, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  switch (type.kind) {
    case 'struct': {
      const record = value as Record<string, unknown>;
      return `{${type.fields.map((field) => canonicalField(field, node.children, record)).join(',')}}`;
    }
    case 'list': {
      const repeated = node.children[0]!;
      const items = (value as Record<string, unknown[]>)[repeated.element.name] ?? [];
      const element = repeated.children.find((child) => child.element.field_id === type.elementId);
      const texts = items.map((item) =>
        element === undefined
          ? canonicalValue(type.elementType, repeated, item)
          : canonicalValue(
              type.elementType,
              element,
              (item as Record<string, unknown>)[element.element.name],
            ),
      );
      return `[${texts.join(',')}]`;
    }
    case 'map': {
      const repeated = node.children[0]!;
      const items =
        (value as Record<string, Record<string, unknown>[]>)[repeated.element.name] ?? [];
      const [key, mapValue] = repeated.children as [ParquetNode, ParquetNode];
      const texts = items.map((item) => {
        const keyText = canonicalValue(type.keyType, key, item[key.element.name]);
        return `${keyText}:${canonicalValue(type.valueType, mapValue, item[mapValue.element.name])}`;
      });
      return `<${texts.sort().join(',')}>`;
    }
    case 'variant':
      return JSON.stringify(value, (_, part) =>
        part instanceof Uint8Array ? hex(part) : typeof part === 'bigint' ? `${part}` : part,
      );
    default:
      return canonicalLogical(type, toLogical(type, node, value));
  }
}

function canonicalLogical(type: PrimitiveType, value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return hex(value);
  if (type.kind === 'float' || type.kind === 'double') return floatBits(value as number);
  return String(value);
}

/** From what the file stores to the one representation of the Iceberg type. */
function toLogical(type: PrimitiveType, node: ParquetNode, value: unknown): unknown {
  switch (type.kind) {
    case 'long':
    case 'time':
      return BigInt(value as number | bigint);
    case 'timestamp':
    case 'timestamptz':
      return toMicros(node, value);
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return node.element.type === 'INT96'
        ? int96Nanos(value as Uint8Array)
        : BigInt(value as bigint);
    case 'decimal':
      return value instanceof Uint8Array
        ? signedBigEndian(value)
        : BigInt(value as number | bigint);
    case 'string':
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value as Uint8Array);
    default:
      return value;
  }
}

function toMicros(node: ParquetNode, value: unknown): bigint {
  if (value instanceof Uint8Array) return int96Nanos(value) / 1000n;
  if (node.element.type === 'INT32') return BigInt(value as number) * MICROS_PER_DAY;
  const isMillis =
    node.element.converted_type === 'TIMESTAMP_MILLIS' ||
    (node.element.logical_type?.type === 'TIMESTAMP' &&
      node.element.logical_type.unit === 'MILLIS');
  return isMillis ? (value as bigint) * 1000n : (value as bigint);
}

function int96Nanos(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 12);
  const days = BigInt(view.getUint32(8, true)) - JULIAN_DAY_OF_EPOCH;
  return days * MICROS_PER_DAY * 1000n + view.getBigInt64(0, true);
}

function signedBigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** Every float widens to a double without loss, so both types share the double's bits. */
function floatBits(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return `f${view.getBigUint64(0).toString(16)}`;
}

function hex(bytes: Uint8Array): string {
  return `x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
