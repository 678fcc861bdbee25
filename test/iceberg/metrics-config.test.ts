import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createSchema,
  type IcebergType,
  type MetricsMode,
  metricsModes,
  type NestedField,
  parseSortOrder,
  type SortOrder,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';

const UNSORTED = parseSortOrder({ 'order-id': 0, fields: [] }, 'order');

function field(fieldId: number, type: IcebergType = { kind: 'int' }): NestedField {
  return { fieldId, name: `c${fieldId}`, isRequired: false, type };
}

function sortedBy(...sorts: readonly (readonly [number, string])[]): SortOrder {
  const fields = sorts.map(([id, transform]) => ({
    'source-id': id,
    transform,
    direction: 'asc',
    'null-order': 'nulls-first',
  }));
  return parseSortOrder({ 'order-id': 1, fields }, 'order');
}

function text(mode: MetricsMode | undefined): string | undefined {
  return mode?.kind === 'truncate' ? `truncate(${mode.length})` : mode?.kind;
}

/** Texts of the modes of the fields. */
function modesOf(
  fields: readonly NestedField[],
  properties: Record<string, string> = {},
  order: SortOrder = UNSORTED,
): Record<number, string | undefined> {
  const modes = metricsModes(createSchema(0, fields), order, properties);
  return Object.fromEntries([...modes].map(([id, mode]) => [id, text(mode)]));
}

const LIMIT_2 = { 'write.metadata.metrics.max-inferred-column-defaults': '2' };
const TWO = [field(1), field(2)];

test('columns have truncate(16) where nothing is said', () => {
  assert.deepEqual(modesOf(TWO), { 1: 'truncate(16)', 2: 'truncate(16)' });
});

test('the default mode of the table and the modes of columns are taken', () => {
  const properties = {
    'write.metadata.metrics.default': 'counts',
    'write.metadata.metrics.column.c2': 'full',
    'write.metadata.metrics.column.gone': 'none',
  };
  assert.deepEqual(modesOf(TWO, properties), { 1: 'counts', 2: 'full' });
});

test('beyond the limit of columns only the first have metrics', () => {
  assert.deepEqual(modesOf([...TWO, field(3)], LIMIT_2), {
    1: 'truncate(16)',
    2: 'truncate(16)',
    3: 'none',
  });
  assert.deepEqual(modesOf(TWO, LIMIT_2), { 1: 'truncate(16)', 2: 'truncate(16)' });
});

test('a default mode of the table lifts the limit', () => {
  const properties = { ...LIMIT_2, 'write.metadata.metrics.default': 'full' };
  assert.deepEqual(modesOf([...TWO, field(3)], properties), { 1: 'full', 2: 'full', 3: 'full' });
});

test('columns of a struct come before those nested in it', () => {
  const struct: IcebergType = { kind: 'struct', fields: [field(11), field(12)] };
  const list: IcebergType = {
    kind: 'list',
    elementId: 21,
    isElementRequired: true,
    elementType: { kind: 'int' },
  };

  const modes = modesOf([field(1, struct), field(2, list), field(3)], LIMIT_2);

  assert.deepEqual(modes, {
    1: 'none',
    11: 'truncate(16)',
    12: 'none',
    2: 'none',
    21: 'none',
    3: 'truncate(16)',
  });
});

test('a list or map counts by its leaves, a struct counts itself too', () => {
  const map: IcebergType = {
    kind: 'map',
    keyId: 11,
    keyType: { kind: 'string' },
    valueId: 12,
    isValueRequired: false,
    valueType: { kind: 'int' },
  };
  const struct: IcebergType = { kind: 'struct', fields: [field(11)] };
  const first = (fields: readonly NestedField[]) => modesOf(fields, LIMIT_2)[99];

  assert.equal(first([field(1, map), field(99)]), 'truncate(16)');
  assert.equal(first([field(1, map), field(98), field(97), field(99)]), 'none');
  assert.equal(first([field(1, struct), field(98), field(97), field(99)]), 'none');
  assert.deepEqual(modesOf([field(1, map)], LIMIT_2), {
    1: 'truncate(16)',
    11: 'truncate(16)',
    12: 'truncate(16)',
  });
});

test('sorted columns have bounds even where the default has none', () => {
  const order = sortedBy([1, 'identity'], [2, 'bucket[4]'], [9, 'identity']);
  const properties = { 'write.metadata.metrics.default': 'none' };

  assert.deepEqual(modesOf(TWO, properties, order), { 1: 'truncate(16)', 2: 'none' });
  assert.deepEqual(modesOf(TWO, { 'write.metadata.metrics.default': 'full' }, order), {
    1: 'full',
    2: 'full',
  });
  const override = { ...properties, 'write.metadata.metrics.column.c1': 'counts' };
  assert.deepEqual(modesOf(TWO, override, order), { 1: 'counts', 2: 'none' });
  assert.equal(modesOf([...TWO, field(3)], LIMIT_2, sortedBy([3, 'day']))[3], 'truncate(16)');
});

test('malformed modes are refused', () => {
  throwsKind(
    () => modesOf(TWO, { 'write.metadata.metrics.column.c1': 'some' }),
    'invalid-config',
    /c1: value some/,
  );
});
