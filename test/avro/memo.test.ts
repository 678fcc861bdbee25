import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemo } from '../../shared/avro/memo.ts';

describe('createMemo', () => {
  it('makes the value of a text once', () => {
    const memo = createMemo<object>();
    const first = memo('a', () => ({}));

    const second = memo('a', () => ({}));

    assert.equal(second, first);
  });

  it('forgets the text that came in first when there are more than sixteen', () => {
    const memo = createMemo<object>();
    const first = memo('0', () => ({}));
    for (let index = 1; index <= 16; index++) memo(`${index}`, () => ({}));

    const again = memo('0', () => ({}));

    assert.notEqual(again, first);
  });

  it('does not keep texts of more than 32 KiB', () => {
    const memo = createMemo<object>();
    const text = 'x'.repeat(32 * 1024 + 1);
    const first = memo(text, () => ({}));

    const second = memo(text, () => ({}));

    assert.notEqual(second, first);
  });

  it('keeps nothing of a text whose making fails', () => {
    const memo = createMemo<string>();
    assert.throws(() =>
      memo('a', () => {
        throw new TypeError('no');
      }),
    );

    assert.equal(
      memo('a', () => 'made'),
      'made',
    );
  });
});
