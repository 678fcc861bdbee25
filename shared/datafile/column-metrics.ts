import {
  compareSingleValues,
  type DataFile,
  decodeSingleValue,
  encodeSingleValue,
  fieldById,
  isPrimitiveType,
  type MetricsMode,
  type PrimitiveType,
  type Schema,
  type SingleValue,
  truncateLowerBound,
  truncateUpperBound,
} from '../iceberg/index.ts';
import type { SchemaLeaf } from '../parquet/index.ts';

/** A bound: a value, `none` where no value compares (nulls and NaN only), or not known. */
export type Bound =
  | { readonly kind: 'value'; readonly value: SingleValue }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

export const NO_BOUND: Bound = { kind: 'none' };
export const UNKNOWN_BOUND: Bound = { kind: 'unknown' };

/** What is known of some values of one column. */
export interface ColumnFacts {
  /** Nulls counted. */
  readonly valueCount: number;
  readonly nullCount: number | undefined;
  readonly nanCount: number | undefined;
  readonly lower: Bound;
  readonly upper: Bound;
}

export const NO_FACTS: ColumnFacts = {
  valueCount: 0,
  nullCount: 0,
  nanCount: 0,
  lower: NO_BOUND,
  upper: NO_BOUND,
};

/** A column of the outputs for which metrics are kept. */
export interface MetricsColumn {
  readonly columnIndex: number;
  readonly fieldId: number;
  readonly type: PrimitiveType;
  readonly mode: MetricsMode;
  readonly hasBounds: boolean;
}

/**
 * The columns that the metrics modes ask for. Members of lists and maps have none: a row holds any number of
 * them, and Iceberg Java leaves them out.
 */
export function metricsColumns(
  schema: Schema,
  leaves: readonly SchemaLeaf[],
  modes: ReadonlyMap<number, MetricsMode>,
): readonly MetricsColumn[] {
  return leaves.flatMap(({ element, columnIndex }) => {
    const { fieldId } = element;
    const field = fieldId === undefined ? undefined : fieldById(schema, fieldId);
    const mode = fieldId === undefined ? undefined : modes.get(fieldId);
    if (fieldId === undefined || field === undefined || mode === undefined) return [];
    const { type } = field.field;
    if (!isPrimitiveType(type) || field.isRepeated || mode.kind === 'none') return [];
    const isOrdered = type.kind !== 'geometry' && type.kind !== 'geography';
    const hasBounds = mode.kind !== 'counts' && isOrdered;
    return [{ columnIndex, fieldId, type, mode, hasBounds }];
  });
}

/** Facts of two sets of values taken together. */
export function mergeFacts(one: ColumnFacts, other: ColumnFacts): ColumnFacts {
  return {
    valueCount: one.valueCount + other.valueCount,
    nullCount: sumOf(one.nullCount, other.nullCount),
    nanCount: sumOf(one.nanCount, other.nanCount),
    lower: mergeBound(one.lower, other.lower, -1),
    upper: mergeBound(one.upper, other.upper, 1),
  };
}

/**
 * Facts of an input's rows, out of its manifest entry and of the facts that its file gave. What the entry says
 * of all rows counts first, since readers have gone by it; its bounds and zero counts also hold for some of the
 * rows, so they stand in where the file knows nothing.
 *
 * @param isWhole whether all rows of the input are meant
 */
export function withManifestFacts(
  found: ColumnFacts,
  dataFile: DataFile,
  { column, isWhole }: { readonly column: MetricsColumn; readonly isWhole: boolean },
): ColumnFacts {
  const entry = manifestFacts(dataFile, column);
  if (isWhole) {
    return {
      valueCount: found.valueCount,
      nullCount: entry.nullCount ?? found.nullCount,
      nanCount: entry.nanCount ?? found.nanCount,
      lower: knownBound(entry.lower, found.lower),
      upper: knownBound(entry.upper, found.upper),
    };
  }
  return {
    valueCount: found.valueCount,
    nullCount: found.nullCount ?? zeroOf(entry.nullCount),
    nanCount: found.nanCount ?? zeroOf(entry.nanCount),
    lower: knownBound(found.lower, entry.lower),
    upper: knownBound(found.upper, entry.upper),
  };
}

/** The metric maps of a data file. Columns whose facts are not known are left out of the map concerned. */
export function metricMaps(
  columns: readonly MetricsColumn[],
  facts: ReadonlyMap<number, ColumnFacts>,
): Pick<
  DataFile,
  'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'
> {
  const valueCounts = new Map<number, number>();
  const nullValueCounts = new Map<number, number>();
  const nanValueCounts = new Map<number, number>();
  const lowerBounds = new Map<number, Uint8Array>();
  const upperBounds = new Map<number, Uint8Array>();
  for (const column of columns) {
    const { fieldId, type } = column;
    const { valueCount, nullCount, nanCount, lower, upper } = facts.get(fieldId) ?? NO_FACTS;
    valueCounts.set(fieldId, valueCount);
    if (nullCount !== undefined) nullValueCounts.set(fieldId, nullCount);
    if (nanCount !== undefined && isFloatingPoint(type)) nanValueCounts.set(fieldId, nanCount);
    if (!column.hasBounds) continue;
    const lowerBound = boundValue(lower, column, truncateLowerBound);
    const upperBound = boundValue(upper, column, truncateUpperBound);
    if (lowerBound !== undefined) lowerBounds.set(fieldId, encodeSingleValue(type, lowerBound));
    if (upperBound !== undefined) upperBounds.set(fieldId, encodeSingleValue(type, upperBound));
  }
  return { valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds };
}

function manifestFacts(
  dataFile: DataFile,
  { fieldId, type }: MetricsColumn,
): Omit<ColumnFacts, 'valueCount'> {
  const nullCount = dataFile.nullValueCounts?.get(fieldId);
  const nanCount = dataFile.nanValueCounts?.get(fieldId);
  const valueCount = dataFile.valueCounts?.get(fieldId);
  const isFloat = isFloatingPoint(type);
  const absentCount = (nullCount ?? 0) + (isFloat ? (nanCount ?? 0) : 0);
  const absent = valueCount !== undefined && valueCount === absentCount ? NO_BOUND : UNKNOWN_BOUND;
  return {
    nullCount,
    nanCount: isFloat ? nanCount : 0,
    lower: boundOf(dataFile.lowerBounds?.get(fieldId), type) ?? absent,
    upper: boundOf(dataFile.upperBounds?.get(fieldId), type) ?? absent,
  };
}

/** A bound that does not fit its type, or is NaN, says nothing. */
export function boundOf(bytes: Uint8Array | undefined, type: PrimitiveType): Bound | undefined {
  if (bytes === undefined) return undefined;
  try {
    const value = decodeSingleValue(type, bytes, 'bound');
    return Number.isNaN(value) ? UNKNOWN_BOUND : { kind: 'value', value };
  } catch {
    // Bounds only help to skip files: a broken one is not worth failing for, and is not carried on.
    return UNKNOWN_BOUND;
  }
}

function isFloatingPoint(type: PrimitiveType): boolean {
  return type.kind === 'float' || type.kind === 'double';
}

function sumOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

function zeroOf(count: number | undefined): number | undefined {
  return count === 0 ? 0 : undefined;
}

function knownBound(first: Bound, second: Bound): Bound {
  return first.kind === 'unknown' ? second : first;
}

/** @param side −1 for lower bounds, 1 for upper bounds */
function mergeBound(one: Bound, other: Bound, side: -1 | 1): Bound {
  if (one.kind === 'unknown' || other.kind === 'unknown') return UNKNOWN_BOUND;
  if (one.kind === 'none') return other;
  if (other.kind === 'none') return one;
  return compareSingleValues(one.value, other.value) * side >= 0 ? one : other;
}

function boundValue(
  bound: Bound,
  { type, mode }: MetricsColumn,
  truncate: (value: SingleValue, length: number) => SingleValue | undefined,
): SingleValue | undefined {
  if (bound.kind !== 'value') return undefined;
  const isCut = type.kind === 'string' || type.kind === 'binary' || type.kind === 'fixed';
  return mode.kind === 'truncate' && isCut ? truncate(bound.value, mode.length) : bound.value;
}
