import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson, serializeJson } from '../../shared/base/index.ts';
import { fromHex, toHex } from '../../shared/bytes/index.ts';
import {
  applyTransform,
  createPartitionSpec,
  createSchema,
  dataLocation,
  decodeSingleValue,
  encodeSingleValue,
  humanText,
  type PartitionType,
  parseTransform,
  partitionPath,
  partitionType,
  singleValueFromJson,
  singleValueToJson,
  transformResultType,
  truncateLowerBound,
  truncateUpperBound,
  typeText,
} from '../../shared/iceberg/index.ts';
import { goldenJson, goldenValue, primitiveOf } from './java-goldens.ts';

interface SingleValueCase {
  readonly type: string;
  readonly value: unknown;
  readonly hex: string;
  readonly json: string | null;
}

interface TransformCase {
  readonly type: string;
  readonly transform: string;
  readonly value: unknown;
  readonly resultType: string;
  readonly result: unknown;
  readonly human: string;
  readonly path: string;
}

interface LocationCase {
  readonly tableLocation: string;
  readonly properties: Record<string, string>;
  readonly partition: string | null;
  readonly fileName: string;
  readonly location: string;
}

interface BoundCases {
  readonly strings: readonly {
    value: string;
    length: number;
    lower: string;
    upper: string | null;
  }[];
  readonly binary: readonly { hex: string; length: number; lower: string; upper: string | null }[];
}

const singleValues = goldenJson('single-values.json') as readonly SingleValueCase[];
const transforms = goldenJson('transforms.json') as readonly TransformCase[];
const locations = goldenJson('locations.json') as readonly LocationCase[];
const bounds = goldenJson('truncated-bounds.json') as BoundCases;

test('single values have the bytes that Java gives them', () => {
  for (const { type, value, hex } of singleValues) {
    const primitive = primitiveOf(type);

    const bytes = encodeSingleValue(primitive, goldenValue(primitive, value)!);

    assert.equal(toHex(bytes), hex, `${type} ${value}`);
  }
});

test('single values are read back from the bytes that Java gives them', () => {
  for (const { type, value, hex } of singleValues) {
    const primitive = primitiveOf(type);

    const decoded = decodeSingleValue(primitive, fromHex(hex), type);

    const expected = goldenValue(primitive, value);
    const isFloat = primitive.kind === 'float';
    assert.deepEqual(
      decoded,
      isFloat ? Math.fround(expected as number) : expected,
      `${type} ${value}`,
    );
  }
});

test('single values have the JSON form that Java gives them, and are read back from it', () => {
  for (const { type, value, json } of singleValues) {
    if (json === null) continue;
    const primitive = primitiveOf(type);
    const single = decodeSingleValue(
      primitive,
      encodeSingleValue(primitive, goldenValue(primitive, value)!),
      '',
    );

    const text = serializeJson(singleValueToJson(primitive, single));
    const parsed = singleValueFromJson(primitive, parseJson(json, 'golden'), 'golden');

    // Java writes hexadecimal in upper case, the spec's example is in lower case; both are read.
    const isHex = primitive.kind === 'fixed' || primitive.kind === 'binary';
    assert.equal(text, isHex ? json.toLowerCase() : json, `${type} ${value}`);
    assert.deepEqual(parsed, single, `${type} ${json}`);
  }
});

test('transforms give the values, types, texts and paths that Java gives', () => {
  for (const golden of transforms) {
    const type = primitiveOf(golden.type);
    const transform = parseTransform(golden.transform, 'golden');
    const resultType = transformResultType(transform, type, 'golden');
    const name = golden.path.slice(0, golden.path.indexOf('='));
    const spec = createPartitionSpec(0, [{ sourceIds: [1], fieldId: 1000, name, transform }]);
    const value = goldenValue(type, golden.value);
    const source = type.kind === 'float' && value !== null ? Math.fround(value as number) : value;

    const result = applyTransform(transform, type, source);

    const subject = `${golden.transform} of ${golden.type} ${golden.value}`;
    const expected = goldenValue(primitiveOf(golden.resultType), golden.result);
    assert.equal(typeText(resultType), golden.resultType, subject);
    assert.deepEqual(
      result,
      type.kind === 'float' && expected !== null ? Math.fround(expected as number) : expected,
      subject,
    );
    assert.equal(humanText(transform, resultType, result), golden.human, subject);
    const partition: PartitionType = partitionType(spec, [
      createSchema(0, [{ fieldId: 1, name: 'col', isRequired: false, type }]),
    ]);
    assert.equal(partitionPath(spec, partition, [result]), golden.path, subject);
  }
});

test('data files lie where Java puts them', () => {
  for (const { tableLocation, properties, partition, fileName, location } of locations) {
    assert.equal(
      dataLocation(tableLocation, properties, partition ?? undefined, fileName),
      location,
      JSON.stringify({ tableLocation, properties, partition, fileName }),
    );
  }
});

test('truncated bounds of strings are those of Java', () => {
  for (const { value, length, lower, upper } of bounds.strings) {
    assert.equal(truncateLowerBound(value, length), lower, `${value} ${length}`);
    assert.equal(truncateUpperBound(value, length) ?? null, upper, `${value} ${length}`);
  }
});

test('truncated bounds of binary values are those of Java', () => {
  for (const { hex, length, lower, upper } of bounds.binary) {
    const above = truncateUpperBound(fromHex(hex), length) as Uint8Array | undefined;

    assert.equal(toHex(truncateLowerBound(fromHex(hex), length) as Uint8Array), lower);
    assert.equal(above === undefined ? null : toHex(above), upper, `${hex} ${length}`);
  }
});
