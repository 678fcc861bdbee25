import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAvroType, serializeAvroType } from '../../shared/avro/index.ts';
import { isIcebergError, type JsonValue } from '../../shared/base/index.ts';

test('keeps every attribute of a schema', () => {
  const schema = {
    type: 'record',
    name: 'r',
    doc: 'text',
    fields: [
      { name: 'a', type: ['null', 'long'], default: null, 'field-id': 1 },
      { name: 'b', type: { type: 'array', items: 'int', 'element-id': 3 }, 'field-id': 2 },
      { name: 'c', type: { type: 'int', logicalType: 'date' }, order: 'ignore' },
      { name: 'd', type: { type: 'map', values: 'bytes', 'key-id': 4, 'value-id': 5 } },
      { name: 'e', type: { type: 'enum', name: 'colour', symbols: ['red', 'blue'] } },
    ],
  };

  assert.deepEqual(serializeAvroType(parseAvroType(schema, 'x')), schema);
});

test('resolves a name within its namespace and defines it where it first occurs', () => {
  const fixed = { type: 'fixed', name: 'f', size: 4 };
  const schema = {
    type: 'record',
    name: 'outer',
    namespace: 'a.b',
    fields: [
      { name: 'one', type: fixed },
      { name: 'two', type: 'f' },
      { name: 'three', type: { type: 'a.b.f' } },
    ],
  };

  assert.deepEqual(serializeAvroType(parseAvroType(schema, 'x')), {
    type: 'record',
    name: 'a_b_outer',
    fields: [
      { name: 'one', type: { ...fixed, name: 'a_b_f' } },
      { name: 'two', type: 'a_b_f' },
      { name: 'three', type: 'a_b_f' },
    ],
  });
});

test('gives two types of one name different names', () => {
  const one = parseAvroType({ type: 'fixed', name: 'f', size: 4 }, 'x');
  const other = parseAvroType({ type: 'fixed', name: 'f', size: 8 }, 'x');
  const base = parseAvroType({ type: 'record', name: 'r', fields: [] }, 'x');
  assert.ok(base.kind === 'record');
  const fields = [
    { name: 'a', type: one, source: { name: 'a', type: 'null' } },
    { name: 'b', type: other, source: { name: 'b', type: 'null' } },
  ];

  assert.deepEqual(serializeAvroType({ ...base, fields }), {
    type: 'record',
    name: 'r',
    fields: [
      { name: 'a', type: { type: 'fixed', name: 'f', size: 4 } },
      { name: 'b', type: { type: 'fixed', name: 'f_2', size: 8 } },
    ],
  });
});

const recordOf = (...fields: JsonValue[]): JsonValue => ({ type: 'record', name: 'r', fields });

const INVALID: Readonly<Record<string, JsonValue>> = {
  'a number': 5,
  'an undefined name': 'nothing',
  'an object without type': { name: 'x' },
  'an empty union': [],
  'a union in a union': ['null', ['null', 'int']],
  'null twice in a union': ['null', 'null'],
  'a record without fields': { type: 'record', name: 'r' },
  'a record without name': { type: 'record', fields: [] },
  'a field that is no object': recordOf('int'),
  'a field without name': recordOf({ type: 'int' }),
  'a field without type': recordOf({ name: 'a' }),
  'two fields of one name': recordOf({ name: 'a', type: 'int' }, { name: 'a', type: 'int' }),
  'a fixed of negative size': { type: 'fixed', name: 'f', size: -1 },
  'an enum without symbols': { type: 'enum', name: 'e' },
  'an array without items': { type: 'array' },
  'a name defined twice': recordOf(
    { name: 'a', type: { type: 'fixed', name: 'f', size: 1 } },
    { name: 'b', type: { type: 'fixed', name: 'f', size: 2 } },
  ),
};

for (const [what, schema] of Object.entries(INVALID)) {
  test(`rejects ${what}`, () => {
    assert.throws(
      () => parseAvroType(schema, 'x'),
      (error) => isIcebergError(error, 'invalid-data'),
    );
  });
}

const UNSUPPORTED: Readonly<Record<string, JsonValue>> = {
  'a recursive type': recordOf({ name: 'a', type: ['null', 'r'] }),
  'a union of two types': ['int', 'string'],
  'a field named __proto__': JSON.parse(
    '{"type":"record","name":"r","fields":[{"name":"__proto__","type":"int"}]}',
  ),
  'types nested 65 deep': nest(65),
  'a huge fixed': { type: 'fixed', name: 'f', size: 2_000_000 },
  'a schema that doubles with each name': doubling(30),
};

for (const [what, schema] of Object.entries(UNSUPPORTED)) {
  test(`does not support ${what}`, () => {
    assert.throws(
      () => parseAvroType(schema, 'x'),
      (error) => isIcebergError(error, 'unsupported'),
    );
  });
}

function nest(depth: number): JsonValue {
  let type: JsonValue = 'int';
  for (let level = 1; level < depth; level++) type = { type: 'array', items: type };
  return type;
}

/** Each record has two fields of the one before: 2^levels values in no bytes of schema. */
function doubling(levels: number): JsonValue {
  const fields: JsonValue[] = [{ name: 'f0', type: { type: 'record', name: 'r0', fields: [] } }];
  for (let level = 1; level < levels; level++) {
    const inner = [
      { name: 'a', type: `r${level - 1}` },
      { name: 'b', type: `r${level - 1}` },
    ];
    fields.push({ name: `f${level}`, type: { type: 'record', name: `r${level}`, fields: inner } });
  }
  return { type: 'record', name: 'top', fields };
}
