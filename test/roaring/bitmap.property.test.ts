import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RoaringBitmap } from '../../shared/roaring/index.ts';

const RUNS = { seed: 20261130, numRuns: 150 };

/** Where containers and keys begin and end, and places in between. */
const BASES = [0, 1, 60_000, 65_530, 131_072, 2 ** 31 - 3, 2 ** 32 - 40, 2 ** 33 + 65_536];

/** Stretches of positions, dense and thin, so that all kinds of containers come up and meet. */
const STRETCH = fc
  .record({
    base: fc.constantFrom(...BASES),
    offset: fc.nat({ max: 5000 }),
    count: fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 6000 })),
    step: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 40 })),
  })
  .map(({ base, offset, count, step }) =>
    Array.from({ length: count }, (_, index) => base + offset + index * step),
  );

const POSITIONS = fc.array(STRETCH, { maxLength: 4 }).map((stretches) => stretches.flat());

function bitmapOf(positions: Iterable<number>): RoaringBitmap {
  return RoaringBitmap.fromPositions([...positions], 'property');
}

function sorted(positions: Iterable<number>): number[] {
  return [...positions].sort((one, other) => one - other);
}

/** Of equal sets the bitmaps are equal, so this compares all that they are. */
function assertEqual(actual: RoaringBitmap, expected: Iterable<number>): void {
  const set = new Set(expected);
  assert.equal(actual.cardinality, set.size);
  assert.deepEqual(actual.serialize(), bitmapOf(set).serialize());
}

test('gives back the positions it is made of', () => {
  fc.assert(
    fc.property(POSITIONS, (positions) => {
      assert.deepEqual([...bitmapOf(positions).positions()], sorted(new Set(positions)));
    }),
    RUNS,
  );
});

test('is the same after it was written and parsed', () => {
  fc.assert(
    fc.property(POSITIONS, (positions) => {
      const bytes = bitmapOf(positions).serialize();

      const parsed = RoaringBitmap.parse(bytes, 'property');

      assertEqual(parsed, positions);
      assert.deepEqual(parsed.serialize(), bytes);
    }),
    RUNS,
  );
});

test('knows its positions and no others', () => {
  fc.assert(
    fc.property(POSITIONS, POSITIONS, (positions, others) => {
      const bitmap = bitmapOf(positions);
      const set = new Set(positions);
      for (const position of [...positions, ...others]) {
        assert.equal(bitmap.has(position), set.has(position));
      }
    }),
    RUNS,
  );
});

test('unites, subtracts and compares as sets do', () => {
  fc.assert(
    fc.property(POSITIONS, POSITIONS, (positions, others) => {
      const [one, other] = [bitmapOf(positions), bitmapOf(others)];
      const [oneSet, otherSet] = [new Set(positions), new Set(others)];

      assertEqual(one.union(other), oneSet.union(otherSet));
      assertEqual(one.difference(other), oneSet.difference(otherSet));
      assert.equal(one.isSupersetOf(other), oneSet.isSupersetOf(otherSet));
      assert.ok(one.union(other).isSupersetOf(other));
    }),
    RUNS,
  );
});

test('unites many as one after the other', () => {
  fc.assert(
    fc.property(fc.array(POSITIONS, { maxLength: 6 }), (lists) => {
      assertEqual(RoaringBitmap.unionOf(lists.map(bitmapOf)), lists.flat());
    }),
    { ...RUNS, numRuns: 60 },
  );
});

test('slices into parts that unite to the whole', () => {
  fc.assert(
    fc.property(
      POSITIONS,
      fc.array(fc.constantFrom(...BASES, 61_234, 65_536)),
      (positions, cuts) => {
        const bitmap = bitmapOf(positions);
        const bounds = sorted(new Set([0, ...cuts, 2 ** 40]));
        const parts = bounds.slice(1).map((to, index) => bitmap.slice(bounds[index]!, to));

        for (const [index, part] of parts.entries()) {
          const isWithin = (position: number): boolean =>
            position >= bounds[index]! && position < bounds[index + 1]!;
          assertEqual(part, positions.filter(isWithin));
        }
        assertEqual(RoaringBitmap.unionOf(parts), positions);
      },
    ),
    RUNS,
  );
});

test('shifts and maps each position', () => {
  fc.assert(
    fc.property(POSITIONS, fc.integer({ min: 0, max: 200_000 }), (positions, distance) => {
      const bitmap = bitmapOf(positions);
      const moved = positions.map((position) => position + distance);

      assertEqual(bitmap.shift(distance), moved);
      assertEqual(bitmap.shift(distance).shift(-distance), positions);
      assertEqual(
        bitmap.mapPositions((position) => position + distance),
        moved,
      );
      assertEqual(
        bitmap.mapPositions((position) => (position % 2 === 0 ? position / 2 : undefined)),
        positions.filter((position) => position % 2 === 0).map((position) => position / 2),
      );
    }),
    { ...RUNS, numRuns: 80 },
  );
});

test('has ranges that are as long as can be', () => {
  fc.assert(
    fc.property(POSITIONS, (positions) => {
      const ranges = [...bitmapOf(positions).ranges()];
      const set = new Set(positions);

      let count = 0;
      for (const { start, end } of ranges) {
        assert.ok(!set.has(start - 1) && !set.has(end));
        for (let position = start; position < end; position++) assert.ok(set.has(position));
        count += end - start;
      }
      assert.equal(count, set.size);
    }),
    RUNS,
  );
});
