import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../shared/base/index.ts';
import {
  createSchema,
  FIELD_ID_MAX,
  fieldById,
  fieldByName,
  isPromotionAllowed,
  parseSchema,
  parseType,
  SCHEMA_DEPTH_MAX,
  schemaFields,
  typeText,
  typeToJson,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';

function schemaOf(...fields: readonly JsonValue[]) {
  return parseSchema({ type: 'struct', 'schema-id': 3, fields });
}

function column(id: number, type: JsonValue, keys: Record<string, JsonValue> = {}): JsonValue {
  return { id, name: `c${id}`, required: false, type, ...keys };
}

const POINTS: JsonValue = {
  type: 'list',
  'element-id': 2,
  'element-required': true,
  element: { type: 'struct', fields: [column(3, 'double')] },
};

test('reads every primitive type with its parameters', () => {
  const texts = [
    'unknown boolean int long float double date time timestamp timestamptz timestamp_ns timestamptz_ns',
    'string uuid binary variant',
  ];
  for (const text of texts.join(' ').split(' ')) assert.equal(typeText(parseType(text, 't')), text);
  assert.deepEqual(parseType('decimal( 9,2 )', 't'), { kind: 'decimal', precision: 9, scale: 2 });
  assert.deepEqual(parseType('fixed[ 16 ]', 't'), { kind: 'fixed', lengthBytes: 16 });
  assert.deepEqual(parseType('geometry', 't'), { kind: 'geometry', crs: 'OGC:CRS84' });
  assert.deepEqual(parseType('geometry( srid:4326 )', 't'), { kind: 'geometry', crs: 'srid:4326' });
  assert.deepEqual(parseType('geography', 't'), {
    kind: 'geography',
    crs: 'OGC:CRS84',
    algorithm: 'spherical',
  });
  assert.deepEqual(parseType('geography(EPSG:4269, Karney)', 't'), {
    kind: 'geography',
    crs: 'EPSG:4269',
    algorithm: 'karney',
  });
});

test('writes types in the canonical form of the spec', () => {
  for (const text of [
    'decimal(9, 2)',
    'fixed[16]',
    'geometry(OGC:CRS84)',
    'geography(x, thomas)',
  ]) {
    assert.equal(typeToJson(parseType(text, 't')), text);
  }
  assert.deepEqual(typeToJson(parseType(POINTS, 't')), POINTS);
});

test('refuses types that it does not know as unsupported', () => {
  throwsKind(() => parseType('interval', 't'), 'unsupported', /type interval is not known/);
  throwsKind(() => parseType({ type: 'union' }, 't'), 'unsupported', /union/);
});

test('refuses type parameters out of range', () => {
  for (const text of ['decimal(39,2)', 'decimal(0,0)', 'decimal(9,10)', 'fixed[9999999999]']) {
    throwsKind(() => parseType(text, 't'), 'invalid-data');
  }
  throwsKind(() => parseType('geometry( )', 't'), 'invalid-data', /is empty/);
  throwsKind(() => parseType('geography(x, flat)', 't'), 'invalid-data', /flat is none of/);
});

test('refuses types nested deeper than the limit, and takes those that are not', () => {
  const nested = (depth: number): JsonValue =>
    depth === 1
      ? 'int'
      : { type: 'list', 'element-id': depth, 'element-required': true, element: nested(depth - 1) };

  assert.equal(parseType(nested(SCHEMA_DEPTH_MAX), 't').kind, 'list');
  throwsKind(() => parseType(nested(SCHEMA_DEPTH_MAX + 1), 't'), 'unsupported', /deeper than 64/);
});

test('refuses field ids that occur twice, wherever they are nested', () => {
  throwsKind(() => schemaOf(column(1, POINTS), column(3, 'int')), 'invalid-data', /3 occurs twice/);
  throwsKind(() => schemaOf(column(2, POINTS)), 'invalid-data', /2 occurs twice/);
});

test('refuses reserved and negative field ids', () => {
  assert.equal(schemaOf(column(FIELD_ID_MAX, 'int')).fields.length, 1);
  throwsKind(() => schemaOf(column(FIELD_ID_MAX + 1, 'int')), 'invalid-data', /outside/);
  throwsKind(() => schemaOf(column(-1, 'int')), 'invalid-data', /outside/);
});

test('keeps defaults in their JSON form and refuses them where only null is allowed', () => {
  const schema = schemaOf(column(1, 'int', { 'initial-default': 0, 'write-default': 7 }));

  assert.equal(schema.fields[0]?.initialDefault, 0);
  assert.equal(schema.fields[0]?.writeDefault, 7);
  const variant = column(1, 'variant', { 'initial-default': 1 });
  throwsKind(
    () => schemaOf(variant),
    'invalid-data',
    /initial-default of type variant is not null/,
  );
});

test('refuses fields with missing or malformed keys', () => {
  const fields: JsonValue[] = [
    null,
    'id',
    { name: 'a', required: true, type: 'int' },
    { id: 1.5, name: 'a', required: true, type: 'int' },
    { id: 2 ** 31, name: 'a', required: true, type: 'int' },
    { id: 1, required: true, type: 'int' },
    { id: 1, name: 'a', type: 'int' },
    { id: 1, name: 'a', required: true },
    { id: 1, name: 'a', required: true, type: 7 },
    { id: 1, name: 'a', required: true, type: 'int', doc: 7 },
    { id: 1, name: 'a', required: true, type: { type: 'map', 'key-id': 2 } },
  ];
  for (const field of fields) throwsKind(() => schemaOf(field), 'invalid-data');
  throwsKind(() => parseSchema({ type: 'list', fields: [] }), 'invalid-data', /not struct/);
  throwsKind(() => parseSchema({ fields: {} }), 'invalid-data', /not a JSON array/);
});

test('a schema without an id is schema 0', () => {
  assert.equal(parseSchema({ type: 'struct', fields: [] }).schemaId, 0);
});

test('a created schema has the JSON form that it is parsed from', () => {
  const { fields } = schemaOf(column(1, POINTS, { doc: 'where' }), column(9, 'int'));

  const created = createSchema(5, fields, [9]);

  assert.deepEqual(parseSchema(created.source), created);
});

test('finds fields by id with path, parents and repetition', () => {
  const schema = schemaOf(column(1, POINTS), column(9, 'int'));

  assert.deepEqual([...schemaFields(schema).keys()], [1, 2, 3, 9]);
  const found = fieldById(schema, 3);
  assert.equal(found?.fullName, 'c1.element.c3');
  assert.deepEqual(found?.parentIds, [1, 2]);
  assert.equal(found?.isRepeated, true);
  assert.equal(fieldById(schema, 9)?.isRepeated, false);
  assert.equal(fieldById(schema, 1)?.isRepeated, false);
  assert.equal(fieldById(schema, 4), undefined);
});

test('finds fields by full name and by the short name without element', () => {
  const schema = schemaOf(column(1, POINTS));

  assert.equal(fieldByName(schema, 'c1.element.c3')?.field.fieldId, 3);
  assert.equal(fieldByName(schema, 'c1.c3')?.field.fieldId, 3);
  assert.equal(fieldByName(schema, 'c1.element')?.field.fieldId, 2);
  assert.equal(fieldByName(schema, 'c3'), undefined);
});

test('allows exactly the promotions of the spec', () => {
  const texts = [
    ...['unknown', 'boolean', 'int', 'long', 'float', 'double', 'decimal(9, 2)', 'decimal(18, 2)'],
    ...['decimal(18, 3)', 'date', 'timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns'],
    ...['time', 'string', 'uuid', 'binary', 'fixed[4]', 'fixed[8]'],
  ];
  const allowed = (formatVersion: 1 | 2 | 3): readonly string[] =>
    texts.flatMap((from) =>
      texts
        .filter((to) => from !== to)
        .filter((to) => isPromotionAllowed(parseType(from, 't'), parseType(to, 't'), formatVersion))
        .map((to) => `${from} > ${to}`),
    );
  const always = ['int > long', 'float > double', 'decimal(9, 2) > decimal(18, 2)'];

  assert.deepEqual(allowed(1), always);
  assert.deepEqual(allowed(2), always);
  assert.deepEqual(
    allowed(3).filter((promotion) => !promotion.startsWith('unknown')),
    [...always, 'date > timestamp', 'date > timestamp_ns'],
  );
  assert.equal(isPromotionAllowed({ kind: 'unknown' }, parseType(POINTS, 't'), 3), true);
  assert.equal(isPromotionAllowed({ kind: 'variant' }, { kind: 'string' }, 3), false);
  for (const text of texts) {
    assert.ok(isPromotionAllowed(parseType(text, 't'), parseType(text, 't'), 1), text);
  }
});
