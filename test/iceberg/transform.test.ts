import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromHex } from '../../shared/bytes/index.ts';
import {
  applyTransform,
  canTransform,
  compareSingleValues,
  createPartitionSpec,
  createSchema,
  hasUnrecognizedTransform,
  isUnpartitioned,
  type NestedField,
  type PrimitiveType,
  parsePartitionSpec,
  parseSortOrder,
  parseTransform,
  partitionPath,
  partitionType,
  type SingleValue,
  type Transform,
  transformResultType,
  transformText,
} from '../../shared/iceberg/index.ts';
import { murmur3 } from '../../shared/iceberg/murmur3.ts';
import { throwsKind } from './expect-error.ts';
import { primitiveOf } from './java-goldens.ts';

const SEED = 20260901;
const BUCKETS = 2 ** 31 - 1;

/** The bucket of a hash where nearly every bit of it shows. */
function bucketOf(hash: number): number {
  return (hash & 0x7fffffff) % BUCKETS;
}

test('hashes the values of the spec', () => {
  const micros = 1_510_871_468_000_000n;
  const cases: readonly (readonly [string, SingleValue, number])[] = [
    ['int', 34, 2017239379],
    ['long', 34n, 2017239379],
    ['decimal(9,2)', 1420n, -500754589],
    ['date', 17486, -653330422],
    ['time', 81_068_000_000n, -662762989],
    ['timestamp', micros, -2047944441],
    ['timestamp', micros + 1n, -1207196810],
    ['timestamptz', micros, -2047944441],
    ['timestamp_ns', micros * 1000n, -2047944441],
    ['timestamp_ns', (micros + 1n) * 1000n + 1n, -1207196810],
    ['timestamptz_ns', (micros + 1n) * 1000n + 1n, -1207196810],
    ['string', 'iceberg', 1210000089],
    ['uuid', fromHex('f79c3e09677c4bbda4793f349cb785e7'), 1488055340],
    ['fixed[4]', fromHex('00010203'), -188683207],
    ['binary', fromHex('00010203'), -188683207],
  ];
  const bucket: Transform = { kind: 'bucket', bucketCount: BUCKETS };
  for (const [type, value, hash] of cases) {
    assert.equal(applyTransform(bucket, primitiveOf(type), value), bucketOf(hash), type);
  }
  assert.equal(murmur3(new Uint8Array()), 0);
});

test('truncates the values of the spec', () => {
  const truncate = (width: number): Transform => ({ kind: 'truncate', width });
  assert.equal(applyTransform(truncate(10), { kind: 'int' }, 1), 0);
  assert.equal(applyTransform(truncate(10), { kind: 'int' }, -1), -10);
  assert.equal(applyTransform(truncate(10), { kind: 'long' }, -1n), -10n);
  assert.equal(applyTransform(truncate(50), primitiveOf('decimal(9,2)'), 1065n), 1050n);
  assert.equal(applyTransform(truncate(3), { kind: 'string' }, 'iceberg'), 'ice');
  assert.equal(applyTransform(truncate(1), { kind: 'string' }, '😀a'), '😀');
  assert.deepEqual(
    applyTransform(truncate(3), { kind: 'binary' }, fromHex('0102030405')),
    fromHex('010203'),
  );
});

test('void gives null for every value, other transforms give null for null', () => {
  assert.equal(applyTransform({ kind: 'void' }, { kind: 'int' }, 7), null);
  assert.equal(applyTransform({ kind: 'bucket', bucketCount: 4 }, { kind: 'int' }, null), null);
});

test('a transform is not applied to types that it does not take', () => {
  throwsKind(() => applyTransform({ kind: 'hour' }, { kind: 'date' }, 1), 'unsupported');
  throwsKind(
    () => applyTransform({ kind: 'truncate', width: 2 }, { kind: 'date' }, 1),
    'unsupported',
  );
  throwsKind(
    () => applyTransform({ kind: 'bucket', bucketCount: 2 }, { kind: 'float' }, 1),
    'unsupported',
  );
  const zorder: Transform = { kind: 'unrecognized', text: 'zorder' };
  throwsKind(() => applyTransform(zorder, { kind: 'int' }, 1), 'unsupported');
  assert.equal(canTransform({ kind: 'identity' }, primitiveOf('geometry')), false);
  assert.equal(canTransform({ kind: 'identity' }, { kind: 'variant' }), false);
  assert.equal(canTransform({ kind: 'void' }, { kind: 'variant' }), true);
});

test('transform texts are read without case and written as the spec has them', () => {
  for (const text of [
    'identity',
    'bucket[16]',
    'truncate[3]',
    'year',
    'month',
    'day',
    'hour',
    'void',
  ]) {
    assert.equal(transformText(parseTransform(text.toUpperCase(), 't')), text);
  }
  assert.deepEqual(parseTransform('zOrder[2]', 't'), { kind: 'unrecognized', text: 'zOrder[2]' });
  assert.equal(transformText(parseTransform('zOrder[2]', 't')), 'zOrder[2]');
  throwsKind(() => parseTransform('bucket[0]', 't'), 'invalid-data', /outside 1 to/);
  throwsKind(() => parseTransform('truncate[2147483648]', 't'), 'invalid-data');
});

test('truncate is monotonic and never above its value', () => {
  const types: readonly PrimitiveType[] = [
    { kind: 'long' },
    { kind: 'string' },
    { kind: 'binary' },
  ];
  const values = [
    fc.bigInt({ min: -(2n ** 62n), max: 2n ** 63n - 1n }),
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 8 }),
  ];
  types.forEach((type, index) => {
    const value = values[index] as fc.Arbitrary<SingleValue>;
    fc.assert(
      fc.property(value, value, fc.integer({ min: 1, max: 12 }), (one, other, width) => {
        const [low, high] = compareSingleValues(one, other) <= 0 ? [one, other] : [other, one];
        const cut = (of: SingleValue) => applyTransform({ kind: 'truncate', width }, type, of)!;
        return (
          compareSingleValues(cut(low), cut(high)) <= 0 && compareSingleValues(cut(low), low) <= 0
        );
      }),
      { seed: SEED },
    );
  });
});

test('days, months and years of a timestamp are those of its date', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -719_000, max: 2_900_000 }),
      fc.integer({ min: 0, max: 86_399 }),
      (day, second) => {
        const micros = (BigInt(day) * 86_400n + BigInt(second)) * 1_000_000n;
        const date = new Date(day * 86_400_000);
        const years = date.getUTCFullYear() - 1970;
        const apply = (kind: 'year' | 'month' | 'day') =>
          applyTransform({ kind }, { kind: 'timestamp' }, micros);
        assert.equal(apply('day'), day);
        assert.equal(apply('month'), years * 12 + date.getUTCMonth());
        assert.equal(apply('year'), years);
      },
    ),
    { seed: SEED },
  );
});

const ID: NestedField = { fieldId: 1, name: 'id', isRequired: false, type: { kind: 'int' } };

test('reads specs with several source columns as unrecognized, and keeps the rest', () => {
  const spec = parsePartitionSpec(
    {
      'spec-id': 2,
      fields: [
        { 'source-ids': [1, 2], 'field-id': 1000, name: 'both', transform: 'bucket[4]' },
        { 'source-ids': [1], 'field-id': 1001, name: 'one', transform: 'bucket[4]' },
      ],
    },
    'spec',
  );

  assert.deepEqual(spec.fields[0], {
    sourceIds: [1, 2],
    fieldId: 1000,
    name: 'both',
    transform: { kind: 'unrecognized', text: 'bucket[4]' },
  });
  assert.deepEqual(spec.fields[1]?.transform, { kind: 'bucket', bucketCount: 4 });
  assert.equal(hasUnrecognizedTransform(spec), true);
  assert.deepEqual(createPartitionSpec(2, spec.fields).fields, spec.fields);
});

test('numbers the fields of a v1 spec from 1000, and refuses a spec where only some have ids', () => {
  const first = { 'source-id': 1, name: 'a', transform: 'identity' };
  const second = { 'source-id': 1, name: 'b', transform: 'bucket[2]' };

  const spec = parsePartitionSpec({ 'spec-id': 0, fields: [first, second] }, 'spec');

  assert.deepEqual(
    spec.fields.map(({ fieldId }) => fieldId),
    [1000, 1001],
  );
  const mixed = { 'spec-id': 0, fields: [first, { ...second, 'field-id': 1001 }] };
  throwsKind(() => parsePartitionSpec(mixed, 'spec'), 'invalid-data', /1 of 2 fields/);
});

test('refuses malformed specs and sort orders', () => {
  const field = { 'source-id': 1, 'field-id': 1000, name: 'a', transform: 'identity' };
  throwsKind(
    () => parsePartitionSpec({ 'spec-id': 0, fields: [field, field] }, 's'),
    'invalid-data',
    /twice/,
  );
  throwsKind(() => parsePartitionSpec({ fields: [] }, 's'), 'invalid-data', /spec-id/);
  const noSource = { 'field-id': 1000, name: 'a', transform: 'identity', 'source-ids': [] };
  throwsKind(
    () => parsePartitionSpec({ 'spec-id': 0, fields: [noSource] }, 's'),
    'invalid-data',
    /empty/,
  );
  const sort = {
    transform: 'identity',
    'source-id': 1,
    direction: 'asc',
    'null-order': 'nulls-last',
  };
  throwsKind(
    () => parseSortOrder({ 'order-id': 0, fields: [sort] }, 's'),
    'invalid-data',
    /unsorted/,
  );
  const bad = [
    { ...sort, direction: 'up' },
    { ...sort, 'null-order': 'last' },
  ];
  for (const one of bad) {
    throwsKind(
      () => parseSortOrder({ 'order-id': 1, fields: [one] }, 's'),
      'invalid-data',
      /neither/,
    );
  }
});

test('a spec is unpartitioned when it has no fields or only void ones', () => {
  const field = { sourceIds: [1], fieldId: 1000, name: 'a' };
  assert.equal(isUnpartitioned(createPartitionSpec(0, [])), true);
  assert.equal(
    isUnpartitioned(createPartitionSpec(0, [{ ...field, transform: { kind: 'void' } }])),
    true,
  );
  assert.equal(
    isUnpartitioned(createPartitionSpec(0, [{ ...field, transform: { kind: 'day' } }])),
    false,
  );
});

test('partition types follow promoted, dropped and lost source columns', () => {
  const spec = createPartitionSpec(0, [
    { sourceIds: [1], fieldId: 1000, name: 'id', transform: { kind: 'identity' } },
    { sourceIds: [2], fieldId: 1001, name: 'gone', transform: { kind: 'identity' } },
    { sourceIds: [7], fieldId: 1002, name: 'lost', transform: { kind: 'identity' } },
    {
      sourceIds: [7],
      fieldId: 1003,
      name: 'lost_bucket',
      transform: { kind: 'bucket', bucketCount: 2 },
    },
  ]);
  const before = createSchema(0, [
    ID,
    { ...ID, fieldId: 2, name: 'gone', type: { kind: 'string' } },
  ]);
  const now = createSchema(1, [{ ...ID, type: { kind: 'long' } }]);

  const { fields } = partitionType(spec, [now, before]);

  assert.deepEqual(
    fields.map(({ type }) => type.kind),
    ['long', 'string', 'unknown', 'int'],
  );
  assert.deepEqual(
    fields.map(({ fieldId }) => fieldId),
    [1000, 1001, 1002, 1003],
  );
});

test('an identity of a nested column is refused, a void one has type int', () => {
  const nested = { ...ID, type: { kind: 'struct', fields: [] } } as const;
  throwsKind(() => transformResultType({ kind: 'identity' }, nested.type, 's'), 'invalid-data');
  assert.deepEqual(transformResultType({ kind: 'void' }, nested.type, 's'), { kind: 'int' });
});

test('escapes names and values in partition paths, lone surrogates too', () => {
  const spec = createPartitionSpec(0, [
    { sourceIds: [1], fieldId: 1000, name: "it's (a) ~b!*", transform: { kind: 'identity' } },
  ]);
  const type = partitionType(spec, [createSchema(0, [{ ...ID, type: { kind: 'string' } }])]);

  assert.equal(partitionPath(spec, type, ['\ud800x']), 'it%27s+%28a%29+%7Eb%21*=%3Fx');
  assert.equal(partitionPath(createPartitionSpec(1, []), { kind: 'struct', fields: [] }, []), '');
});
