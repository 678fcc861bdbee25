import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cheaperTreatment, estimateDeletes } from '../../shared/datafile/index.ts';
import { bitmapOf } from './rewrite-fixture.ts';

/** Four row groups of 250 rows and 25,000 bytes, behind the magic. */
const FOUR = {
  recordCount: 1000,
  fileSizeBytes: 100_004,
  splitOffsets: [4, 25_004, 50_004, 75_004],
};
const LARGE = 2 ** 30;

function estimate(positions: readonly number[], more: object = {}) {
  const options = { dataFile: FOUR, outputSizeBytes: LARGE, ...more };
  return estimateDeletes({ ...options, positions: bitmapOf(positions) });
}

function rows(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

describe('estimateDeletes', () => {
  test('copies row groups without deletes, and decodes those that have some', () => {
    assert.deepEqual(estimate([0, 1, 500, 501]), {
      carry: { decodedBytes: 0, copiedBytes: 100_000 },
      purge: { decodedBytes: 50_000, copiedBytes: 50_000 },
      deletedBytes: 400,
    });
  });

  test('reads nothing of row groups that are deleted whole', () => {
    assert.deepEqual(estimate(rows(250, 500)), {
      carry: { decodedBytes: 0, copiedBytes: 100_000 },
      purge: { decodedBytes: 0, copiedBytes: 50_000 },
      deletedBytes: 50_000,
    });
  });

  test('decodes row groups that are split in any case', () => {
    assert.deepEqual(estimate([3], { outputSizeBytes: 20_000 }), {
      carry: { decodedBytes: 100_000, copiedBytes: 0 },
      purge: { decodedBytes: 100_000, copiedBytes: 0 },
      deletedBytes: 100,
    });
  });

  test('takes a file for one row group where its split offsets are absent or broken', () => {
    for (const splitOffsets of [undefined, [], [4, 4], [50, 20], [-1], [4, 100_004]]) {
      const { splitOffsets: _, ...dataFile } = FOUR;
      const file = splitOffsets === undefined ? dataFile : { ...dataFile, splitOffsets };

      const { carry, purge } = estimate([0], { dataFile: file });

      assert.deepEqual(carry, { decodedBytes: 0, copiedBytes: 100_004 });
      assert.deepEqual(purge, { decodedBytes: 100_004, copiedBytes: 0 });
    }
  });

  test('gives nothing for an empty file', () => {
    const none = { decodedBytes: 0, copiedBytes: 0 };

    const found = estimate([], { dataFile: { recordCount: 0, fileSizeBytes: 0 } });

    assert.deepEqual(found, { carry: none, purge: none, deletedBytes: 0 });
  });

  test('accounts for every byte of the row groups', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(999)), (positions) => {
        const { carry, purge, deletedBytes } = estimate(positions);

        assert.equal(carry.copiedBytes + carry.decodedBytes, 100_000);
        assert.ok(purge.copiedBytes + purge.decodedBytes <= 100_000);
        assert.ok(Math.abs(deletedBytes - positions.length * 100) < 1e-6);
      }),
      { seed: 20261130, numRuns: 100 },
    );
  });
});

describe('cheaperTreatment', () => {
  test('carries less than a tenth of what would be decoded', () => {
    assert.equal(cheaperTreatment(estimate(rows(0, 24))), 'carry');
    assert.equal(cheaperTreatment(estimate(rows(0, 25))), 'purge');
    assert.equal(cheaperTreatment(estimate(rows(0, 40).map((row) => 25 * row))), 'carry');
    assert.equal(cheaperTreatment(estimate(rows(0, 100).map((row) => 10 * row))), 'purge');
  });

  test('purges row groups that vanish, and with them some rows elsewhere', () => {
    assert.equal(cheaperTreatment(estimate(rows(250, 250))), 'purge');
    assert.equal(cheaperTreatment(estimate([...rows(250, 250), 0, 500, 750])), 'purge');
  });

  test('purges what is decoded in any case', () => {
    assert.equal(cheaperTreatment(estimate([3], { outputSizeBytes: 20_000 })), 'purge');
  });
});
