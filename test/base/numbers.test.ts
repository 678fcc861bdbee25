import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCount, toInt64, toSafeNumber } from '../../shared/base/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

test('toSafeNumber takes integers up to ±(2^53 − 1)', () => {
  assert.equal(toSafeNumber(9007199254740991n, 'x'), 9007199254740991);
  assert.equal(toSafeNumber(-9007199254740991n, 'x'), -9007199254740991);
  assert.equal(toSafeNumber(7, 'x'), 7);
});

test('toSafeNumber refuses larger ones as unsupported', () => {
  for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 63n, 2 ** 53, 10n ** 400n]) {
    assert.throws(
      () => toSafeNumber(value, 'file size'),
      errorOfKind('unsupported', /^file size: /),
    );
  }
});

test('toSafeNumber refuses what is not an integer', () => {
  for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => toSafeNumber(value, 'x'), errorOfKind('invalid-data', /not an integer/));
  }
});

test('toCount refuses negative values', () => {
  assert.equal(toCount(0n, 'x'), 0);
  assert.throws(() => toCount(-1, 'rows'), errorOfKind('invalid-data', /^rows: -1 is negative$/));
  assert.throws(() => toCount(-1n, 'rows'), errorOfKind('invalid-data'));
});

test('toInt64 takes exactly the signed 64-bit range', () => {
  assert.equal(toInt64(2n ** 63n - 1n, 'x'), 2n ** 63n - 1n);
  assert.equal(toInt64(-(2n ** 63n), 'x'), -(2n ** 63n));
  for (const value of [2n ** 63n, -(2n ** 63n) - 1n]) {
    assert.throws(() => toInt64(value, 'id'), errorOfKind('invalid-data', /does not fit 64 bits/));
  }
});
