import { compareBytes } from '../bytes/index.ts';
import { type PhysicalValues, physicalValueAt } from './leaf-values.ts';
import type { SchemaElement } from './metadata-types.ts';

/**
 * How a leaf's values compare: by number, as unsigned bytes (`bytes`; `text` where they are UTF-8), as
 * big-endian two's complement (`decimal`), or not at all.
 */
export type ValueOrder =
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'float'
  | 'double'
  | 'decimal'
  | 'text'
  | 'bytes'
  | 'none';

/** Smallest and largest value in physical form, neither NaN. */
export interface ValueBounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
}

/**
 * The order that min and max of a leaf follow.
 *
 * @see Parquet format, "parquet.thrift": ColumnOrder
 */
export function valueOrderOf(element: SchemaElement): ValueOrder {
  const { logicalType, convertedType } = element;
  switch (element.type) {
    case 'BOOLEAN':
      return 'boolean';
    case 'INT32':
      return isUnsigned(element) ? 'uint32' : 'int32';
    case 'INT64':
      return isUnsigned(element) ? 'uint64' : 'int64';
    case 'FLOAT':
      return 'float';
    case 'DOUBLE':
      return 'double';
    case 'BYTE_ARRAY':
    case 'FIXED_LEN_BYTE_ARRAY':
      if (logicalType?.type === 'DECIMAL' || convertedType === 'DECIMAL') return 'decimal';
      if (convertedType === 'INTERVAL') return 'none';
      return logicalType === undefined ? bytesOrderOf(element) : logicalBytesOrderOf(element);
    default:
      return 'none';
  }
}

/** Compares two values in physical form; neither may be NaN, and the order not `none`. */
export function comparePhysical(order: ValueOrder, one: Uint8Array, other: Uint8Array): number {
  switch (order) {
    case 'text':
    case 'bytes':
    case 'none':
      return compareBytes(one, other);
    case 'decimal':
      return compareSigned(one, other);
    case 'int64':
    case 'uint64':
      return compareKeys(integerKey(order, viewOf(one)), integerKey(order, viewOf(other)));
    default:
      return compareKeys(numberKey(order, viewOf(one), 0), numberKey(order, viewOf(other), 0));
  }
}

/** Not by difference: that of two equal infinities is NaN. */
function compareKeys<Key extends number | bigint>(one: Key, other: Key): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The bounds of the values; `undefined` when there are none that compare. Zeros become -0.0 and +0.0. */
export function boundsOf(values: PhysicalValues, order: ValueOrder): ValueBounds | undefined {
  if (values.count === 0 || order === 'none') return undefined;
  if (values.kind === 'fixed-width' && order !== 'bytes' && order !== 'decimal') {
    return order === 'int64' || order === 'uint64'
      ? integerBounds(values, order)
      : numberBounds(values, order);
  }
  let min = physicalValueAt(values, 0);
  let max = min;
  for (let index = 1; index < values.count; index++) {
    const value = physicalValueAt(values, index);
    if (comparePhysical(order, value, min) < 0) min = value;
    else if (comparePhysical(order, value, max) > 0) max = value;
  }
  return { min, max };
}

/** How many of the values are NaN; 0 for orders other than float and double. */
export function countNaN(values: PhysicalValues, order: ValueOrder): number {
  if (values.kind !== 'fixed-width' || (order !== 'float' && order !== 'double')) return 0;
  const view = viewOf(values.bytes);
  let count = 0;
  for (let index = 0; index < values.count; index++) {
    if (Number.isNaN(numberKey(order, view, index * values.widthBytes))) count++;
  }
  return count;
}

/** Bounds of two sets of values taken together. */
export function mergeBounds(
  one: ValueBounds | undefined,
  other: ValueBounds | undefined,
  order: ValueOrder,
): ValueBounds | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    min: comparePhysical(order, one.min, other.min) <= 0 ? one.min : other.min,
    max: comparePhysical(order, one.max, other.max) >= 0 ? one.max : other.max,
  };
}

function isUnsigned(element: SchemaElement): boolean {
  if (element.logicalType?.type === 'INTEGER') return !element.logicalType.isSigned;
  return element.convertedType?.startsWith('UINT_') === true;
}

function logicalBytesOrderOf(element: SchemaElement): ValueOrder {
  switch (element.logicalType?.type) {
    case 'STRING':
    case 'ENUM':
    case 'JSON':
      return 'text';
    case 'BSON':
    case 'UUID':
      return 'bytes';
    default:
      return 'none';
  }
}

function bytesOrderOf(element: SchemaElement): ValueOrder {
  const { convertedType } = element;
  return convertedType === 'UTF8' || convertedType === 'ENUM' || convertedType === 'JSON'
    ? 'text'
    : 'bytes';
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function integerKey(order: 'int64' | 'uint64', view: DataView, offset = 0): bigint {
  return order === 'int64' ? view.getBigInt64(offset, true) : view.getBigUint64(offset, true);
}

function numberKey(order: ValueOrder, view: DataView, offset: number): number {
  switch (order) {
    case 'boolean':
      return view.getUint8(offset);
    case 'uint32':
      return view.getUint32(offset, true);
    case 'float':
      return view.getFloat32(offset, true);
    case 'double':
      return view.getFloat64(offset, true);
    default:
      return view.getInt32(offset, true);
  }
}

function integerBounds(
  values: PhysicalValues & { readonly kind: 'fixed-width' },
  order: 'int64' | 'uint64',
): ValueBounds {
  const view = viewOf(values.bytes);
  let minIndex = 0;
  let maxIndex = 0;
  let min = integerKey(order, view);
  let max = min;
  for (let index = 1; index < values.count; index++) {
    const key = integerKey(order, view, index * 8);
    if (key < min) {
      min = key;
      minIndex = index;
    } else if (key > max) {
      max = key;
      maxIndex = index;
    }
  }
  return { min: physicalValueAt(values, minIndex), max: physicalValueAt(values, maxIndex) };
}

function numberBounds(
  values: PhysicalValues & { readonly kind: 'fixed-width' },
  order: ValueOrder,
): ValueBounds | undefined {
  const view = viewOf(values.bytes);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let hasNumbers = false;
  for (let index = 0; index < values.count; index++) {
    const key = numberKey(order, view, index * values.widthBytes);
    if (Number.isNaN(key)) continue;
    hasNumbers = true;
    if (key < min) min = key;
    if (key > max) max = key;
  }
  if (!hasNumbers) return undefined;
  return {
    min: physicalNumber(min === 0 ? -0 : min, order, values.widthBytes),
    max: physicalNumber(max === 0 ? 0 : max, order, values.widthBytes),
  };
}

function physicalNumber(value: number, order: ValueOrder, widthBytes: number): Uint8Array {
  const bytes = new Uint8Array(widthBytes);
  const view = viewOf(bytes);
  if (order === 'boolean') view.setUint8(0, value);
  else if (order === 'float') view.setFloat32(0, value, true);
  else if (order === 'double') view.setFloat64(0, value, true);
  else view.setInt32(0, value, true);
  return bytes;
}

/** Big-endian two's complement of any lengths. An empty array counts as zero. */
function compareSigned(one: Uint8Array, other: Uint8Array): number {
  const signOne = (one[0] ?? 0) >= 0x80 ? 0xff : 0;
  const signOther = (other[0] ?? 0) >= 0x80 ? 0xff : 0;
  if (signOne !== signOther) return signOne === 0 ? 1 : -1;
  if (one.length === other.length) return compareBytes(one, other);
  const length = Math.max(one.length, other.length);
  for (let index = -length; index < 0; index++) {
    const difference = (one.at(index) ?? signOne) - (other.at(index) ?? signOther);
    if (difference !== 0) return difference;
  }
  return 0;
}
