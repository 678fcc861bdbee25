import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { goldenVectors } from '../support/golden-vectors.ts';

const ENVELOPE_START_BYTES = 8;
const CRC_BYTES = 4;

describe('bitmaps of Iceberg Java', () => {
  for (const { name, blob, positions, isSetByRange } of goldenVectors()) {
    const bytes = blob.subarray(ENVELOPE_START_BYTES, -CRC_BYTES);

    test(`parses ${name}`, () => {
      const bitmap = RoaringBitmap.parse(bytes, name);

      assert.equal(bitmap.cardinality, positions.length);
      assert.deepEqual([...bitmap.positions()], positions);
    });

    test(`writes ${name}${isSetByRange ? ' as if position by position' : ''}`, () => {
      const bitmap = RoaringBitmap.fromPositions(positions, name);
      const written = RoaringBitmap.parse(bytes, name).serialize();

      assert.deepEqual(written, bitmap.serialize());
      if (!isSetByRange) assert.deepEqual(written, bytes);
    });
  }
});
