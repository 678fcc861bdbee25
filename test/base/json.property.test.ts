import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isIcebergError,
  JsonNumber,
  type JsonValue,
  parseJson,
  serializeJson,
} from '../../shared/base/index.ts';

const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.bigInt({ min: 0n, max: 2n ** 80n }),
    fc.constantFrom('', '.0', '.25', '.1234567890123456789'),
    fc.constantFrom('', 'e5', 'E+12', 'e-320'),
  )
  .map((parts) => parts.join(''));

const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('null', 'true', 'false'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(
        fc.string({ minLength: 1 }).filter((key) => !/^\d+$/.test(key)),
        { maxLength: 4 },
      )
      .chain((keys) =>
        fc.tuple(...keys.map(() => tie('value'))).map((values) => {
          const members = values.map((value, index) => `${JSON.stringify(keys[index])}:${value}`);
          return `{${members.join(',')}}`;
        }),
      ),
  ),
}));

test('serializing what was parsed gives the same text', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      assert.equal(serializeJson(parseJson(text, 'doc')), text);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('what is not a JsonNumber or a bigint equals what JSON.parse gives', () => {
  const toPlain = (value: unknown): unknown => {
    if (value instanceof JsonNumber) return Number(value.text);
    if (typeof value === 'bigint') return Number(value);
    if (Array.isArray(value)) return value.map(toPlain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
  };
  fc.assert(
    fc.property(jsonText, (text) => {
      assert.deepEqual(toPlain(parseJson(text, 'doc')), toPlain(JSON.parse(text)));
    }),
    { seed: 2, numRuns: 300 },
  );
});

test('mutated text gives a value or invalid-data, never another error', () => {
  const mutation = fc.tuple(
    fc.nat(),
    fc.constantFrom('', '"', '[', '}', '\\', 'e', '-', '\u0000', '1'),
  );
  fc.assert(
    fc.property(jsonText, fc.array(mutation, { maxLength: 4 }), (text, mutations) => {
      let mutated = text;
      for (const [position, piece] of mutations) {
        const at = position % (mutated.length + 1);
        mutated = mutated.slice(0, at) + piece + mutated.slice(at + 1);
      }
      try {
        serializeJson(parseJson(mutated, 'doc'));
      } catch (error) {
        assert.ok(isIcebergError(error, 'invalid-data'), String(error));
      }
    }),
    { seed: 3, numRuns: 500 },
  );
});

test('numbers are kept as the engine itself says they were written, wherever they stand', () => {
  const numberText = fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    // The numbers that stand for others while a document is parsed.
    fc.integer({ min: 0, max: 20 }).map((step) => String(2n ** 53n + BigInt(step))),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom('-0', '0.10', '1e5', '1E+400', '1e+21', '9007199254740992.0'),
  );
  const value = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      numberText,
      fc.string().map((text) => JSON.stringify(`${text}"\\`)),
      fc.array(tie('value')).map((items) => `[${items.join()}]`),
      fc
        .array(fc.tuple(fc.constantFrom('a', '1', '__proto__', '-7'), tie('value')))
        .map((fields) => `{${fields.map(([key, text]) => `${JSON.stringify(key)}: ${text}`)}}`),
    ),
  })).value;
  const revive = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => JsonValue;
  fc.assert(
    fc.property(value, (text) => {
      const expected = revive(text, (_key, each, { source }) => {
        if (typeof each !== 'number' || source === undefined) return each;
        const isInteger = /^-?\d+$/.test(source);
        const isKept = String(each) === source && (!isInteger || Number.isSafeInteger(each));
        if (isKept) return each;
        return isInteger && source !== '-0' ? BigInt(source) : new JsonNumber(source);
      });
      assert.deepEqual(parseJson(text, 'text'), expected);
    }),
    { seed: 11, numRuns: 500 },
  );
});
