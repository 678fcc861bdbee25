import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sbbfContains } from 'hyparquet/src/bloom.js';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import { BloomFilterBuilder } from '../../shared/parquet/encode-bloom-filter.ts';
import { elementOf, physicalValuesOf } from './leaf-values-arbitrary.ts';

const long = (value: number) => new Uint8Array(BigInt64Array.of(BigInt(value)).buffer);

function build(count: number, sizeBytesMax: number) {
  const builder = new BloomFilterBuilder({ falsePositiveFraction: 0.01, sizeBytesMax });
  const values = Array.from({ length: count }, (_, index) => long(index));
  builder.add(physicalValuesOf(elementOf('INT64'), values));
  const bitset = builder.bitset();
  const words = new Uint32Array(bitset.buffer);
  return { bitset, has: (value: number) => sbbfContains(words, xxhash64(long(value))) };
}

describe('BloomFilterBuilder', () => {
  test('makes filters in which hyparquet finds what was added, and little else', () => {
    const { has } = build(5000, 1024 * 1024);

    let falsePositives = 0;
    for (let value = 0; value < 5000; value++) assert.ok(has(value));
    for (let value = 5000; value < 15_000; value++) if (has(value)) falsePositives++;
    assert.ok(falsePositives <= 200, `${falsePositives} of 10,000`);
  });

  test('folds to the smallest size that keeps the false positives low', () => {
    assert.equal(build(5000, 1024 * 1024).bitset.length, 8192);
    assert.equal(build(1, 1024 * 1024).bitset.length, 32);
  });

  test('keeps within its size, whatever is added', () => {
    assert.equal(build(5000, 100).bitset.length, 64);
  });
});
