import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { concatBytes } from '../../shared/bytes/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { goldenVector, goldenVectors } from '../support/golden-vectors.ts';
import { readByCRoaring, serializeByCRoaring } from './second-opinion.ts';

/** Count of bitmaps, and the key of the only one. */
const ONE_BITMAP_OF_KEY_0 = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

const VALUES = fc
  .array(
    fc.record({
      start: fc.oneof(fc.nat({ max: 300_000 }), fc.integer({ min: 2 ** 31 - 9, max: 2 ** 32 - 1 })),
      length: fc.oneof(fc.nat({ max: 9 }), fc.nat({ max: 5000 })),
      step: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((pieces) => {
    const values = new Set<number>();
    for (const { start, length, step } of pieces) {
      for (let value = start; value <= start + length * step && value < 2 ** 32; value += step) {
        values.add(value);
      }
    }
    return [...values].sort((one, other) => one - other);
  });

describe('CRoaring', () => {
  test('writes what we read, and reads what we write', () => {
    fc.assert(
      fc.property(VALUES, (values) => {
        const ours = RoaringBitmap.fromPositions(values, 'differential').serialize();
        const theirs = concatBytes([ONE_BITMAP_OF_KEY_0, serializeByCRoaring(values)]);

        assert.deepEqual(RoaringBitmap.parse(theirs, 'differential').serialize(), ours);
        assert.deepEqual(readByCRoaring(ours), values);
      }),
      { seed: 20261130, numRuns: 100 },
    );
  });

  test('makes runs of three neighbours, of which Java keeps an array', () => {
    const { positions, blob } = goldenVector('array-or-runs-1');

    const theirs = serializeByCRoaring(positions);

    assert.notDeepEqual(theirs, blob.subarray(20, -4));
    assert.deepEqual(
      RoaringBitmap.fromPositions(positions, 'java').serialize(),
      blob.subarray(8, -4),
    );
  });

  test('reads what we write of the golden vectors', () => {
    for (const { name, positions } of goldenVectors()) {
      const bytes = RoaringBitmap.fromPositions(positions, name).serialize();

      assert.deepEqual(readByCRoaring(bytes), positions, name);
    }
  });
});
