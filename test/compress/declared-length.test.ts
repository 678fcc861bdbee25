import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { concatBytes } from '../../shared/bytes/index.ts';
import { type Codec, compress, declaredLengthBytes } from '../../shared/compress/index.ts';

const LENGTHS = [0, 1, 255, 256, 257, 65_791, 65_792, 300_000];

for (const codec of ['snappy', 'zstd'] as const satisfies readonly Codec[]) {
  test(`a ${codec} unit says the length that it decompresses to`, () => {
    for (const length of LENGTHS) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * index) % 251);

      assert.equal(declaredLengthBytes(codec, compress(codec, bytes)), length);
    }
  });
}

test('lengths of zstd frames behind one another add up', () => {
  const frames = [10, 0, 400].map((length) => compress('zstd', new Uint8Array(length)));

  assert.equal(declaredLengthBytes('zstd', concatBytes(frames)), 410);
});

test('a zstd frame that does not tell gives nothing', () => {
  // Without a pledged size a stream of unknown length is begun.
  const silent = zstdCompressSync(new Uint8Array(100), { pledgedSrcSize: undefined });
  const told = declaredLengthBytes('zstd', silent);

  assert.ok(told === undefined || told === 100);
});

test('a cut zstd frame, and one with bytes behind it, give nothing', () => {
  const frame = compress('zstd', new Uint8Array(300_000).fill(7));
  for (let end = 1; end < frame.length; end++) {
    assert.equal(declaredLengthBytes('zstd', frame.subarray(0, end)), undefined, `cut at ${end}`);
  }

  assert.equal(declaredLengthBytes('zstd', concatBytes([frame, Uint8Array.of(0)])), undefined);
});

test('a snappy length without an end gives nothing', () => {
  assert.equal(declaredLengthBytes('snappy', new Uint8Array(8).fill(0xff)), undefined);
  assert.equal(declaredLengthBytes('snappy', new Uint8Array(0)), undefined);
});

test('codecs that do not tell give nothing', () => {
  for (const codec of ['none', 'gzip', 'deflate', 'lz4-raw', 'brotli'] as const) {
    assert.equal(declaredLengthBytes(codec, compress(codec, new Uint8Array(50))), undefined);
  }
});
