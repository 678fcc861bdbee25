import { compareBytes } from '../bytes/index.ts';
import { hasCorruptByteArrayBounds } from './created-by.ts';
import { comparePhysical, type ValueOrder, valueOrderOf } from './encode-bounds.ts';
import type { ColumnIndex, ColumnOrder, SchemaElement, Statistics } from './metadata-types.ts';
import { boundaryOrderOf } from './page-index.ts';
import type { SchemaLeaf } from './schema-tree.ts';

/** What decides whether bounds found in a file mean anything. */
export interface StatisticsSource {
  readonly createdBy: string | undefined;
  readonly leaf: SchemaLeaf;
  /** `undefined` where the file declares no orders: then `min_value` and `max_value` mean nothing. */
  readonly columnOrder: ColumnOrder | undefined;
  /** Values that the statistics speak of, nulls included. */
  readonly valueCount: number;
}

/**
 * The part of a file's statistics that may be written under our own `created_by`, in the form of today's
 * format: bounds in `minValue` and `maxValue` ordered by the column's type, no NaN, zeros as -0.0 and +0.0.
 * What parquet-java would ignore for the file it stands in is left out, as are bounds of the wrong width or in
 * the wrong order, and counts beyond the number of values. `undefined` when nothing remains.
 *
 * @see parquet-java, `CorruptStatistics` and `ParquetMetadataConverter.fromParquetStatistics`
 * @see Parquet format, "parquet.thrift": Statistics and ColumnOrder
 */
export function trustedStatistics(
  source: StatisticsSource,
  statistics: Statistics | undefined,
): Statistics | undefined {
  if (statistics === undefined) return undefined;
  const { nullCount, distinctCount, nanCount } = statistics;
  const isPlausible = (count: number | undefined): count is number =>
    count !== undefined && count >= 0 && count <= source.valueCount;
  const trusted: Statistics = {
    ...trustedBounds(source, statistics),
    ...(isPlausible(nullCount) ? { nullCount } : {}),
    ...(isPlausible(distinctCount) ? { distinctCount } : {}),
    ...(isPlausible(nanCount) && isFloatingPoint(source.leaf.element) ? { nanCount } : {}),
  };
  return Object.keys(trusted).length === 0 ? undefined : trusted;
}

/** Whether `statistics` carries bounds of which none can be trusted. */
export function hasUntrustedBounds(source: StatisticsSource, statistics: Statistics): boolean {
  const { max, min, maxValue, minValue } = statistics;
  const hasBounds = (max ?? min ?? maxValue ?? minValue) !== undefined;
  return hasBounds && Object.keys(trustedBounds(source, statistics)).length === 0;
}

/**
 * The column index as it may be written under our own `created_by`; `undefined` when its bounds cannot be
 * trusted. Zeros become -0.0 and +0.0; the boundary order is what the bounds show.
 */
export function trustedColumnIndex(
  source: StatisticsSource,
  columnIndex: ColumnIndex,
): ColumnIndex | undefined {
  const order = declaredOrder(source);
  if (order === 'none') return undefined;
  const minValues: Uint8Array[] = [];
  const maxValues: Uint8Array[] = [];
  for (const [pageIndex, isNullPage] of columnIndex.nullPages.entries()) {
    const min = columnIndex.minValues[pageIndex]!;
    const max = columnIndex.maxValues[pageIndex]!;
    if (!isNullPage && !areValidBounds({ order, element: source.leaf.element, min, max })) {
      return undefined;
    }
    minValues.push(isNullPage ? new Uint8Array(0) : lowerZero(order, min));
    maxValues.push(isNullPage ? new Uint8Array(0) : upperZero(order, max));
  }
  const bounds = { nullPages: columnIndex.nullPages, minValues, maxValues };
  return { ...columnIndex, ...bounds, boundaryOrder: boundaryOrderOf(bounds, order) };
}

/** Whether bounds of one leaf say the same about values of another; the values must be the same bytes. */
export function haveSameValueOrder(one: SchemaElement, other: SchemaElement): boolean {
  return orderOfBytes(valueOrderOf(one)) === orderOfBytes(valueOrderOf(other));
}

type Bounds = Pick<Statistics, 'minValue' | 'maxValue' | 'isMinValueExact' | 'isMaxValueExact'>;

function trustedBounds(source: StatisticsSource, statistics: Statistics): Bounds {
  const { max, min, maxValue, minValue } = statistics;
  if (minValue !== undefined || maxValue !== undefined) {
    return typeOrderedBounds(source, statistics);
  }
  if (min === undefined || max === undefined) return {};
  return signedBounds(source, min, max);
}

function typeOrderedBounds(source: StatisticsSource, statistics: Statistics): Bounds {
  const { minValue: min, maxValue: max, isMinValueExact, isMaxValueExact } = statistics;
  const order = declaredOrder(source);
  if (order === 'none') return {};
  const { element } = source.leaf;
  if (!areValidBounds({ order, element, min, max })) return {};
  return {
    ...(min === undefined ? {} : { minValue: lowerZero(order, min) }),
    ...(max === undefined ? {} : { maxValue: upperZero(order, max) }),
    ...(min === undefined || isMinValueExact === undefined ? {} : { isMinValueExact }),
    ...(max === undefined || isMaxValueExact === undefined ? {} : { isMaxValueExact }),
  };
}

/** The deprecated fields, ordered by signed comparison. Equal bounds hold in any order. */
function signedBounds(source: StatisticsSource, min: Uint8Array, max: Uint8Array): Bounds {
  const { element, physicalType } = source.leaf;
  const isByteArray = physicalType === 'BYTE_ARRAY' || physicalType === 'FIXED_LEN_BYTE_ARRAY';
  if (isByteArray && hasCorruptByteArrayBounds(source.createdBy)) return {};
  const order = valueOrderOf(element);
  if (!isSignedOrder(order, element) && compareBytes(min, max) !== 0) return {};
  if (order === 'none' || !areValidBounds({ order, element, min, max })) return {};
  return { minValue: lowerZero(order, min), maxValue: upperZero(order, max) };
}

/** parquet-java takes no deprecated bounds for decimals, whatever their physical type. */
function isSignedOrder(order: ValueOrder, element: SchemaElement): boolean {
  if (element.logicalType?.type === 'DECIMAL' || element.convertedType === 'DECIMAL') return false;
  return ['boolean', 'int32', 'int64', 'float', 'double'].includes(order);
}

/** The order that `min_value` and `max_value` follow, `none` when it is unknown to us or means nothing. */
function declaredOrder({ leaf, columnOrder }: StatisticsSource): ValueOrder {
  if (columnOrder === 'TYPE_ORDER') return valueOrderOf(leaf.element);
  // Total order differs from type order in NaN and zeros only, which are treated below.
  const isTotalOrder = columnOrder === 'IEEE_754_TOTAL_ORDER' && isFloatingPoint(leaf.element);
  return isTotalOrder ? valueOrderOf(leaf.element) : 'none';
}

interface BoundsToCheck {
  readonly order: ValueOrder;
  readonly element: SchemaElement;
  readonly min: Uint8Array | undefined;
  readonly max: Uint8Array | undefined;
}

function areValidBounds({ order, element, min, max }: BoundsToCheck): boolean {
  const present = [min, max].filter((bound) => bound !== undefined);
  if (!present.every((bound) => hasValidWidth(order, element, bound))) return false;
  if (present.some((bound) => isNaNBound(order, bound))) return false;
  return min === undefined || max === undefined || comparePhysical(order, min, max) <= 0;
}

function hasValidWidth(order: ValueOrder, element: SchemaElement, bound: Uint8Array): boolean {
  switch (order) {
    case 'boolean':
      return bound.length === 1;
    case 'int32':
    case 'uint32':
    case 'float':
      return bound.length === 4;
    case 'int64':
    case 'uint64':
    case 'double':
      return bound.length === 8;
    case 'decimal':
      return element.type === 'BYTE_ARRAY' || bound.length === element.typeLength;
    default:
      // Bounds of bytes may be cut.
      return element.type === 'BYTE_ARRAY' || bound.length <= element.typeLength!;
  }
}

function isNaNBound(order: ValueOrder, bound: Uint8Array): boolean {
  return Number.isNaN(floatOf(order, bound) ?? 0);
}

function lowerZero(order: ValueOrder, bound: Uint8Array): Uint8Array {
  return floatOf(order, bound) === 0 ? negativeZero(bound.length) : bound;
}

function upperZero(order: ValueOrder, bound: Uint8Array): Uint8Array {
  return floatOf(order, bound) === 0 ? new Uint8Array(bound.length) : bound;
}

function negativeZero(widthBytes: number): Uint8Array {
  const bytes = new Uint8Array(widthBytes);
  bytes[widthBytes - 1] = 0x80;
  return bytes;
}

function floatOf(order: ValueOrder, bound: Uint8Array): number | undefined {
  if (order !== 'float' && order !== 'double') return undefined;
  const view = new DataView(bound.buffer, bound.byteOffset, bound.byteLength);
  return order === 'float' ? view.getFloat32(0, true) : view.getFloat64(0, true);
}

function isFloatingPoint(element: SchemaElement): boolean {
  return (
    element.type === 'FLOAT' || element.type === 'DOUBLE' || element.logicalType?.type === 'FLOAT16'
  );
}

/** Text compares as its bytes do. */
function orderOfBytes(order: ValueOrder): ValueOrder {
  return order === 'text' ? 'bytes' : order;
}
