import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../../shared/base/index.ts';
import { concatBytes, encodeUtf8, fromHex } from '../../shared/bytes/index.ts';
import {
  type Codec,
  compress,
  DECOMPRESSED_BYTES_MAX,
  decompress,
  decompressUpTo,
} from '../../shared/compress/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const CODECS: readonly Codec[] = ['none', 'gzip', 'deflate', 'zstd', 'snappy', 'lz4-raw', 'brotli'];
const COMPRESSING = CODECS.filter((codec) => codec !== 'none');

/** Neither all alike nor random. */
const sample = (lengthBytes: number) =>
  Uint8Array.from({ length: lengthBytes }, (_, index) => (index * index) % 251);

for (const codec of CODECS) {
  describe(codec, () => {
    test('gives back what went in, of any size', () => {
      for (const lengthBytes of [0, 1, 2, 15, 16, 64, 1000, 65_535, 65_536, 65_537, 1_000_000]) {
        for (const bytes of [sample(lengthBytes), new Uint8Array(lengthBytes).fill(7)]) {
          const compressed = compress(codec, bytes);
          assert.deepEqual(decompress(codec, compressed, lengthBytes, 'page'), bytes);
          assert.deepEqual(decompressUpTo(codec, compressed, lengthBytes, 'page'), bytes);
        }
      }
    });

    test('works on views and gives plain arrays', () => {
      const whole = concatBytes([fromHex('aabb'), sample(500), fromHex('cc')]);
      const compressed = compress(codec, whole.subarray(2, 502));
      const framed = concatBytes([fromHex('01'), compressed, fromHex('02')]);

      const bytes = decompress(codec, framed.subarray(1, -1), 500, 'page');

      assert.deepEqual(bytes, sample(500));
      for (const array of [bytes, compressed]) assert.equal(array.constructor, Uint8Array);
    });

    test('gives the same bytes for the same input', () => {
      assert.deepEqual(compress(codec, sample(5000)), compress(codec, sample(5000)));
    });

    test('refuses a promise that is one byte off', () => {
      const compressed = compress(codec, sample(1000));
      for (const promisedBytes of [999, 1001]) {
        assert.throws(
          () => decompress(codec, compressed, promisedBytes, 'page'),
          errorOfKind('invalid-data', /^page: /),
        );
      }
      assert.throws(
        () => decompressUpTo(codec, compressed, 999, 'page'),
        errorOfKind('invalid-data', /^page: /),
      );
      assert.equal(decompressUpTo(codec, compressed, 1001, 'page').length, 1000);
    });

    test('takes nothing for nothing, and refuses something where nothing was promised', () => {
      assert.equal(decompress(codec, new Uint8Array(0), 0, 'page').length, 0);
      assert.throws(
        () => decompress(codec, compress(codec, sample(1)), 0, 'page'),
        errorOfKind('invalid-data'),
      );
      assert.throws(
        () => decompress(codec, new Uint8Array(0), 10, 'page'),
        errorOfKind('invalid-data'),
      );
    });

    test('refuses sizes that are none, and sizes beyond the limit', () => {
      const compressed = compress(codec, sample(10));
      for (const sizeBytes of [-1, 0.5, Number.NaN]) {
        assert.throws(
          () => decompress(codec, compressed, sizeBytes, 'page'),
          errorOfKind('invalid-data', /^page: uncompressed size .* is no size$/),
        );
      }
      assert.throws(
        () => decompressUpTo(codec, compressed, DECOMPRESSED_BYTES_MAX + 1, 'page'),
        errorOfKind('unsupported', /1073741825 exceeds the limit of 1073741824 bytes/),
      );
    });
  });
}

for (const codec of COMPRESSING) {
  test(`${codec}: every truncation is refused`, () => {
    const compressed = compress(codec, sample(3000));
    for (let lengthBytes = 0; lengthBytes < compressed.length; lengthBytes += 7) {
      assert.throws(
        () => decompress(codec, compressed.subarray(0, lengthBytes), 3000, 'page'),
        errorOfKind('invalid-data', /^page: /),
      );
    }
  });

  test(`${codec}: bytes that are left over are refused`, () => {
    const compressed = compress(codec, sample(3000));
    for (const tail of ['00', '010203', 'ff'.repeat(20)]) {
      assert.throws(
        () => decompress(codec, concatBytes([compressed, fromHex(tail)]), 3000, 'page'),
        errorOfKind('invalid-data', /^page: /),
      );
    }
  });
}

test('gzip and zstd data may come in several members', () => {
  for (const codec of ['gzip', 'zstd'] as const) {
    const twice = concatBytes([compress(codec, sample(10)), compress(codec, sample(20))]);

    assert.deepEqual(decompress(codec, twice, 30, 'page'), concatBytes([sample(10), sample(20)]));
  }
});

test('levels change what zstd, gzip and deflate write', () => {
  for (const codec of ['zstd', 'gzip', 'deflate'] as const) {
    const bytes = seededRandom(1)
      .bytes(100_000)
      .map((byte) => byte % 11);
    const [fast, small] = [compress(codec, bytes, 1), compress(codec, bytes, 9)];

    assert.notDeepEqual(fast, small);
    assert.deepEqual(decompress(codec, fast, bytes.length, 'page'), bytes);
    assert.deepEqual(decompress(codec, small, bytes.length, 'page'), bytes);
  }
});

describe('golden bytes, written by hand from the formats', () => {
  const golden: [Codec, string, string][] = [
    // RFC 1951: one fixed block, literal 'a', end of block.
    ['deflate', '4b0400', 'a'],
    // Snappy: length 9, literal of 1, copy of 8 from offset 1.
    ['snappy', `09${'00'}61${'11'}01`, 'aaaaaaaaa'],
    // LZ4 block: 1 literal, match of 11 at offset 1, then 5 last literals.
    ['lz4-raw', '17610100506262626262', 'aaaaaaaaaaaabbbbb'],
    // Zstandard frame: single segment of 3 bytes, one last raw block.
    ['zstd', '28b52ffd2003190000616263', 'abc'],
  ];
  for (const [codec, hex, text] of golden) {
    test(codec, () => {
      assert.deepEqual(decompress(codec, fromHex(hex), text.length, 'page'), encodeUtf8(text));
    });
  }
});

describe('claims that cannot be true are refused before memory is taken', () => {
  const rssGrowth = (run: () => void): number => {
    const beforeBytes = process.memoryUsage().rss;
    run();
    return process.memoryUsage().rss - beforeBytes;
  };

  test('snappy: a block of 5 bytes that claims 1 GiB', () => {
    const grownBytes = rssGrowth(() =>
      assert.throws(
        () => decompressUpTo('snappy', fromHex('8080808004'), DECOMPRESSED_BYTES_MAX, 'page'),
        errorOfKind('invalid-data', /claims 1073741824 bytes, at most 106 are possible/),
      ),
    );
    assert.ok(grownBytes < 64 * 1024 * 1024, `${grownBytes} bytes`);
  });

  test('snappy: lengths of more than 32 bits, or without an end', () => {
    for (const hex of ['ffffffffff01', '8080', '']) {
      assert.throws(
        () => decompressUpTo('snappy', fromHex(hex), 100, 'page'),
        errorOfKind('invalid-data', /snappy block has no valid length/),
      );
    }
  });

  test('lz4: a block of 6 bytes where 1 GiB was promised', () => {
    const grownBytes = rssGrowth(() =>
      assert.throws(
        () => decompress('lz4-raw', fromHex('506262626262'), DECOMPRESSED_BYTES_MAX, 'page'),
        errorOfKind('invalid-data', /gives 5 bytes, 1073741824 were promised/),
      ),
    );
    assert.ok(grownBytes < 64 * 1024 * 1024, `${grownBytes} bytes`);
  });

  test('zstd: a frame that claims a window of terabytes', () => {
    assert.throws(
      () => decompressUpTo('zstd', fromHex('28b52ffd00f8010000'), 1000, 'page'),
      errorOfKind('invalid-data', /^page: zstd data of 9 bytes/),
    );
  });

  for (const codec of ['gzip', 'deflate', 'zstd', 'brotli', 'lz4-raw', 'snappy'] as const) {
    test(`${codec}: a bomb of 64 MiB stops at the promised size`, () => {
      const bomb = compress(codec, new Uint8Array(64 * 1024 * 1024));

      const grownBytes = rssGrowth(() =>
        assert.throws(() => decompress(codec, bomb, 1024, 'page'), errorOfKind('invalid-data')),
      );

      assert.ok(grownBytes < 32 * 1024 * 1024, `${grownBytes} bytes`);
    });
  }
});
