import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ValueOrder } from '../../shared/parquet/encode-bounds.ts';
import { statisticsOf } from '../../shared/parquet/encode-statistics.ts';

const text = (value: string) => new TextEncoder().encode(value);

describe('statisticsOf', () => {
  const cut = (min: Uint8Array, max: Uint8Array, order: ValueOrder) =>
    statisticsOf({ min, max }, 0, order);

  test('keeps bounds of 64 bytes', () => {
    const value = text('x'.repeat(64));

    assert.deepEqual(cut(value, value, 'text'), {
      nullCount: 0,
      minValue: value,
      isMinValueExact: true,
      maxValue: value,
      isMaxValueExact: true,
    });
  });

  test('cuts longer text at a character, and raises the upper bound', () => {
    const value = text(`${'x'.repeat(62)}éé`);

    const { minValue, maxValue, isMinValueExact, isMaxValueExact } = cut(value, value, 'text');

    assert.deepEqual(minValue, text(`${'x'.repeat(62)}é`));
    assert.deepEqual(maxValue, text(`${'x'.repeat(62)}ê`));
    assert.deepEqual([isMinValueExact, isMaxValueExact], [false, false]);
  });

  test('skips surrogates, and characters that cannot be raised', () => {
    const last = text('\u{10ffff}'.repeat(20));
    const beforeSurrogates = text(`${'x'.repeat(61)}\ud7ff${'y'.repeat(9)}`);

    assert.deepEqual(
      cut(beforeSurrogates, beforeSurrogates, 'text').maxValue,
      text(`${'x'.repeat(61)}\ue000`),
    );
    // No text is larger; bytes are.
    assert.deepEqual(cut(last, last, 'text').maxValue?.at(-1), 0xc0);
  });

  test('has no upper bound where nothing short is larger', () => {
    const value = new Uint8Array(65).fill(0xff);

    const { minValue, maxValue } = cut(value, value, 'bytes');

    assert.equal(minValue?.length, 64);
    assert.equal(maxValue, undefined);
  });

  test('holds the null count alone without bounds', () => {
    assert.deepEqual(statisticsOf(undefined, 7, 'int32'), { nullCount: 7 });
  });
});
