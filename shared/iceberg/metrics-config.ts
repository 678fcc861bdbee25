import type { MetricsMode } from './metrics-mode.ts';
import { childrenOf } from './schema.ts';
import { fieldById, fieldByName, schemaFields } from './schema-index.ts';
import { columnProperties, type Properties, tableProperty } from './table-properties.ts';
import type { IcebergType, NestedField, Schema, SortOrder } from './types.ts';

const MODE_DEFAULT: MetricsMode = { kind: 'truncate', length: 16 };
const MODE_NONE: MetricsMode = { kind: 'none' };

/** Sort transforms under which the order of a column's values shows in its bounds. */
const ORDER_PRESERVING: readonly string[] = [
  'identity',
  'truncate',
  'year',
  'month',
  'day',
  'hour',
];

/**
 * The metrics mode of every field by id, as Iceberg Java's `MetricsConfig.forTable` decides: the table's
 * default; in tables of more than `max-inferred-column-defaults` columns without such a property, the first
 * columns only; sorted columns at least truncate(16); single columns by property.
 *
 * @throws invalid-config — when a property is malformed
 */
export function metricsModes(
  schema: Schema,
  sortOrder: SortOrder,
  properties: Properties,
): ReadonlyMap<number, MetricsMode> {
  const configured = tableProperty(properties, 'write.metadata.metrics.default');
  const modes = new Map<number, MetricsMode>();
  for (const [fieldId, mode] of defaultModes(schema, configured, properties)) {
    modes.set(fieldId, mode);
  }
  const isBare = configured?.kind === 'none' || configured?.kind === 'counts';
  const isLimited = configured === undefined && isWide(schema, properties);
  const sortedMode = isBare || isLimited ? MODE_DEFAULT : (configured ?? MODE_DEFAULT);
  for (const field of sortOrder.fields) {
    const sourceId = field.sourceIds[0] ?? -1;
    const isKept = ORDER_PRESERVING.includes(field.transform.kind);
    if (isKept && fieldById(schema, sourceId)) modes.set(sourceId, sortedMode);
  }
  for (const [column, mode] of columnProperties(properties, 'write.metadata.metrics.column.')) {
    const field = fieldByName(schema, column);
    if (field !== undefined) modes.set(field.field.fieldId, mode);
  }
  return modes;
}

function defaultModes(
  schema: Schema,
  configured: MetricsMode | undefined,
  properties: Properties,
): readonly (readonly [number, MetricsMode])[] {
  const fieldIds = [...schemaFields(schema).keys()];
  if (configured !== undefined) return fieldIds.map((fieldId) => [fieldId, configured]);
  if (!isWide(schema, properties)) return fieldIds.map((fieldId) => [fieldId, MODE_DEFAULT]);
  const limit = tableProperty(properties, 'write.metadata.metrics.max-inferred-column-defaults');
  const first = new Set(firstColumns(schema, limit));
  return fieldIds.map((fieldId) => [fieldId, first.has(fieldId) ? MODE_DEFAULT : MODE_NONE]);
}

function isWide(schema: Schema, properties: Properties): boolean {
  const limit = tableProperty(properties, 'write.metadata.metrics.max-inferred-column-defaults');
  return countProjected(schema.fields) > limit;
}

/** Counts fields as Java's `TypeUtil.getProjectedIds` does, which takes list and map members only of leaves. */
function countProjected(fields: readonly NestedField[]): number {
  let count = 0;
  for (const { type } of fields) {
    const isCounted = type.kind !== 'list' && type.kind !== 'map';
    count += (isCounted ? 1 : 0) + countMembers(type);
  }
  return count;
}

function countMembers(type: IcebergType): number {
  switch (type.kind) {
    case 'struct':
      return countProjected(type.fields);
    case 'list':
      return isLeaf(type.elementType) ? 1 : countMembers(type.elementType);
    case 'map': {
      const inside = countMembers(type.keyType) + countMembers(type.valueType);
      return isLeaf(type.valueType) ? inside + 2 : inside;
    }
    default:
      return 0;
  }
}

/** The first leaf columns: those of a struct before those nested in it, as Java's `limitFieldIds` walks. */
function firstColumns(schema: Schema, limit: number): readonly number[] {
  const fieldIds: number[] = [];
  const visit = (fields: readonly NestedField[]): void => {
    for (const field of fields) {
      if (fieldIds.length >= limit) return;
      if (isLeaf(field.type)) fieldIds.push(field.fieldId);
    }
    for (const field of fields) visit(childrenOf(field.type));
  };
  visit(schema.fields);
  return fieldIds;
}

function isLeaf(type: IcebergType): boolean {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map';
}
