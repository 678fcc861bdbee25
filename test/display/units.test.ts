import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInstant,
} from '../../shared/display/index.ts';

describe('formatBytes', () => {
  it('chooses the largest unit with a whole digit', () => {
    assert.deepEqual([0, 1023, 1024, 1536, 102400, 1024 ** 3].map(formatBytes), [
      '0 B',
      '1023 B',
      '1.0 KiB',
      '1.5 KiB',
      '100 KiB',
      '1.0 GiB',
    ]);
  });

  it('never rounds up to 1024 of a unit', () => {
    assert.equal(formatBytes(1024 ** 2 - 1), '1.0 MiB');
    assert.equal(formatBytes(1023 * 1024), '1023 KiB');
    assert.equal(formatBytes(1024 ** 5 * 5000), '5000 PiB');
  });

  it('never shows a digit after the point of a hundred', () => {
    assert.equal(formatBytes(99.96 * 1024), '100 KiB');
  });
});

describe('formatCount', () => {
  it('uses separators and the right number of the noun', () => {
    assert.equal(formatCount(1, 'file'), '1 file');
    assert.equal(formatCount(0, 'file'), '0 files');
    assert.equal(formatCount(12345, 'entry', 'entries'), '12,345 entries');
  });
});

describe('formatDuration', () => {
  it('goes from milliseconds to minutes', () => {
    assert.deepEqual([0, 840, 4200, 185_000, 7_260_000].map(formatDuration), [
      '0 ms',
      '840 ms',
      '4.2 s',
      '3 min 5 s',
      '121 min 0 s',
    ]);
  });

  it('never shows a thousand milliseconds or sixty seconds', () => {
    assert.deepEqual([999.6, 59_960].map(formatDuration), ['1.0 s', '1 min 0 s']);
  });
});

describe('formatInstant', () => {
  it('is UTC to the second', () => {
    assert.equal(formatInstant(1_796_063_976_084), '2026-11-30 18:39:36Z');
  });

  it('shows milliseconds of what is no date', () => {
    assert.equal(formatInstant(9e15), '9000000000000000 ms');
  });
});
