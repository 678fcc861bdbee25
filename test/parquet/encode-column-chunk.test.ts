import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import {
  ColumnChunkEncoder,
  type EncodeOptions,
} from '../../shared/parquet/encode-column-chunk.ts';
import type { LeafShape } from '../../shared/parquet/leaf-shape.ts';
import { type LeafValues, repeatPhysicalValue } from '../../shared/parquet/leaf-values.ts';
import { elementOf, physicalValuesOf } from './leaf-values-arbitrary.ts';

const TEXT: LeafShape = {
  element: { ...elementOf('BYTE_ARRAY'), convertedType: 'UTF8' },
  maxRepetitionLevel: 0,
  maxDefinitionLevel: 1,
};

const OPTIONS: EncodeOptions = {
  codec: 'ZSTD',
  pageSizeBytes: 2 ** 20,
  pageRowCountMax: 20_000,
  dictionarySizeBytesMax: 2 ** 21,
};

function encode(batch: LeafValues, options: Partial<EncodeOptions> = {}, leaf = TEXT) {
  const encoder = new ColumnChunkEncoder(leaf, { ...OPTIONS, ...options }, 'file: column x');
  encoder.add(batch);
  return { chunk: encoder.finish(), facts: encoder.facts };
}

function texts(words: readonly (string | null)[]): LeafValues {
  const present = words.filter((word) => word !== null);
  return {
    valueCount: words.length,
    definitionLevels: Uint8Array.from(words, (word) => (word === null ? 0 : 1)),
    values: physicalValuesOf(
      TEXT.element,
      present.map((word) => new TextEncoder().encode(word)),
    ),
  };
}

const encodingsOf = ({ chunk }: ReturnType<typeof encode>) =>
  chunk.dataPages.map(({ header }) => header.dataPageHeader?.encoding);

describe('ColumnChunkEncoder', () => {
  test('uses a dictionary where values repeat', () => {
    const encoded = encode(texts(Array.from({ length: 500 }, (_, index) => `value ${index % 3}`)));

    assert.deepEqual(encodingsOf(encoded), ['RLE_DICTIONARY']);
    assert.deepEqual(encoded.chunk.dictionaryPage?.header.dictionaryPageHeader, {
      numValues: 3,
      encoding: 'PLAIN',
    });
  });

  test('gives a useless dictionary up', () => {
    const encoded = encode(texts(Array.from({ length: 500 }, (_, index) => `value ${index}`)));

    assert.deepEqual(encodingsOf(encoded), ['PLAIN']);
    assert.equal(encoded.chunk.dictionaryPage, undefined);
  });

  test('goes on with PLAIN when a dictionary becomes too large', () => {
    const words = Array.from({ length: 30 }, (_, index) => (index < 20 ? 'a' : `b${index}`));

    const encoded = encode(texts(words), { pageRowCountMax: 10, dictionarySizeBytesMax: 20 });

    assert.deepEqual(encodingsOf(encoded), ['RLE_DICTIONARY', 'RLE_DICTIONARY', 'PLAIN']);
    assert.equal(encoded.chunk.dictionaryPage?.header.dictionaryPageHeader?.numValues, 1);
  });

  test('keeps pages of nulls in the encoding of the others', () => {
    const words = [null, null, 'a', 'a', 'a', 'a', 'a', 'a', null, null];

    const before = encode(texts(words), { pageRowCountMax: 2 });
    const none = encode(texts([null, null, null]), { pageRowCountMax: 2 });

    assert.deepEqual(new Set(encodingsOf(before)), new Set(['RLE_DICTIONARY']));
    assert.deepEqual(encodingsOf(none), ['PLAIN', 'PLAIN']);
    assert.equal(none.chunk.dictionaryPage, undefined);
  });

  test('writes a bit width of at least 1, whatever a reader expects behind 0', () => {
    const { chunk } = encode(texts(Array(20).fill('same')), { codec: 'UNCOMPRESSED' });

    // Levels: their length in four bytes, and a run of two bytes.
    assert.deepEqual(chunk.dataPages[0]?.body.slice(6), Uint8Array.of(1, 40, 0));
  });

  test('closes pages by rows and by size', () => {
    const words = Array.from({ length: 10 }, (_, index) => 'x'.repeat(index));

    const rows = (options: Partial<EncodeOptions>) =>
      encode(texts(words), options).chunk.dataPages.map(({ rowCount }) => rowCount);

    assert.deepEqual(rows({ pageRowCountMax: 4 }), [4, 4, 2]);
    // Five values of up to four characters and their lengths: 30 bytes.
    assert.deepEqual(rows({ pageSizeBytes: 30 }), [5, 3, 2]);
  });

  test('tells what went in', () => {
    const { facts, chunk } = encode(texts(['b', null, 'é', 'x'.repeat(70)]));

    const encoder = new TextEncoder();
    assert.deepEqual(facts, {
      valueCount: 4,
      nullCount: 1,
      nanCount: 0,
      bounds: { min: encoder.encode('b'), max: encoder.encode('é') },
    });
    assert.equal(chunk.statistics?.nullCount, 1);
  });

  test('encodes many equal values and nulls', () => {
    const count = 1_000_000;
    const value = new TextEncoder().encode('default');

    const values = repeatPhysicalValue(value, count, 'byte-array');
    const { chunk } = encode({
      valueCount: count,
      definitionLevels: new Uint8Array(count).fill(1),
      values,
    });

    assert.equal(chunk.dataPages.length, 50);
    assert.ok(chunk.dataPages.every(({ body }) => body.length < 40));
  });

  test('refuses a row whose values do not fit a page', () => {
    const lengthBytes = 2 ** 29 + 1;
    const batch: LeafValues = {
      valueCount: 2,
      repetitionLevels: Uint8Array.of(0, 1),
      definitionLevels: Uint8Array.of(1, 1),
      values: repeatPhysicalValue(new Uint8Array(lengthBytes), 2, 'byte-array'),
    };

    assert.throws(
      () => encode(batch, {}, { ...TEXT, maxRepetitionLevel: 1 }),
      (error) => isIcebergError(error, 'unsupported') && /exceed the limits/.test(error.message),
    );
  });
});
