import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeHybrid } from '../../shared/parquet/decode-hybrid.ts';
import { bitWidthFor, encodeHybrid } from '../../shared/parquet/encode-hybrid.ts';

const SEED = 20260102;

describe('encodeHybrid', () => {
  test('writes one run for one value repeated', () => {
    assert.deepEqual(encodeHybrid(new Uint8Array(1000).fill(1), 1), Uint8Array.of(0xd0, 0x0f, 1));
  });

  test('writes groups of eight, least significant bit first, padded with zeros', () => {
    assert.deepEqual(encodeHybrid(Uint8Array.of(1, 2, 3), 2), Uint8Array.of(3, 0b00111001, 0));
  });

  test('takes as many whole bytes as a repeated value needs', () => {
    assert.deepEqual(encodeHybrid(new Uint32Array(8).fill(0x1ff), 9), Uint8Array.of(16, 0xff, 1));
  });

  test('writes nothing for a width of 0', () => {
    assert.equal(encodeHybrid(new Uint8Array(9), 0).length, 0);
  });

  test('is undone by decodeHybrid at every bit width', () => {
    for (let bitWidth = 0; bitWidth <= 32; bitWidth++) {
      const value = fc.integer({ min: 0, max: 2 ** bitWidth - 1 });
      const runs = fc.array(fc.tuple(value, fc.integer({ min: 1, max: 20 })), { maxLength: 20 });
      fc.assert(
        fc.property(runs, (parts) => {
          const values = Uint32Array.from(
            parts.flatMap(([item, count]) => Array(count).fill(item)),
          );
          const decoded = new Uint32Array(values.length);

          decodeHybrid(encodeHybrid(values, bitWidth), bitWidth, decoded, 'test');

          assert.deepEqual(decoded, values);
        }),
        { seed: SEED + bitWidth, numRuns: 30 },
      );
    }
  });
});

describe('bitWidthFor', () => {
  test('counts the bits of the greatest value', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4, 255, 256, 2 ** 32 - 1].map(bitWidthFor),
      [0, 1, 2, 2, 3, 8, 9, 32],
    );
  });
});
