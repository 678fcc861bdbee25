import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { goldenVector } from '../support/golden-vectors.ts';
import { mutationsOf } from '../support/mutations.ts';
import { readByCRoaring } from './second-opinion.ts';

const SEED = 20261130;
const OFFSETS_MAX = 300;
const NAMES = [
  'runs-in-containers-of-5',
  'every-kind',
  'keys-0-and-5',
  'runs-in-containers-of-17',
  'empty',
];

/** Undefined when the bytes are refused as they may be. */
function tryParse(bytes: Uint8Array, what: string): RoaringBitmap | undefined {
  try {
    return RoaringBitmap.parse(bytes, 'mutated');
  } catch (error) {
    assert.ok(isIcebergError(error), `${what}: ${String(error)}`);
    assert.ok(['invalid-data', 'unsupported'].includes(error.kind), `${what}: ${error.kind}`);
    return undefined;
  }
}

describe('mutated bitmaps, without the checksum that guards them', () => {
  for (const name of NAMES) {
    test(`of ${name} are refused, or read as CRoaring reads them`, () => {
      const bytes = goldenVector(name).blob.subarray(8, -4);
      let acceptedCount = 0;
      for (const { mutated, what } of mutationsOf(bytes, SEED, OFFSETS_MAX)) {
        const bitmap = tryParse(mutated, what);
        if (bitmap === undefined) continue;
        acceptedCount++;
        const again = RoaringBitmap.parse(bitmap.serialize(), what);
        assert.deepEqual(again.serialize(), bitmap.serialize(), what);
        const positions = readByCRoaring(mutated);
        assert.deepEqual([...bitmap.positions()], positions, what);
      }
      assert.ok(acceptedCount > 0);
    });
  }
});
