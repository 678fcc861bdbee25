import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonNumber, type JsonValue } from '../../shared/base/index.ts';
import { compareBytes, encodeUtf8, fromHex } from '../../shared/bytes/index.ts';
import {
  compareSingleValues,
  decodeSingleValue,
  encodeSingleValue,
  type SingleValue,
  singleValueFromJson,
  singleValueToJson,
  truncateLowerBound,
  truncateUpperBound,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';
import { primitiveOf } from './java-goldens.ts';

const SEED = 20260902;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

function decode(type: string, hex: string): SingleValue {
  return decodeSingleValue(primitiveOf(type), fromHex(hex), 'bound');
}

const VALUES: readonly (readonly [string, fc.Arbitrary<SingleValue>])[] = [
  ['boolean', fc.boolean()],
  ['int', fc.integer()],
  ['long', fc.bigInt(INT64)],
  ['float', fc.float()],
  ['double', fc.double()],
  ['decimal(38,4)', fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })],
  ['date', fc.integer({ min: -2_000_000, max: 2_000_000 })],
  ['time', fc.bigInt({ min: 0n, max: 86_399_999_999n })],
  ['timestamp', fc.bigInt({ min: -(2n ** 61n), max: 2n ** 61n })],
  ['timestamptz', fc.bigInt({ min: -(2n ** 61n), max: 2n ** 61n })],
  ['timestamp_ns', fc.bigInt(INT64)],
  ['timestamptz_ns', fc.bigInt(INT64)],
  ['string', fc.string({ unit: 'binary' })],
  ['uuid', fc.uint8Array({ minLength: 16, maxLength: 16 })],
  ['fixed[3]', fc.uint8Array({ minLength: 3, maxLength: 3 })],
  ['binary', fc.uint8Array()],
];

test('decoding undoes encoding for every type', () => {
  for (const [type, values] of VALUES) {
    const primitive = primitiveOf(type);
    fc.assert(
      fc.property(values, (value) => {
        assert.deepEqual(
          decodeSingleValue(primitive, encodeSingleValue(primitive, value), type),
          value,
        );
      }),
      { seed: SEED },
    );
  }
});

test('the JSON form is read back for every type', () => {
  for (const [type, values] of VALUES) {
    const primitive = primitiveOf(type);
    const isSayable = (value: SingleValue) => typeof value !== 'number' || Number.isFinite(value);
    fc.assert(
      fc.property(values.filter(isSayable), (value) => {
        const json = singleValueToJson(primitive, value);
        assert.deepEqual(singleValueFromJson(primitive, json, type), value);
      }),
      { seed: SEED },
    );
  }
});

test('reads values that were written before a promotion', () => {
  assert.equal(decode('long', 'ffffffff'), -1n);
  assert.equal(decode('double', '00009040'), 4.5);
  assert.equal(decode('timestamp', 'ffffffff'), -86_400_000_000n);
  assert.equal(decode('timestamp_ns', '01000000'), 86_400_000_000_000n);
  throwsKind(() => decode('timestamp_ns', 'ffffff7f'), 'invalid-data', /64 bits/);
});

test('refuses bytes that do not fit the type', () => {
  const cases = [
    ['boolean', ''],
    ['int', '000000'],
    ['int', '0000000000000000'],
    ['long', '000000'],
    ['float', '0000000000000000'],
    ['double', '00'],
    ['timestamptz', '00000000'],
    ['timestamptz_ns', '00000000'],
    ['time', '00000000'],
    ['decimal(9,2)', ''],
    ['decimal(9,2)', '00'.repeat(18)],
    ['string', 'ff'],
    ['uuid', '00'],
    ['fixed[2]', '000000'],
    ['unknown', ''],
  ] as const;
  for (const [type, hex] of cases) throwsKind(() => decode(type, hex), 'invalid-data');
});

test('geometry and geography bounds stay opaque', () => {
  assert.deepEqual(decode('geometry', '00ff'), fromHex('00ff'));
  assert.deepEqual(encodeSingleValue(primitiveOf('geography'), fromHex('00ff')), fromHex('00ff'));
});

test('refuses JSON that does not fit the type', () => {
  const cases: readonly (readonly [string, JsonValue])[] = [
    ['boolean', 1],
    ['int', 2 ** 31],
    ['int', '1'],
    ['long', 2n ** 63n],
    ['long', new JsonNumber('1.0')],
    ['double', '1.0'],
    ['decimal(9,2)', '1.0'],
    ['decimal(9,2)', '12345678.00'],
    ['decimal(9,2)', 1],
    ['date', '2023-02-29'],
    ['date', '2023-2-1'],
    ['time', '24:00:00'],
    ['timestamp', '2023-02-01'],
    ['timestamp', '2023-02-01T00:00:00+00:00'],
    ['timestamptz', '2023-02-01T00:00:00'],
    ['timestamptz', '2023-02-01T00:00:00+01:00'],
    ['timestamp_ns', '9999-01-01T00:00:00'],
    ['uuid', 'f79c3e09677c4bbda4793f349cb785e7'],
    ['fixed[2]', '00'],
    ['binary', '0'],
    ['string', 7],
  ];
  for (const [type, json] of cases) {
    throwsKind(() => singleValueFromJson(primitiveOf(type), json, 'default'), 'invalid-data');
  }
});

test('says what JSON cannot hold', () => {
  throwsKind(() => singleValueToJson({ kind: 'double' }, Number.NaN), 'unsupported', /NaN/);
  throwsKind(() => singleValueToJson(primitiveOf('geometry'), fromHex('00')), 'unsupported');
  throwsKind(() => singleValueFromJson(primitiveOf('geometry'), 'POINT (1 2)', 'd'), 'unsupported');
  assert.equal(singleValueFromJson(primitiveOf('geometry'), null, 'd'), null);
});

test('orders floats with NaN last and negative zero before zero', () => {
  const ordered = [-Infinity, -1, -0, 0, 1, Infinity, Number.NaN];
  for (const [index, low] of ordered.entries()) {
    assert.equal(compareSingleValues(low, low), 0);
    for (const high of ordered.slice(index + 1)) {
      assert.ok(compareSingleValues(low, high) < 0, `${low} ${high}`);
      assert.ok(compareSingleValues(high, low) > 0, `${high} ${low}`);
    }
  }
});

test('orders strings by their UTF-8 bytes, bytes as unsigned, decimals as signed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
      const expected = compareBytes(encodeUtf8(one), encodeUtf8(other));
      assert.equal(Math.sign(compareSingleValues(one, other)), Math.sign(expected));
    }),
    { seed: SEED },
  );
  assert.ok(compareSingleValues('\uffff', '😀') < 0);
  assert.ok(compareSingleValues(fromHex('7f'), fromHex('80')) < 0);
  assert.ok(compareSingleValues(-5n, 3n) < 0);
  assert.ok(compareSingleValues(false, true) < 0);
});

test('truncated bounds enclose their value, and are well-formed and short', () => {
  const text = fc.string({ unit: 'binary', maxLength: 24 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 16 }), (value, length) => {
      const lower = truncateLowerBound(value, length) as string;
      const upper = truncateUpperBound(value, length) as string | undefined;
      assert.ok(compareSingleValues(lower, value) <= 0);
      assert.ok(upper === undefined || compareSingleValues(upper, value) >= 0);
      for (const bound of [lower, upper ?? '']) {
        assert.ok(bound.isWellFormed());
        assert.ok(Array.from(bound).length <= length);
      }
    }),
    { seed: SEED },
  );
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 24 }),
      fc.integer({ min: 1, max: 16 }),
      (value, length) => {
        const upper = truncateUpperBound(value, length);
        assert.ok(compareSingleValues(truncateLowerBound(value, length), value) <= 0);
        assert.ok(upper === undefined || compareSingleValues(upper, value) >= 0);
      },
    ),
    { seed: SEED },
  );
});

test('a text of nothing but the highest code point has no shorter upper bound', () => {
  assert.equal(truncateUpperBound('\u{10ffff}'.repeat(3), 2), undefined);
  assert.equal(truncateUpperBound('\ud800xyz', 2), undefined);
  assert.equal(truncateUpperBound(42, 2), 42);
});
