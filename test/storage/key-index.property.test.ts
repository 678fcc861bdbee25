import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareUtf8, KeyIndex, lowerBound } from '../../shared/storage/index.ts';

const SEED = { seed: 11 };
const key = fc.string({
  unit: fc.constantFrom(
    'a',
    'b',
    '/',
    '-',
    '\u00e9',
    '\ud7ff',
    '\ue000',
    '\uffee',
    '\u{10000}',
    '\u{1f9ca}',
  ),
  maxLength: 5,
});

describe('keys in UTF-8 order', () => {
  it('compare as their bytes do', () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        const expected = Buffer.compare(Buffer.from(one), Buffer.from(other));
        assert.equal(Math.sign(compareUtf8(one, other)), expected);
      }),
      SEED,
    );
  });

  it('are found by their lower bound', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key), key, (keys, sought) => {
        const sorted = keys.toSorted(compareUtf8);
        const expected = sorted.filter((one) => compareUtf8(one, sought) < 0).length;
        assert.equal(lowerBound(sorted, sought), expected);
      }),
      SEED,
    );
  });

  it('come page by page, each once, as set and deleted', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(key),
        fc.array(key),
        key,
        fc.nat(4),
        (keys, gone, prefix, extra) => {
          const index = new KeyIndex<string>();
          for (const one of keys) index.set(one, one);
          for (const one of gone) index.delete(one);
          const countMax = extra + 1;
          const paged: string[] = [];
          for (let page = index.page(prefix, undefined, countMax); page.length > 0; ) {
            paged.push(...page);
            page = index.page(prefix, paged.at(-1), countMax);
          }

          const expected = keys.filter((one) => one.startsWith(prefix) && !gone.includes(one));
          assert.deepEqual(paged, expected.toSorted(compareUtf8));
        },
      ),
      SEED,
    );
  });
});
