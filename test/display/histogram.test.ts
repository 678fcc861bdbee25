import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatSizeHistogram } from '../../shared/display/index.ts';

const MIB = 1024 ** 2;

describe('formatSizeHistogram', () => {
  it('shows the classes between the smallest and the largest file', () => {
    assert.deepEqual(formatSizeHistogram([10, 20, 2 * MIB]), [
      `      < 64 KiB  2  ${'█'.repeat(32)}`,
      '64 KiB - 1 MiB  0',
      `1 MiB - 16 MiB  1  ${'█'.repeat(16)}`,
    ]);
  });

  it('puts a size that equals an end into the upper class', () => {
    assert.deepEqual(formatSizeHistogram([64 * 1024]), [`64 KiB - 1 MiB  1  ${'█'.repeat(32)}`]);
    assert.deepEqual(formatSizeHistogram([1024 ** 3]), [`>= 1 GiB  1  ${'█'.repeat(32)}`]);
  });

  it('gives one file among thousands a bar', () => {
    const sizes = [...Array.from({ length: 5000 }, () => 10), 2 * MIB];

    assert.equal(formatSizeHistogram(sizes).at(-1), '1 MiB - 16 MiB     1  █');
  });

  it('says so when there are no files', () => {
    assert.deepEqual(formatSizeHistogram([]), ['no files']);
  });
});
