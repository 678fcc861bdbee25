import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isIcebergError } from '../../shared/base/index.ts';
import { concatBytes } from '../../shared/bytes/index.ts';
import { type Codec, compress, decompress, decompressUpTo } from '../../shared/compress/index.ts';

const CODECS: readonly Codec[] = ['none', 'gzip', 'deflate', 'zstd', 'snappy', 'lz4-raw', 'brotli'];

const original = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .uint8Array({ minLength: 1, maxLength: 8 })
    .map((unit) => concatBytes(Array.from({ length: 200 }, () => unit))),
);

const mutation = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'insert', 'repeat'),
  position: fc.nat(),
  byte: fc.nat({ max: 255 }),
});

for (const codec of CODECS) {
  test(`${codec}: mutated data gives the promised size or invalid-data`, () => {
    fc.assert(
      fc.property(
        original,
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        (bytes, mutations) => {
          const mutated = mutations.reduce(mutate, compress(codec, bytes));
          try {
            assert.equal(decompress(codec, mutated, bytes.length, 'page').length, bytes.length);
          } catch (error) {
            assert.ok(isIcebergError(error, 'invalid-data'), String(error));
          }
        },
      ),
      { seed: 1, numRuns: 400 },
    );
  });

  test(`${codec}: any bytes give at most the allowed size or invalid-data`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 10_000 }), (bytes, bytesMax) => {
        try {
          assert.ok(decompressUpTo(codec, bytes, bytesMax, 'page').length <= bytesMax);
        } catch (error) {
          assert.ok(isIcebergError(error, 'invalid-data'), String(error));
        }
      }),
      { seed: 2, numRuns: 400 },
    );
  });
}

function mutate(
  bytes: Uint8Array,
  { kind, position, byte }: { kind: string; position: number; byte: number },
): Uint8Array {
  const at = bytes.length === 0 ? 0 : position % bytes.length;
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  if (kind === 'flip') {
    const flipped = Uint8Array.from(bytes);
    if (flipped.length > 0) flipped[at]! ^= byte || 1;
    return flipped;
  }
  if (kind === 'cut') return head;
  if (kind === 'insert') return concatBytes([head, Uint8Array.of(byte), tail]);
  return concatBytes([head, tail, tail]);
}
