import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  formatNamespace,
  formatTableIdentifier,
  parseTableIdentifier,
} from '../../shared/catalog/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

describe('parseTableIdentifier', () => {
  test('takes the last part for the table, the others for the namespace', () => {
    assert.deepEqual(parseTableIdentifier('sales.eu.orders'), {
      namespace: ['sales', 'eu'],
      name: 'orders',
    });
  });

  const refused: [string, RegExp][] = [
    ['', /table name "": has no namespace/],
    ['orders', /table name "orders": has no namespace/],
    ['.orders', /has an empty part/],
    ['db.', /has an empty part/],
    ['db..orders', /has an empty part/],
    ['db.\ud800', /holds a lone surrogate/],
    [`${'n'.repeat(1025)}.t`, /1025 bytes exceed the limit of 1024/],
    [`db.${'é'.repeat(1023)}`, /2049 bytes exceed the limit of 2048/],
  ];
  for (const [text, message] of refused) {
    test(`refuses ${JSON.stringify(text.slice(0, 12))} of ${text.length} characters`, () => {
      assert.throws(() => parseTableIdentifier(text), errorOfKind('invalid-config', message));
    });
  }

  test('takes names of exactly the longest length', () => {
    const text = `${'n'.repeat(1024)}.${'t'.repeat(1023)}`;

    assert.equal(formatTableIdentifier(parseTableIdentifier(text)), text);
  });
});

describe('formatTableIdentifier', () => {
  test('is the inverse of parseTableIdentifier', () => {
    const part = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => !text.includes('.'));
    const namespace = fc.array(part, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(namespace, part, (levels, name) => {
        const identifier = { namespace: levels, name };
        assert.deepEqual(parseTableIdentifier(formatTableIdentifier(identifier)), identifier);
      }),
      { seed: 2 },
    );
  });

  test('refuses a part with a dot, which would name another table', () => {
    for (const identifier of [
      { namespace: ['a.b'], name: 'c' },
      { namespace: ['a'], name: 'b.c' },
    ]) {
      assert.throws(
        () => formatTableIdentifier(identifier),
        errorOfKind('invalid-config', /has a dot/),
      );
    }
  });
});

test('formatNamespace refuses what no table could be in', () => {
  assert.equal(formatNamespace(['a', 'b']), 'a.b');
  for (const namespace of [[], [''], ['a.b']]) {
    assert.throws(() => formatNamespace(namespace), errorOfKind('invalid-config'));
  }
});
