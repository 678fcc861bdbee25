import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AvroCodec,
  type AvroValue,
  parseAvroFile,
  parseAvroType,
  serializeAvroFile,
  serializeAvroType,
} from '../../shared/avro/index.ts';
import type { JsonObject, JsonValue } from '../../shared/base/index.ts';
import { readAvroSlowly } from '../support/slow-avro.ts';

const RUNS = { seed: 20261130, numRuns: 200 };

interface Case {
  readonly schema: JsonValue;
  readonly value: fc.Arbitrary<AvroValue>;
}

const LONG = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const TEXT = fc.string({ unit: 'binary', maxLength: 12 });
const FLOAT = fc.float({ noNaN: true });

const PRIMITIVES: readonly Case[] = [
  { schema: 'boolean', value: fc.boolean() },
  { schema: 'int', value: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) },
  { schema: 'long', value: LONG },
  { schema: { type: 'long', logicalType: 'timestamp-micros' }, value: LONG },
  { schema: 'float', value: FLOAT },
  { schema: 'double', value: fc.double({ noNaN: true }) },
  { schema: 'bytes', value: fc.uint8Array({ maxLength: 12 }) },
  { schema: 'string', value: TEXT },
];

let nameCount = 0;

/** A type of bounded depth, with values of it. Named types get names of their own. */
function caseOf(depth: number): fc.Arbitrary<Case> {
  const primitive = fc.constantFrom(...PRIMITIVES);
  if (depth === 0) return primitive;
  const inner = caseOf(depth - 1);
  return fc.oneof(
    primitive,
    inner.map(({ schema, value }) => ({
      schema: { type: 'array', items: schema, 'element-id': depth },
      value: fc.array(value, { maxLength: 4 }),
    })),
    inner.map(({ schema, value }) => ({
      schema: { type: 'map', values: schema },
      value: fc
        .dictionary(TEXT, value, { maxKeys: 4 })
        .map((map) => Object.assign(Object.create(null), map)),
    })),
    inner
      .filter(({ schema }) => !Array.isArray(schema))
      .map(({ schema, value }) => ({
        schema: ['null', schema],
        value: fc.option(value),
      })),
    fc.integer({ min: 0, max: 9 }).map((size) => ({
      schema: { type: 'fixed', name: `f${nameCount++}`, size },
      value: fc.uint8Array({ minLength: size, maxLength: size }),
    })),
    fc.array(inner, { maxLength: 4 }).map(recordCase),
  );
}

function recordCase(members: readonly Case[]): Case {
  const fields = members.map(({ schema }, index) => ({
    name: `c${index}`,
    type: schema,
    'field-id': index + 1,
  }));
  const values = Object.fromEntries(members.map(({ value }, index) => [`c${index}`, value]));
  return { schema: { type: 'record', name: `r${nameCount++}`, fields }, value: fc.record(values) };
}

const FILE = fc
  .array(caseOf(3), { minLength: 1, maxLength: 5 })
  .map(recordCase)
  .chain(({ schema, value }) =>
    fc.record({
      // Names of copies of one arbitrary are equal; parsing and serializing makes them different.
      schema: fc.constant(withUniqueNames(schema, { next: 0 })),
      values: fc.array(value, { maxLength: 20 }),
      codec: fc.constantFrom<AvroCodec>('null', 'deflate', 'snappy', 'zstandard'),
    }),
  );

test('reading gives back what was written', () => {
  fc.assert(
    fc.property(FILE, ({ schema, values, codec }) => {
      const bytes = serializeAvroFile({ schema, metadata: {}, records: values, codec }, 'x');

      assert.deepEqual([...parseAvroFile(bytes, 'x').records()].map(plain), values.map(plain));
    }),
    RUNS,
  );
});

test('reading gives what avsc reads', () => {
  fc.assert(
    fc.property(FILE, ({ schema, values, codec }) => {
      const bytes = serializeAvroFile({ schema, metadata: {}, records: values, codec }, 'x');

      const theirs = readAvroSlowly(bytes).records;

      assert.deepEqual(
        [...parseAvroFile(bytes, 'x').records()].map(nameless),
        theirs.map(nameless),
      );
    }),
    RUNS,
  );
});

test('a schema survives parsing and serializing', () => {
  fc.assert(
    fc.property(FILE, ({ schema }) => {
      assert.deepEqual(serializeAvroType(parseAvroType(schema, 'x')), schema);
    }),
    RUNS,
  );
});

function withUniqueNames(schema: JsonValue, counter: { next: number }): JsonValue {
  if (Array.isArray(schema)) return schema.map((branch) => withUniqueNames(branch, counter));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema as JsonObject).map(([key, value]) => {
    if (key === 'name' && 'type' in schema && ('fields' in schema || 'size' in schema)) {
      return [key, `n${counter.next++}`];
    }
    return [key, typeof value === 'object' ? withUniqueNames(value, counter) : value];
  });
  return Object.fromEntries(entries);
}

/** Values without what does not count: kinds of byte arrays and prototypes. */
/** The slow reader names fields by their ids. */
function nameless(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: [...value] };
  if (typeof value !== 'object' || value === null) return value;
  return Object.values(value).map(nameless);
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: [...value] };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, member]) => [key, plain(member)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
