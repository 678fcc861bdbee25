import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatTable, printable, shorten, textWidth } from '../../shared/display/index.ts';

describe('formatTable', () => {
  it('aligns text to the left and quantities to the right', () => {
    assert.deepEqual(
      formatTable([
        ['partition', 'files', 'bytes'],
        ['day=1', '7', '1.5 KiB'],
        ['day=10', '12', '10 MiB'],
      ]),
      ['partition  files    bytes', 'day=1          7  1.5 KiB', 'day=10        12   10 MiB'],
    );
  });

  it('aligns a heading without rows to the left', () => {
    assert.deepEqual(formatTable([['id', 'name']]), ['id  name']);
  });

  it('gives no line for no rows', () => {
    assert.deepEqual(formatTable([]), []);
  });

  it('fills missing cells', () => {
    assert.deepEqual(formatTable([['a', 'b'], ['1']]), ['a  b', '1']);
  });

  it('aligns by the columns that characters take on a terminal', () => {
    assert.deepEqual(
      formatTable([
        ['name', 'type'],
        ['名前', 'string'],
        ['e\u0301t\u00e9', 'int'],
      ]),
      ['name  type', '名前  string', 'e\u0301t\u00e9   int'],
    );
  });

  it('shortens the widest texts, and no quantity, to fit a terminal', () => {
    const lines = formatTable(
      [
        ['partition', 'files', 'why'],
        [`region=${'x'.repeat(100)}-end`, '1234', 'small'],
      ],
      { widthMax: 40 },
    );

    assert.deepEqual(lines, [
      'partition                   files  why',
      'region=xxxxxx…xxxxxxxx-end   1234  small',
    ]);
  });

  it('keeps twelve columns of each text on a terminal that is too narrow', () => {
    const lines = formatTable(
      [
        ['partition', 'why'],
        ['x'.repeat(50), 'y'.repeat(50)],
      ],
      { widthMax: 10 },
    );

    assert.deepEqual(lines, ['partition     why', 'xxxxxx…xxxxx  yyyyyy…yyyyy']);
  });

  it('never exceeds a terminal that has room for twelve columns of each text', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 40, max: 120 }),
        (rows, widthMax) => {
          for (const line of formatTable(rows, { widthMax })) {
            assert.ok(textWidth(line) <= widthMax, line);
          }
        },
      ),
      { seed: 7 },
    );
  });
});

describe('shorten', () => {
  it('keeps the beginning and the end', () => {
    assert.equal(shorten('abcdefghij', 10), 'abcdefghij');
    assert.equal(shorten('abcdefghij', 9), 'abcd…ghij');
    assert.equal(shorten('abcdefghij', 2), 'a…');
    assert.equal(shorten('abcdefghij', 1), '…');
  });

  it('never cuts a character in two', () => {
    assert.equal(shorten('😀😀😀😀', 5), '😀…😀');
    assert.equal(shorten('😀😀😀😀', 4), '😀…');
  });
});

describe('printable', () => {
  it('shows control characters as escapes', () => {
    assert.equal(printable('a\u001b[31mb\nc\u009b\u007f'), 'a\\u001b[31mb\\u000ac\\u009b\\u007f');
  });

  it('shows marks that reorder text, line separators and lone surrogates as escapes', () => {
    assert.equal(printable('\u202egpj.exe'), '\\u202egpj.exe');
    assert.equal(printable('a\u2028b\ud800c'), 'a\\u2028b\\ud800c');
  });

  it('leaves letters of all scripts and pictures alone', () => {
    assert.equal(printable('Größe 名前 😀'), 'Größe 名前 😀');
  });
});
