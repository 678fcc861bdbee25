import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes } from '../../shared/bytes/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bitmapBytes, type ContainerParts, containersBytes } from './bitmap-bytes.ts';

function parse(bytes: Uint8Array): RoaringBitmap {
  return RoaringBitmap.parse(bytes, 'file.puffin');
}

function refuses(bytes: Uint8Array, message: RegExp): void {
  assert.throws(() => parse(bytes), errorOfKind('invalid-data', message));
}

const ARRAY: ContainerParts = { key: 0, cardinality: 3, words: [1, 5, 9] };

/** 4097 bits: the lowest of the first word, and all of the next 256. */
const BITMAP: ContainerParts = {
  key: 1,
  cardinality: 4097,
  words: [1, ...Array(256).fill(0xffff), ...Array(4096 - 257).fill(0)],
};

const RUNS: ContainerParts = { key: 2, cardinality: 13, isRun: true, words: [0, 9, 65_533, 2] };

function arrayAt(key: number): ContainerParts {
  return { ...ARRAY, key };
}

describe('what is accepted', () => {
  test('each kind of container', () => {
    const bitmap = parse(containersBytes(ARRAY, BITMAP, RUNS));

    assert.deepEqual(
      [...bitmap.ranges()],
      [
        { start: 1, end: 2 },
        { start: 5, end: 6 },
        { start: 9, end: 10 },
        { start: 65_536, end: 65_537 },
        { start: 65_552, end: 65_552 + 4096 },
        { start: 131_072, end: 131_082 },
        { start: 131_072 + 65_533, end: 196_608 },
      ],
    );
  });

  test('four containers with runs, and so with offsets', () => {
    const bitmap = parse(containersBytes(ARRAY, BITMAP, RUNS, arrayAt(3)));

    assert.equal(bitmap.cardinality, 3 + 4097 + 13 + 3);
  });

  test('no bitmap, and bitmaps of nothing', () => {
    assert.ok(parse(bitmapBytes([])).isEmpty);
    assert.ok(parse(bitmapBytes([0, 1, 7].map((key) => ({ key, containers: [] })))).isEmpty);
  });

  test('keys left out', () => {
    const bytes = bitmapBytes([
      { key: 3, containers: [ARRAY] },
      { key: 9, containers: [ARRAY] },
    ]);

    assert.deepEqual(
      [...parse(bytes).positions()],
      [3, 9].flatMap((key) => [1, 5, 9].map((low) => key * 2 ** 32 + low)),
    );
  });

  test('runs that touch, which become one', () => {
    const touching = { ...RUNS, cardinality: 65_536, words: [0, 9, 10, 65_524, 65_535, 0] };

    const bitmap = parse(containersBytes(touching));

    assert.deepEqual([...bitmap.ranges()], [{ start: 131_072, end: 196_608 }]);
  });

  test('a bitmap that would be shorter as runs, and a cookie of runs without any', () => {
    const longRun = {
      key: 0,
      cardinality: 65_536,
      words: Array(4096).fill(0xffff) as number[],
    };

    assert.deepEqual([...parse(containersBytes(longRun)).ranges()], [{ start: 0, end: 65_536 }]);
    assert.equal(
      parse(containersBytes({ key: 0, cardinality: 10, isRun: true, words: [5, 9] })).cardinality,
      10,
    );
  });

  test('the highest key of a safe position', () => {
    const bytes = bitmapBytes([{ key: 2 ** 21 - 1, containers: [arrayAt(65_535)] }]);

    assert.equal([...parse(bytes).positions()].at(-1), Number.MAX_SAFE_INTEGER - 65_535 + 9);
  });
});

describe('what is refused', () => {
  test('a count of bitmaps that the bytes cannot hold', () => {
    refuses(bitmapBytes([], 1n), /1 bitmaps in bytes for at most 0/);
    refuses(
      bitmapBytes([{ key: 0, containers: [ARRAY] }], 2n ** 63n),
      /9223372036854775808 bitmaps in bytes for at most/,
    );
  });

  test('keys of bitmaps that do not ascend', () => {
    refuses(
      bitmapBytes([
        { key: 4, containers: [ARRAY] },
        { key: 4, containers: [ARRAY] },
      ]),
      /bitmap key 4 follows 4/,
    );
  });

  test('a key with the highest bit, and one beyond what a number holds', () => {
    refuses(bitmapBytes([{ key: 2 ** 31, containers: [] }]), /key 2147483648 exceeds 2147483647/);
    assert.throws(
      () => parse(bitmapBytes([{ key: 2 ** 21, containers: [] }])),
      errorOfKind('unsupported', /key 2097152 exceeds 2097151/),
    );
  });

  test('a cookie of neither kind', () => {
    refuses(bitmapBytes([{ key: 0, containers: [ARRAY], cookie: 12345 }]), /cookie 12345/);
    refuses(
      bitmapBytes([{ key: 0, containers: [ARRAY], cookie: 12346 | 0x10000 }]),
      /cookie 77882/,
    );
  });

  test('more containers than there are keys', () => {
    const bytes = containersBytes();
    new DataView(bytes.buffer).setUint32(16, 65_537, true);

    refuses(bytes, /65537 containers, at most 65536/);
  });

  test('keys of containers that do not ascend', () => {
    refuses(containersBytes(arrayAt(7), arrayAt(7)), /container key 7 follows 7/);
    refuses(containersBytes(arrayAt(7), arrayAt(3)), /container key 3 follows 7/);
  });

  test('an offset where the container is not', () => {
    refuses(containersBytes({ ...ARRAY, offset: 99 }), /said to begin at 99, not 16/);
    refuses(
      containersBytes(ARRAY, BITMAP, { ...RUNS, offset: 0 }, arrayAt(3)),
      /said to begin at 0, not/,
    );
  });

  test('values that do not ascend', () => {
    refuses(containersBytes({ ...ARRAY, words: [1, 9, 5] }), /value 5 follows 9/);
    refuses(containersBytes({ ...ARRAY, words: [1, 1, 5] }), /value 1 follows 1/);
  });

  test('a cardinality that the bits or the runs do not have', () => {
    refuses(
      containersBytes({ ...BITMAP, cardinality: 4098 }),
      /of 4097 values is said to have 4098/,
    );
    refuses(containersBytes({ ...RUNS, cardinality: 12 }), /of 13 values is said to have 12/);
    refuses(containersBytes({ ...RUNS, words: [] }), /of 0 values is said to have 13/);
  });

  test('runs that overlap, descend or leave the container', () => {
    refuses(containersBytes({ ...RUNS, words: [0, 9, 9, 3] }), /run at 9 begins before 10/);
    refuses(containersBytes({ ...RUNS, words: [20, 9, 0, 3] }), /run at 0 begins before 30/);
    refuses(containersBytes({ ...RUNS, words: [65_535, 1] }), /run of 2 at 65535 exceeds 65536/);
  });

  test('more runs than there are bytes', () => {
    refuses(containersBytes({ ...RUNS, runCount: 60_000 }), /240000 bytes expected/);
  });

  test('bytes behind the last bitmap', () => {
    refuses(concatBytes([containersBytes(ARRAY), Uint8Array.of(0)]), /1 bytes are left over/);
  });

  test('bytes that end anywhere', () => {
    const bytes = bitmapBytes([
      { key: 0, containers: [ARRAY, RUNS] },
      { key: 1, containers: [ARRAY, arrayAt(1)] },
    ]);

    for (let end = 0; end < bytes.length; end++) refuses(bytes.subarray(0, end), /./);
  });
});
