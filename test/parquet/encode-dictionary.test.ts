import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ValueDictionary } from '../../shared/parquet/encode-dictionary.ts';
import { elementOf, physicalValuesOf } from './leaf-values-arbitrary.ts';

const texts = (...words: string[]) =>
  physicalValuesOf(
    elementOf('BYTE_ARRAY'),
    words.map((word) => new TextEncoder().encode(word)),
  );

function ints(values: readonly number[]) {
  const bytes = values.map((value) => new Uint8Array(Int32Array.of(value).buffer));
  return physicalValuesOf(elementOf('INT32'), bytes);
}

describe('ValueDictionary', () => {
  test('numbers values by their first occurrence', () => {
    const dictionary = new ValueDictionary('byte-array', 1000);

    const indices = dictionary.add(texts('b', '', 'b', 'a', ''));

    assert.deepEqual(indices, Uint32Array.of(0, 1, 0, 2, 1));
    assert.deepEqual(dictionary.entries(), texts('b', '', 'a'));
    // Two bytes, and three lengths of four.
    assert.equal(dictionary.sizeBytes, 14);
  });

  test('refuses what exceeds its size, and stays as it was', () => {
    const dictionary = new ValueDictionary('byte-array', 12);
    dictionary.add(texts('aa'));

    assert.equal(dictionary.add(texts('bb', 'c')), undefined);

    assert.equal(dictionary.entryCount, 1);
    assert.deepEqual(dictionary.add(texts('bb', 'aa')), Uint32Array.of(1, 0));
  });

  test('holds many values', () => {
    const dictionary = new ValueDictionary('fixed-width', 2 ** 20);
    const values = Array.from({ length: 50_000 }, (_, index) => index * 7);

    dictionary.add(ints(values));

    const again = dictionary.add(ints([0, 7 * 49_999, 7 * 25_000]));
    assert.deepEqual(again, Uint32Array.of(0, 49_999, 25_000));
    assert.deepEqual(dictionary.entries(), ints(values));
  });
});
