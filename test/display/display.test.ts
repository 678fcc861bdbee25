import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInstant,
  formatSizeHistogram,
  formatTable,
  printable,
} from '../../shared/display/index.ts';

describe('units', () => {
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

  it('writes counts, durations and instants for people', () => {
    assert.equal(formatCount(1, 'file'), '1 file');
    assert.equal(formatCount(12345, 'entry', 'entries'), '12,345 entries');
    assert.deepEqual([840, 4200, 185_000].map(formatDuration), ['840 ms', '4.2 s', '3 min 5 s']);
    assert.equal(formatInstant(0), '1970-01-01 00:00:00Z');
    assert.equal(formatInstant(9e15), '9000000000000000 ms');
  });
});

describe('formatTable', () => {
  it('aligns text to the left and quantities to the right', () => {
    assert.deepEqual(
      formatTable([
        ['partition', 'files', 'bytes'],
        ['day=1', '7', '1.5 KiB'],
        ['day=10', '12', '10 MiB'],
      ]),
      ['partition  files    bytes', 'day=1          7  1.5 KiB', 'day=10        12   10 MiB'],
    );
  });

  it('shows control characters of foreign names as escapes', () => {
    assert.equal(printable('a\u001b[31mb\nc'), 'a\\u001b[31mb\\u000ac');
  });
});

describe('formatSizeHistogram', () => {
  it('shows the classes between the smallest and the largest file', () => {
    const lines = formatSizeHistogram([10, 20, 2 * 1024 ** 2]);

    assert.equal(lines.length, 3);
    assert.match(lines[0]!, /< 64\.0 KiB {2}2 {2}█{32}$/);
    assert.match(lines[1]!, /64\.0 KiB - 1\.0 MiB {2}0$/);
    assert.match(lines[2]!, /1\.0 MiB - 16\.0 MiB {2}1 {2}█{16}$/);
  });

  it('says so when there are no files', () => {
    assert.deepEqual(formatSizeHistogram([]), ['no files']);
  });
});
