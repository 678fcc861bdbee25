import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  boundsOf,
  comparePhysical,
  countNaN,
  mergeBounds,
  type ValueOrder,
  valueOrderOf,
} from '../../shared/parquet/encode-bounds.ts';
import type { SchemaElement } from '../../shared/parquet/metadata-types.ts';
import { elementOf, physicalValuesOf } from './leaf-values-arbitrary.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const text = (value: string) => new TextEncoder().encode(value);
const int = (value: number) => new Uint8Array(Int32Array.of(value).buffer);
const long = (value: bigint) => new Uint8Array(BigInt64Array.of(value).buffer);
const double = (value: number) => new Uint8Array(Float64Array.of(value).buffer);
const float = (value: number) => new Uint8Array(Float32Array.of(value).buffer);

function element(
  type: NonNullable<SchemaElement['type']>,
  more: Partial<SchemaElement> = {},
): SchemaElement {
  return { name: 'x', type, ...more };
}

describe('valueOrderOf', () => {
  const orders: readonly [SchemaElement, ValueOrder][] = [
    [element('BOOLEAN'), 'boolean'],
    [element('INT32'), 'int32'],
    [element('INT32', { convertedType: 'UINT_8' }), 'uint32'],
    [
      element('INT64', { logicalType: { type: 'INTEGER', bitWidth: 64, isSigned: false } }),
      'uint64',
    ],
    [element('INT64', { logicalType: { type: 'DECIMAL', precision: 9, scale: 2 } }), 'int64'],
    [element('INT96'), 'none'],
    [element('FLOAT'), 'float'],
    [element('DOUBLE'), 'double'],
    [element('BYTE_ARRAY'), 'bytes'],
    [element('BYTE_ARRAY', { convertedType: 'UTF8' }), 'text'],
    [element('BYTE_ARRAY', { convertedType: 'DECIMAL' }), 'decimal'],
    [element('BYTE_ARRAY', { logicalType: { type: 'GEOMETRY' } }), 'none'],
    [element('FIXED_LEN_BYTE_ARRAY', { logicalType: { type: 'UUID' } }), 'bytes'],
    [element('FIXED_LEN_BYTE_ARRAY', { logicalType: { type: 'FLOAT16' } }), 'none'],
    [element('FIXED_LEN_BYTE_ARRAY', { convertedType: 'INTERVAL' }), 'none'],
  ];
  for (const [leaf, order] of orders) {
    const annotation = leaf.logicalType?.type ?? leaf.convertedType ?? 'plain';
    test(`is ${order} for ${annotation} ${leaf.type}`, () => {
      assert.equal(valueOrderOf(leaf), order);
    });
  }
});

describe('boundsOf', () => {
  const cases: readonly [
    ValueOrder,
    'INT32' | 'INT64' | 'FLOAT' | 'DOUBLE' | 'BYTE_ARRAY' | 'BOOLEAN',
    Uint8Array[],
    Uint8Array,
    Uint8Array,
  ][] = [
    ['boolean', 'BOOLEAN', [bytes(1), bytes(0)], bytes(0), bytes(1)],
    ['int32', 'INT32', [int(5), int(-3), int(4)], int(-3), int(5)],
    ['uint32', 'INT32', [int(5), int(-3), int(4)], int(4), int(-3)],
    ['int64', 'INT64', [long(5n), long(-(2n ** 63n))], long(-(2n ** 63n)), long(5n)],
    ['uint64', 'INT64', [long(5n), long(-1n)], long(5n), long(-1n)],
    ['float', 'FLOAT', [float(Number.NaN), float(1.5), float(-2)], float(-2), float(1.5)],
    ['double', 'DOUBLE', [double(0), double(-0), double(Number.NaN)], double(-0), double(0)],
    ['text', 'BYTE_ARRAY', [text('é'), text('z'), text('')], text(''), text('é')],
    [
      'decimal',
      'BYTE_ARRAY',
      [bytes(0xff), bytes(0), bytes(0xff, 0x7f), bytes(1, 0)],
      bytes(0xff, 0x7f),
      bytes(1, 0),
    ],
  ];
  for (const [order, type, values, min, max] of cases) {
    test(`follows the order ${order}`, () => {
      assert.deepEqual(boundsOf(physicalValuesOf(elementOf(type), values), order), { min, max });
    });
  }

  test('are absent for NaN only, for no values, and without an order', () => {
    const nans = physicalValuesOf(elementOf('DOUBLE'), [double(Number.NaN)]);
    assert.equal(boundsOf(nans, 'double'), undefined);
    assert.equal(countNaN(nans, 'double'), 1);
    assert.equal(boundsOf(physicalValuesOf(elementOf('INT32'), []), 'int32'), undefined);
    assert.equal(boundsOf(physicalValuesOf(elementOf('INT32'), [int(1)]), 'none'), undefined);
  });

  test('merge by the same order', () => {
    const one = { min: int(-1), max: int(3) };
    const other = { min: int(0), max: int(9) };

    assert.deepEqual(mergeBounds(one, other, 'int32'), { min: int(-1), max: int(9) });
    assert.deepEqual(mergeBounds(undefined, other, 'int32'), other);
  });

  test('takes sign-extended decimals for equal', () => {
    assert.equal(comparePhysical('decimal', bytes(0xff, 0xff), bytes(0xff)), 0);
    assert.ok(comparePhysical('decimal', bytes(0x80), bytes(0xff, 0x7f)) > 0);
  });

  test('takes infinities for equal to themselves', () => {
    assert.equal(comparePhysical('double', double(Infinity), double(Infinity)), 0);
    assert.equal(comparePhysical('float', float(-Infinity), float(-Infinity)), 0);
  });
});
