import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeDataPage, decodeDictionaryPage } from '../../shared/parquet/decode-page.ts';
import {
  ColumnChunkEncoder,
  type EncodeOptions,
} from '../../shared/parquet/encode-column-chunk.ts';
import type { EncodedColumnChunk } from '../../shared/parquet/encoded-column-chunk.ts';
import type { LeafShape } from '../../shared/parquet/leaf-shape.ts';
import { joinLeafValues, type LeafValues } from '../../shared/parquet/leaf-values.ts';
import { leafExamples, plainOf } from './leaf-values-arbitrary.ts';

const SEED = 20260101;

const options: fc.Arbitrary<EncodeOptions> = fc.record({
  codec: fc.constantFrom('UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'LZ4_RAW', 'BROTLI'),
  pageSizeBytes: fc.constantFrom(16, 200, 1_000_000),
  pageRowCountMax: fc.constantFrom(1, 7, 20_000),
  dictionarySizeBytesMax: fc.constantFrom(0, 20, 60, 2_000_000),
});

function encode(
  leaf: LeafShape,
  batches: readonly LeafValues[],
  encodeOptions: EncodeOptions,
): EncodedColumnChunk {
  const encoder = new ColumnChunkEncoder(leaf, encodeOptions, 'test');
  for (const batch of batches) encoder.add(batch);
  return encoder.finish();
}

function decode(leaf: LeafShape, chunk: EncodedColumnChunk): LeafValues[] {
  const context = { leaf, codec: chunk.codec, subject: 'test' };
  const dictionary =
    chunk.dictionaryPage === undefined
      ? undefined
      : decodeDictionaryPage(chunk.dictionaryPage.header, chunk.dictionaryPage.body, context);
  return chunk.dataPages.map((page) =>
    decodeDataPage(page.header, page.body, { ...context, ...(dictionary && { dictionary }) }),
  );
}

describe('ColumnChunkEncoder laws', () => {
  test('what is encoded decodes to the same levels and bits', () => {
    fc.assert(
      fc.property(leafExamples(), options, ({ leaf, batches }, encodeOptions) => {
        const chunk = encode(leaf, batches, encodeOptions);

        const decoded = joinLeafValues(decode(leaf, chunk));

        assert.deepEqual(plainOf(decoded), plainOf(joinLeafValues(batches)));
      }),
      { seed: SEED, numRuns: 600 },
    );
  });

  test('every page begins a row and counts its rows', () => {
    fc.assert(
      fc.property(leafExamples(), options, ({ leaf, batches }, encodeOptions) => {
        const chunk = encode(leaf, batches, encodeOptions);

        const pages = decode(leaf, chunk);

        for (const [index, page] of pages.entries()) {
          const levels = page.repetitionLevels ?? new Uint8Array(page.valueCount);
          assert.equal(levels[0], 0);
          const rowCount = levels.filter((level) => level === 0).length;
          assert.equal(chunk.dataPages[index]?.rowCount, rowCount);
          assert.ok(rowCount <= encodeOptions.pageRowCountMax);
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test('the way values are batched changes no byte', () => {
    fc.assert(
      fc.property(leafExamples(), options, ({ leaf, batches }, encodeOptions) => {
        const whole = encode(leaf, [joinLeafValues(batches)], encodeOptions);

        const parts = encode(leaf, batches, encodeOptions);

        assert.deepEqual(parts, whole);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});
