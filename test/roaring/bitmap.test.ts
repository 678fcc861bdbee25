import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toHex } from '../../shared/bytes/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const KEY = 2 ** 32;
const POSITION_MAX = Number.MAX_SAFE_INTEGER;

function bitmapOf(...positions: number[]): RoaringBitmap {
  return RoaringBitmap.fromPositions(positions, 'test');
}

/** Positions from `start` to before `end`. */
function rangeOf(start: number, end: number): RoaringBitmap {
  const positions = Float64Array.from({ length: end - start }, (_, index) => start + index);
  return RoaringBitmap.fromPositions(positions, 'test');
}

function listOf(bitmap: RoaringBitmap): number[] {
  return [...bitmap.positions()];
}

describe('fromPositions', () => {
  test('takes positions unsorted and repeated', () => {
    const bitmap = bitmapOf(70_000, 3, KEY, 3, 70_000, 0);

    assert.deepEqual(listOf(bitmap), [0, 3, 70_000, KEY]);
    assert.equal(bitmap.cardinality, 4);
  });

  test('takes every kind of column', () => {
    const wanted = [1, 5, 65_536];
    const columns = [
      wanted,
      Float64Array.from(wanted),
      Int32Array.from(wanted),
      Uint32Array.from(wanted),
      BigInt64Array.from(wanted, BigInt),
    ];

    for (const column of columns) {
      assert.deepEqual(listOf(RoaringBitmap.fromPositions(column, 'test')), wanted);
    }
  });

  test('leaves an unsorted column as it was', () => {
    const column = Float64Array.of(5, 1);

    RoaringBitmap.fromPositions(column, 'test');

    assert.deepEqual(column, Float64Array.of(5, 1));
  });

  test('takes the largest position', () => {
    const bitmap = bitmapOf(POSITION_MAX);

    assert.ok(bitmap.has(POSITION_MAX));
    assert.ok(RoaringBitmap.parse(bitmap.serialize(), 'test').has(POSITION_MAX));
  });

  test('takes none', () => {
    assert.ok(bitmapOf().isEmpty);
    assert.ok(RoaringBitmap.EMPTY.isEmpty);
    assert.equal(toHex(RoaringBitmap.EMPTY.serialize()), '0000000000000000');
  });

  for (const position of [-1, 0.5, Number.NaN, -Infinity]) {
    test(`refuses ${position} as invalid`, () => {
      assert.throws(() => bitmapOf(1, position), errorOfKind('invalid-data', /^test: position/));
    });
  }

  test('refuses what is beyond 2^53 - 1 as unsupported', () => {
    const column = BigInt64Array.of(2n ** 53n);

    assert.throws(
      () => RoaringBitmap.fromPositions(column, 'test'),
      errorOfKind('unsupported', /position 9007199254740992/),
    );
  });
});

describe('has', () => {
  test('tells what is set in arrays, bitmaps and runs', () => {
    const evens = Array.from({ length: 5000 }, (_, index) => 65_536 + 2 * index);
    const bitmap = bitmapOf(7, 9, ...evens).union(rangeOf(200_000, 200_100));

    const asked = [6, 7, 8, 9, 65_535, 65_536, 65_537, 199_999, 200_000, 200_099, 200_100, KEY + 7];
    assert.deepEqual(
      asked.filter((position) => bitmap.has(position)),
      [7, 9, 65_536, 200_000, 200_099],
    );
  });
});

describe('ranges', () => {
  test('go on across containers and keys', () => {
    const bitmap = rangeOf(65_530, 65_540)
      .union(rangeOf(KEY - 2, KEY + 2))
      .union(bitmapOf(0));

    assert.deepEqual(
      [...bitmap.ranges()],
      [
        { start: 0, end: 1 },
        { start: 65_530, end: 65_540 },
        { start: KEY - 2, end: KEY + 2 },
      ],
    );
  });

  test('of nothing are none', () => {
    assert.deepEqual([...RoaringBitmap.EMPTY.ranges()], []);
  });
});

describe('slice', () => {
  const bitmap = rangeOf(10, 200_000);

  test('takes the start and leaves the end', () => {
    assert.deepEqual(
      [...bitmap.slice(70_000, 140_000).ranges()],
      [{ start: 70_000, end: 140_000 }],
    );
    assert.equal(bitmap.slice(70_000, 140_000).cardinality, 70_000);
  });

  test('reaches to infinity', () => {
    assert.equal(bitmap.slice(199_990, Infinity).cardinality, 10);
  });

  test('may be empty', () => {
    assert.ok(bitmap.slice(50, 50).isEmpty);
    assert.ok(bitmap.slice(0, 10).isEmpty);
    assert.ok(bitmap.slice(200_000, 300_000).isEmpty);
  });

  test('cuts arrays and bitmaps', () => {
    const evens = Array.from({ length: 5000 }, (_, index) => 2 * index);
    const scattered = bitmapOf(...evens, 70_000, 70_005, 70_007);

    assert.deepEqual(
      listOf(scattered.slice(9_990, 70_006)),
      [9_990, 9_992, 9_994, 9_996, 9_998, 70_000, 70_005],
    );
  });
});

describe('set operations', () => {
  test('unite many at once', () => {
    const parts = Array.from({ length: 300 }, (_, index) => bitmapOf(index, 65_536 + 7 * index));

    const united = RoaringBitmap.unionOf(parts);

    assert.deepEqual(united.serialize(), RoaringBitmap.unionOf([...parts].reverse()).serialize());
    assert.deepEqual([...united.slice(0, 65_536).ranges()], [{ start: 0, end: 300 }]);
    assert.equal(united.cardinality, 600);
  });

  test('unite none to nothing', () => {
    assert.ok(RoaringBitmap.unionOf([]).isEmpty);
  });

  test('of what is nowhere near leave the operands', () => {
    const one = rangeOf(5, 10);
    const other = bitmapOf(KEY);

    assert.deepEqual(listOf(one.difference(other)), [5, 6, 7, 8, 9]);
    assert.deepEqual(listOf(one.union(other)), [5, 6, 7, 8, 9, KEY]);
  });

  test('know a superset from one that only has as many', () => {
    const whole = rangeOf(0, 100_000);

    assert.ok(whole.isSupersetOf(rangeOf(50, 99_999)));
    assert.ok(whole.isSupersetOf(whole));
    assert.ok(whole.isSupersetOf(RoaringBitmap.EMPTY));
    assert.ok(!whole.isSupersetOf(bitmapOf(100_000)));
    assert.ok(!whole.isSupersetOf(bitmapOf(KEY)));
    assert.ok(!bitmapOf(1, 2).isSupersetOf(bitmapOf(1, 3)));
    assert.ok(!RoaringBitmap.EMPTY.isSupersetOf(bitmapOf(0)));
  });
});

describe('shift and mapPositions', () => {
  test('move positions into other containers and keys', () => {
    const bitmap = rangeOf(65_000, 66_000).union(bitmapOf(3));

    const moved = bitmap.shift(KEY - 65_536);

    assert.deepEqual(
      [...moved.ranges()],
      [
        { start: KEY - 65_533, end: KEY - 65_532 },
        { start: KEY - 536, end: KEY + 464 },
      ],
    );
    assert.deepEqual(moved.shift(65_536 - KEY).serialize(), bitmap.serialize());
  });

  test('give what positions one by one give', () => {
    const bitmap = RoaringBitmap.fromPositions([0, 3, 5, 65_535, 65_536, 131_071], 'test');

    assert.deepEqual(
      bitmap.shift(1).serialize(),
      bitmapOf(1, 4, 6, 65_536, 65_537, 131_072).serialize(),
    );
  });

  test('refuse to leave the range of positions', () => {
    assert.throws(() => bitmapOf(5).shift(-6), /roaring: no positions from -1 to -1/);
    assert.throws(() => bitmapOf(5).shift(POSITION_MAX), /roaring: no positions/);
    assert.throws(() => bitmapOf(5).shift(0.5), /roaring: no positions/);
    assert.ok(RoaringBitmap.EMPTY.shift(-6).isEmpty);
    assert.ok(
      rangeOf(5, 9)
        .shift(POSITION_MAX - 8)
        .has(POSITION_MAX),
    );
  });

  test('permute and drop', () => {
    const reversed = rangeOf(0, 100).mapPositions((position) =>
      position % 3 === 0 ? 1000 - position : undefined,
    );

    assert.equal(reversed.cardinality, 34);
    assert.equal(listOf(reversed)[0], 901);
    assert.ok(reversed.has(1000));
  });

  test('map more positions than are held at a time', () => {
    const bitmap = rangeOf(0, 2 ** 20 + 10);

    const moved = bitmap.mapPositions((position) => 2 ** 21 - position);

    assert.deepEqual([...moved.ranges()], [{ start: 2 ** 20 - 9, end: 2 ** 21 + 1 }]);
  });

  test('refuse an image that is no position', () => {
    assert.throws(() => bitmapOf(5).mapPositions(() => -1), errorOfKind('invalid-data'));
  });
});
