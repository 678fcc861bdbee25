import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { concatBytes } from '../../shared/bytes/index.ts';
import { compress } from '../../shared/compress/index.ts';
import { countPageRows } from '../../shared/parquet/count-rows.ts';
import { encodeHybrid } from '../../shared/parquet/encode-hybrid.ts';
import type { WalkedPage } from '../../shared/parquet/page-sequence.ts';
import {
  type BuiltPage,
  chunkOf,
  dataPageV1,
  dataPageV2,
  REPEATED_LEAF,
  withDataHeader,
  withHeader,
  withV2Header,
} from './chunk-builder.ts';

const SEED = 20261130;

/** Runs of equal levels, so that both kinds of runs occur. */
const levels = (levelMax: number) =>
  fc
    .array(
      fc.record({
        level: fc.integer({ min: 0, max: levelMax }),
        count: fc.integer({ min: 1, max: 30 }),
      }),
      { minLength: 1, maxLength: 20 },
    )
    .map((runs) => Uint8Array.from(runs.flatMap(({ level, count }) => Array(count).fill(level))));

function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length, true);
  return concatBytes([length, bytes]);
}

function walked({ header, body }: BuiltPage): WalkedPage {
  return { header, body, offset: 0, headerBytes: 0 };
}

function leafOf(maxRepetitionLevel: number) {
  return { ...REPEATED_LEAF, maxRepetitionLevel };
}

describe('countPageRows', () => {
  test('counts zeros among the levels of v1 and v2 pages, whatever the width', () => {
    const examples = fc
      .integer({ min: 1, max: 9 })
      .chain((levelMax) => fc.tuple(fc.constant(levelMax), levels(levelMax)));

    fc.assert(
      fc.property(examples, ([levelMax, repetitionLevels]) => {
        const encoded = encodeHybrid(repetitionLevels, 32 - Math.clz32(levelMax));
        const count = repetitionLevels.length;
        const v1 = dataPageV1(count, lengthPrefixed(encoded));
        const v2 = withV2Header(dataPageV2(count, 0, encoded), {
          repetitionLevelsByteLength: encoded.length,
        });
        const { chunk } = chunkOf([], { leaf: leafOf(levelMax) });

        const expected = {
          rowCount: repetitionLevels.filter((level) => level === 0).length,
          startsRow: repetitionLevels[0] === 0,
        };
        assert.deepEqual(countPageRows(walked(v1), chunk, 'chunk'), expected);
        assert.deepEqual(countPageRows(walked(v2), chunk, 'chunk'), expected);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('opens a compressed v1 page', () => {
    const body = lengthPrefixed(encodeHybrid(Uint8Array.of(0, 1, 1, 0), 1));
    const page = withHeader(dataPageV1(4, compress('zstd', body)), {
      uncompressedPageSize: body.length,
    });
    const { chunk } = chunkOf([], { leaf: REPEATED_LEAF, metaData: { codec: 'ZSTD' } });

    assert.deepEqual(countPageRows(walked(page), chunk, 'chunk'), { rowCount: 2, startsRow: true });
  });

  test('gives nothing for codecs it cannot open, bit-packed levels and dictionaries', () => {
    const page = dataPageV1(4, new Uint8Array(10));
    const { chunk } = chunkOf([], { leaf: REPEATED_LEAF });
    const { chunk: lzo } = chunkOf([], { leaf: REPEATED_LEAF, metaData: { codec: 'LZO' } });
    const packed = withDataHeader(page, { repetitionLevelEncoding: 'BIT_PACKED' });
    const dictionary = withHeader(page, { type: 'DICTIONARY_PAGE' });

    assert.equal(countPageRows(walked(page), lzo, 'chunk'), undefined);
    assert.equal(countPageRows(walked(packed), chunk, 'chunk'), undefined);
    assert.equal(countPageRows(walked(dictionary), chunk, 'chunk'), undefined);
  });

  test('a run of 2^31 values takes no time, runs that end early are invalid-data', () => {
    const { chunk } = chunkOf([], { leaf: REPEATED_LEAF });
    const runs = Uint8Array.of(0xfe, 0xff, 0xff, 0xff, 0x0f, 0x00);
    const count = 2 ** 31 - 1;
    const huge = walked(dataPageV1(count, lengthPrefixed(runs)));
    const early = walked(dataPageV1(5, lengthPrefixed(Uint8Array.of(0x04, 0x00))));
    const empty = walked(dataPageV1(5, lengthPrefixed(Uint8Array.of(0x00, 0x00))));

    assert.deepEqual(countPageRows(huge, chunk, 'chunk'), { rowCount: count, startsRow: true });
    assert.throws(() => countPageRows(early, chunk, 'chunk'), { kind: 'invalid-data' });
    assert.throws(() => countPageRows(empty, chunk, 'chunk'), { kind: 'invalid-data' });
  });
});
