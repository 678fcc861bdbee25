import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, JsonNumber, parseJson, serializeJson } from '../../shared/base/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const parse = (text: string) => parseJson(text, 'doc');

describe('parseJson: numbers', () => {
  test('an integer up to 2^53 − 1 is a number', () => {
    assert.equal(parse('9007199254740991'), 9007199254740991);
    assert.equal(parse('-9007199254740991'), -9007199254740991);
    assert.equal(parse('0'), 0);
  });

  test('a larger integer is a bigint with every digit', () => {
    assert.equal(parse('9007199254740992'), 9007199254740992n);
    assert.equal(parse('9007199254740993'), 9007199254740993n);
    assert.equal(parse('-9223372036854775808'), -(2n ** 63n));
    assert.equal(parse('18446744073709551616'), 2n ** 64n);
  });

  test('a fraction that a double prints alike is a number', () => {
    assert.equal(parse('0.1'), 0.1);
    assert.equal(parse('-2.5'), -2.5);
    assert.equal(parse('1e-7'), 1e-7);
  });

  for (const text of ['-0', '-0.0', '1.0', '0.10', '1E5', '1e5', '1e400', '-1e400', '1e-400']) {
    test(`${text} keeps its text`, () => {
      assert.deepEqual(parse(text), new JsonNumber(text));
      assert.equal(serializeJson(parse(text)), text);
    });
  }

  test('more digits than a double holds keep their text', () => {
    const text = '3.14159265358979323846264338327950288419';

    assert.deepEqual(parse(text), new JsonNumber(text));
  });

  test('refuses a number of more than 400 characters, which BigInt would take long over', () => {
    assert.equal(parse('9'.repeat(400)), BigInt('9'.repeat(400)));
    assert.throws(
      () => parse(`[${'9'.repeat(401)}]`),
      errorOfKind('invalid-data', /^doc: .*401 characters, at most 400/),
    );
  });
});

describe('parseJson: text and keys', () => {
  test('a lone surrogate survives as its escape', () => {
    assert.equal(parse('"\\ud800"'), '\ud800');
    assert.equal(serializeJson('\ud800'), '"\\ud800"');
  });

  test('a key named __proto__ is a key like any other', () => {
    const text = '{"__proto__":{"isAdmin":true},"constructor":1}';
    const value = parse(text);

    assert.ok(isJsonObject(value));
    assert.deepEqual(Object.keys(value), ['__proto__', 'constructor']);
    assert.equal((value as { isAdmin?: boolean }).isAdmin, undefined);
    assert.equal(serializeJson(value), text);
  });

  test('the last of equal keys counts', () => {
    assert.deepEqual(parse('{"a":1,"a":2}'), { a: 2 });
  });

  test('keys keep their order, array indexes first', () => {
    const value = parse('{"b":1,"a":2,"10":3,"2":4}');

    assert.ok(isJsonObject(value));
    assert.deepEqual(Object.keys(value), ['2', '10', 'b', 'a']);
  });
});

describe('parseJson: hostile text', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    'NaN',
    '01',
    '+1',
    '1.',
    '.5',
    '"\t"',
    'nul',
    '1 2',
    '\ufeff{}',
  ]) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parse(text), errorOfKind('invalid-data', /^doc: not valid JSON: /));
    });
  }

  test('takes 1,000 levels of arrays or objects, and can serialize them again', () => {
    const arrays = '['.repeat(1000) + ']'.repeat(1000);
    const objects = `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`;

    assert.equal(serializeJson(parse(arrays)), arrays);
    assert.equal(serializeJson(parse(objects)), objects);
  });

  test('refuses deeper nesting, however deep', () => {
    for (const depth of [1001, 10_000, 1_000_000]) {
      const message = /^doc: json is nested deeper than 1000 levels$/;
      assert.throws(() => parse('['.repeat(depth)), errorOfKind('invalid-data', message));
      assert.throws(() => parse('{"a":'.repeat(depth)), errorOfKind('invalid-data', message));
    }
  });

  test('does not count brackets within text', () => {
    const value = ['['.repeat(2000), '"[\\"{'.repeat(2000), '\\'];

    assert.deepEqual(parse(JSON.stringify(value)), value);
  });

  test('counts levels that are open at once, not brackets', () => {
    const text = `[${Array.from({ length: 2000 }, () => '[{}]').join(',')}]`;

    assert.equal(serializeJson(parse(text)), text);
  });
});

describe('serializeJson', () => {
  test('writes bigints as bare numbers', () => {
    assert.equal(
      serializeJson({ 'snapshot-id': 3055729675574597004n, list: [1n, 2] }),
      '{"snapshot-id":3055729675574597004,"list":[1,2]}',
    );
  });

  test('indents on request', () => {
    assert.equal(serializeJson({ a: [1n] }, 2), '{\n  "a": [\n    1\n  ]\n}');
  });

  test('stops at numbers that JSON has no form for', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => serializeJson({ value }), { name: 'AssertionFailed' });
    }
  });
});

test('JsonNumber stops at text that is not a JSON number', () => {
  for (const text of ['', 'NaN', '1,', '"1"', '0x1', '01', ' 1', '1\n']) {
    assert.throws(() => new JsonNumber(text), { name: 'AssertionFailed' });
  }
});

test('isJsonObject tells objects from arrays, numbers and null', () => {
  assert.equal(isJsonObject({}), true);
  for (const value of [null, undefined, [], 'a', 1, 1n, true, new JsonNumber('1.0')]) {
    assert.equal(isJsonObject(value), false);
  }
});

describe('parseJson: errors', () => {
  test('says where the text is wrong without quoting it', () => {
    assert.throws(
      () => parse('{"secret-column": oops}'),
      errorOfKind('invalid-data', /^doc: not valid JSON: unexpected text(?! .*secret)/),
    );
  });
});
