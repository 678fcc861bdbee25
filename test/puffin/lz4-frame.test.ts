import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as lz4 from 'lz4-napi';
import { seededRandom } from '../../shared/base/index.ts';
import { concatBytes, encodeUtf8 } from '../../shared/bytes/index.ts';
import { decompressLz4Frame } from '../../shared/puffin/lz4-frame.ts';
import { xxHash32 } from '../../shared/puffin/xxhash32.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { blocksOf, frameOf, lz4Frame, withHeaderChecksum } from './lz4-frames.ts';

const LIMIT = 10_000_000;
const INDEPENDENT = 0x68;
const LINKED = 0x48;
const KIB_64 = 0x40;

function decompress(frame: Uint8Array): Uint8Array {
  return decompressLz4Frame(frame, LIMIT, 'file.puffin');
}

function refuses(frame: Uint8Array, message: RegExp): void {
  assert.throws(() => decompress(frame), errorOfKind('invalid-data', message));
}

/** Nothing, what does not compress, what compresses well, and more than a block. */
const CONTENTS: Readonly<Record<string, Uint8Array>> = {
  empty: new Uint8Array(0),
  short: encodeUtf8('snow'),
  random: seededRandom(1).bytes(100_000),
  zeros: new Uint8Array(300_000),
  text: encodeUtf8('many small grains pressed into few large ones '.repeat(20_000)),
};

describe('xxHash32', () => {
  test('gives the values of the specification', () => {
    assert.equal(xxHash32(encodeUtf8('')), 0x02cc5d05);
    assert.equal(xxHash32(encodeUtf8('a')), 0x550d7456);
    assert.equal(xxHash32(encodeUtf8('abc')), 0x32d153ff);
  });
});

describe('frames of lz4-napi', () => {
  for (const [name, content] of Object.entries(CONTENTS)) {
    for (const contentChecksum of [false, true]) {
      test(`${name}${contentChecksum ? ' with checksums' : ''}`, () => {
        const frame = lz4Frame(content, { contentChecksum, blockChecksums: contentChecksum });

        assert.deepEqual(decompress(frame), content);
        assert.deepEqual(new Uint8Array(lz4.decompressFrameSync(Buffer.from(frame))), content);
      });
    }
  }
});

describe('blocks', () => {
  const first = encodeUtf8('abcdefgh');
  /** A match of 8 bytes, 8 back, and 5 literals as every block must end. */
  const reachingBack = Uint8Array.of(0x04, 8, 0, 0x50, 1, 2, 3, 4, 5);
  const content = concatBytes([first, first, Uint8Array.of(1, 2, 3, 4, 5)]);
  const blocks = blocksOf({ bytes: first, isStored: true }, { bytes: reachingBack });

  test('that are linked reach into the ones before', () => {
    const frame = frameOf({ flags: LINKED, blockSize: KIB_64, content, blocks });

    assert.deepEqual(decompress(frame), content);
    assert.deepEqual(new Uint8Array(lz4.decompressFrameSync(Buffer.from(frame))), content);
  });

  test('that are independent must not', () => {
    refuses(frameOf({ flags: INDEPENDENT, blockSize: KIB_64, content, blocks }), /is corrupt/);
  });

  test('may be longer than their size class only in a lie', () => {
    const bytes = new Uint8Array(65_537);
    const tooLong = blocksOf({ bytes, isStored: true });

    refuses(
      frameOf({ flags: INDEPENDENT, blockSize: KIB_64, content: bytes, blocks: tooLong }),
      /block of 65537 bytes exceeds 65536/,
    );
  });

  test('must give the size that was said', () => {
    const stored = blocksOf({ bytes: first, isStored: true });
    const shorter = { flags: INDEPENDENT, blockSize: KIB_64, content: first.subarray(1) };
    const longer = { flags: INDEPENDENT, blockSize: KIB_64, content: concatBytes([first, first]) };

    refuses(frameOf({ ...shorter, blocks: stored }), /block exceeds the content/);
    refuses(frameOf({ ...longer, blocks: stored }), /content of 8 bytes is said to have 16/);
  });

  for (const [what, bytes] of Object.entries({
    'without literals at the end': Uint8Array.of(0x40, 1, 2, 3, 4, 1, 0),
    'with a match 0 bytes back': Uint8Array.of(0x10, 1, 0, 0, 0x50, 1, 2, 3, 4, 5),
    'with a match before the start': Uint8Array.of(0x10, 1, 2, 0, 0x50, 1, 2, 3, 4, 5),
    'that ends in a length': Uint8Array.of(0xf0, 0xff),
    'that ends in a distance': Uint8Array.of(0x10, 1, 1),
    'that ends in the length of a match': Uint8Array.of(0x1f, 1, 1, 0, 0xff),
    'with more literals than bytes': Uint8Array.of(0x50, 1),
    'with a match beyond the content': Uint8Array.of(0x1f, 1, 1, 0, 200, 0x00),
  })) {
    test(`${what} are refused`, () => {
      const blocks = blocksOf({ bytes });

      refuses(
        frameOf({ flags: INDEPENDENT, blockSize: KIB_64, content: new Uint8Array(20), blocks }),
        /block of \d+ bytes is corrupt/,
      );
    });
  }
});

describe('frames', () => {
  const content = encodeUtf8('snow on its way to becoming ice');
  const sound = lz4Frame(content, { contentChecksum: true, blockChecksums: true });

  test('with any changed byte are refused', () => {
    for (let offset = 0; offset < sound.length; offset++) {
      const changed = sound.slice();
      changed[offset]! ^= 0x04;

      assert.throws(
        () => decompress(changed),
        (error) => error instanceof Error && error.name === 'IcebergError',
        `byte ${offset}`,
      );
    }
  });

  test('that end anywhere are refused', () => {
    for (let end = 0; end < sound.length; end++) refuses(sound.subarray(0, end), /./);
  });

  test('with bytes behind them are refused', () => {
    refuses(concatBytes([sound, sound]), /bytes are left over/);
  });

  test('that do not say the size of their content are refused', () => {
    refuses(new Uint8Array(lz4.compressFrameSync(Buffer.from(content))), /says no content size/);
  });

  test('that claim more than their bytes can give are refused before anything is allocated', () => {
    const descriptor = concatBytes([
      Uint8Array.of(INDEPENDENT, KIB_64),
      new Uint8Array(8).fill(0xff),
    ]);

    refuses(
      withHeaderChecksum(descriptor, Uint8Array.of(0, 0, 0, 0)),
      /claims \d+ bytes, at most 1020/,
    );
  });

  test('of more than is allowed are unsupported', () => {
    assert.throws(
      () => decompressLz4Frame(lz4Frame(content), 10, 'file.puffin'),
      errorOfKind(
        'unsupported',
        /^file.puffin: uncompressed size 31 exceeds the limit of 10 bytes/,
      ),
    );
  });

  test('that need a dictionary are unsupported', () => {
    const descriptor = concatBytes([Uint8Array.of(INDEPENDENT | 1, KIB_64), new Uint8Array(12)]);

    assert.throws(
      () => decompress(withHeaderChecksum(descriptor, Uint8Array.of(0, 0, 0, 0))),
      errorOfKind('unsupported', /needs a dictionary/),
    );
  });

  test('of another version, with reserved bits or block sizes are refused', () => {
    for (const [flags, blockSize] of [
      [0xa8, KIB_64],
      [INDEPENDENT | 2, KIB_64],
      [INDEPENDENT, 0x30],
      [INDEPENDENT, KIB_64 | 1],
      [INDEPENDENT, 0xc0],
    ] as const) {
      refuses(frameOf({ flags, blockSize, content, blocks: blocksOf() }), /flags|block size/);
    }
  });
});
