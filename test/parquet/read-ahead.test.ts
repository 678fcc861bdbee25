import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RangedReader } from '../../shared/base/index.ts';
import { readAhead } from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readFixture } from './edit-file.ts';
import { copyFiles } from './memory-file.ts';

const BYTES = Uint8Array.from({ length: 100 }, (_, index) => index);

function counting(bytes: Uint8Array) {
  const reads: [number, number][] = [];
  const inner = bytesReader(bytes);
  const reader: RangedReader = {
    ...inner,
    read(offset, lengthBytes) {
      reads.push([offset, lengthBytes]);
      return inner.read(offset, lengthBytes);
    },
  };
  return { reader, reads };
}

describe('readAhead', () => {
  test('serves reads within a window from one read', async () => {
    const { reader, reads } = counting(BYTES);
    const ahead = readAhead(reader, 30);

    for (const offset of [10, 14, 20, 36]) {
      assert.deepEqual(await ahead.read(offset, 4), BYTES.slice(offset, offset + 4));
    }

    assert.deepEqual(reads, [[10, 30]]);
  });

  test('fetches a file no longer than a window at once', async () => {
    const { reader, reads } = counting(BYTES);
    const ahead = readAhead(reader, 100);

    await ahead.read(90, 10);
    await ahead.read(0, 10);

    assert.deepEqual(reads, [[0, 100]]);
  });

  test('keeps three windows, and passes large reads through', async () => {
    const { reader, reads } = counting(BYTES);
    const ahead = readAhead(reader, 10);

    for (const offset of [0, 50, 95, 2, 52, 96, 20, 3]) await ahead.read(offset, 2);
    await ahead.read(40, 30);

    assert.deepEqual(reads, [
      [0, 10],
      [50, 10],
      [95, 5],
      [20, 10],
      [3, 10],
      [40, 30],
    ]);
  });

  test('fetches only the rest of a read that begins in a window', async () => {
    const { reader, reads } = counting(BYTES);
    const ahead = readAhead(reader, 10);

    for (const [offset, lengthBytes] of [
      [0, 8],
      [8, 6],
      [14, 4],
      [18, 25],
    ] as const) {
      assert.deepEqual(
        await ahead.read(offset, lengthBytes),
        BYTES.slice(offset, offset + lengthBytes),
      );
    }

    assert.deepEqual(reads, [
      [0, 10],
      [10, 10],
      [20, 23],
    ]);
  });

  test('gives copies that the caller may change', async () => {
    const ahead = readAhead(bytesReader(BYTES), 100);

    (await ahead.read(0, 4)).fill(0xff);

    assert.deepEqual(await ahead.read(0, 4), BYTES.slice(0, 4));
  });

  test('leaves ranges outside the file to the reader', async () => {
    const ahead = readAhead(bytesReader(BYTES), 30);

    await assert.rejects(ahead.read(98, 4), { kind: 'invalid-data' });
  });

  test('a small file is copied, footer and all, with one request', async () => {
    const { reader, reads } = counting(readFixture('pages-index-v1'));

    await copyFiles([readAhead(reader)]);

    assert.equal(reads.length, 1);
  });
});
