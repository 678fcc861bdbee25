import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Partition, partitionKey, type SingleValue } from '../../shared/iceberg/index.ts';

const values: fc.Arbitrary<SingleValue | null> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 4 }),
);

/** What equal means: same kind and value; whole numbers of any width are of one kind. */
function isEqual(one: SingleValue | null, other: SingleValue | null): boolean {
  const widened = [one, other].map((value) =>
    typeof value === 'number' && Number.isInteger(value) && !Object.is(value, -0)
      ? BigInt(value)
      : value,
  );
  const [left, right] = widened;
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return Buffer.from(left).equals(Buffer.from(right));
  }
  return Object.is(left, right);
}

describe('partitionKey', () => {
  const different: readonly (readonly [string, Partition, Partition])[] = [
    ['null and empty text', [null], ['']],
    ['null and the text null', [null], ['~']],
    ['negative and positive zero', [-0], [0]],
    ['text and bytes', ['ab'], [new Uint8Array([0x61, 0x62])]],
    ['text and number', ['1'], [1]],
    ['true and text', [true], ['t']],
    ['texts split elsewhere', ['a;s1:b', 'c'], ['a', 'b;s1:c']],
    ['neighbours of 2^53', [2n ** 53n], [2n ** 53n + 1n]],
    ['tuples of other order', ['a', null], [null, 'a']],
  ];
  for (const [what, one, other] of different) {
    it(`tells ${what} apart`, () => {
      assert.notEqual(partitionKey(0, one), partitionKey(0, other));
    });
  }

  it('tells specs apart', () => {
    assert.notEqual(partitionKey(0, ['eu']), partitionKey(1, ['eu']));
  });

  it('takes an int and the long it was promoted to as equal', () => {
    assert.equal(partitionKey(0, [7]), partitionKey(0, [7n]));
  });

  it('takes every NaN as equal', () => {
    assert.equal(partitionKey(0, [Number.NaN]), partitionKey(0, [-Number.NaN]));
  });

  it('is equal exactly when the tuples are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(values, values), { maxLength: 3 }),
        fc.boolean(),
        (pairs, isSame) => {
          const one = pairs.map(([left]) => left);
          const other = pairs.map(([left, right]) => (isSame ? left : right));
          const expected = one.every((value, index) => isEqual(value, other[index] ?? null));

          assert.equal(partitionKey(0, one) === partitionKey(0, other), expected);
        },
      ),
      { seed: 20261130, numRuns: 2000 },
    );
  });
});
