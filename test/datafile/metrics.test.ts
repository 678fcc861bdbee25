import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type DataFile,
  decodeSingleValue,
  encodeSingleValue,
  type IcebergType,
  isPrimitiveType,
  type NestedField,
  type SingleValue,
} from '../../shared/iceberg/index.ts';
import { DuckDb, field, rewrite } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

/** Metrics of one column as values. */
function metricsOf(dataFile: DataFile, fieldId: number, type: IcebergType) {
  const bound = (map?: ReadonlyMap<number, Uint8Array>): SingleValue | undefined => {
    const bytes = map?.get(fieldId);
    assert.ok(isPrimitiveType(type));
    return bytes && decodeSingleValue(type, bytes, 'bound');
  };
  return {
    values: dataFile.valueCounts?.get(fieldId),
    nulls: dataFile.nullValueCounts?.get(fieldId),
    nans: dataFile.nanValueCounts?.get(fieldId),
    lower: bound(dataFile.lowerBounds),
    upper: bound(dataFile.upperBounds),
  };
}

const INT = { kind: 'int' } as const;
const DOUBLE = { kind: 'double' } as const;
const STRING = { kind: 'string' } as const;
const fields: NestedField[] = [
  field(1, 'a', 'int'),
  field(2, 'd', 'double'),
  field(3, 's', 'string'),
];

function write(values: string, more = ''): Promise<Uint8Array> {
  return duck.write(
    `SELECT a::INT AS a, d::DOUBLE AS d, s::VARCHAR AS s FROM (VALUES ${values}) t(a, d, s)`,
    `, FIELD_IDS {a: 1, d: 2, s: 3}${more}`,
  );
}

function entryOf(
  metrics: Readonly<Record<number, readonly [number, number, number, SingleValue, SingleValue]>>,
) {
  const types = { 1: INT, 2: DOUBLE, 3: STRING } as const;
  const valueCounts = new Map<number, number>();
  const nullValueCounts = new Map<number, number>();
  const nanValueCounts = new Map<number, number>();
  const lowerBounds = new Map<number, Uint8Array>();
  const upperBounds = new Map<number, Uint8Array>();
  for (const [key, [values, nulls, nans, lower, upper]] of Object.entries(metrics)) {
    const fieldId = Number(key) as 1 | 2 | 3;
    valueCounts.set(fieldId, values);
    nullValueCounts.set(fieldId, nulls);
    if (fieldId === 2) nanValueCounts.set(fieldId, nans);
    lowerBounds.set(fieldId, encodeSingleValue(types[fieldId], lower));
    upperBounds.set(fieldId, encodeSingleValue(types[fieldId], upper));
  }
  return { valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds };
}

const ONE = "(1, 1.5, 'b'), (NULL, 'nan'::DOUBLE, 'c')";
const OTHER = "(-5, 2.5, NULL), (9, NULL, 'a')";
const ONE_ENTRY = entryOf({ 1: [2, 1, 0, 1, 1], 2: [2, 0, 1, 1.5, 1.5], 3: [2, 0, 0, 'b', 'd'] });
const OTHER_ENTRY = entryOf({
  1: [2, 0, 0, -5, 9],
  2: [2, 1, 0, 2.5, 2.5],
  3: [2, 1, 0, 'a', 'a'],
});

describe('metrics of an output', () => {
  test('are merged from the manifest entries of its inputs', async () => {
    const files = [
      { bytes: await write(ONE), entry: ONE_ENTRY },
      { bytes: await write(OTHER), entry: OTHER_ENTRY },
    ];

    const { outputs } = await rewrite({ files, fields });

    const { dataFile } = outputs[0]!;
    assert.deepEqual(metricsOf(dataFile, 1, INT), {
      values: 4,
      nulls: 1,
      nans: undefined,
      lower: -5,
      upper: 9,
    });
    assert.deepEqual(metricsOf(dataFile, 2, DOUBLE), {
      values: 4,
      nulls: 1,
      nans: 1,
      lower: 1.5,
      upper: 2.5,
    });
    // The bound of the first entry had been cut: it still holds.
    assert.deepEqual(metricsOf(dataFile, 3, STRING), {
      values: 4,
      nulls: 1,
      nans: undefined,
      lower: 'a',
      upper: 'd',
    });
  });

  test('come from the footer where an entry lacks them, and are left out where that lacks them too', async () => {
    const files = [{ bytes: await write(ONE), entry: ONE_ENTRY }, { bytes: await write(OTHER) }];

    const { outputs } = await rewrite({ files, fields });

    const { dataFile } = outputs[0]!;
    assert.deepEqual(metricsOf(dataFile, 1, INT), {
      values: 4,
      nulls: 1,
      nans: undefined,
      lower: -5,
      upper: 9,
    });
    // DuckDB's footers count no NaN.
    assert.deepEqual(metricsOf(dataFile, 2, DOUBLE), {
      values: 4,
      nulls: 1,
      nans: undefined,
      lower: 1.5,
      upper: 2.5,
    });
    assert.deepEqual(metricsOf(dataFile, 3, STRING), {
      values: 4,
      nulls: 1,
      nans: undefined,
      lower: 'a',
      upper: 'd',
    });
  });

  test('are exact where columns are encoded anew', async () => {
    const files = [{ bytes: await write(ONE) }, { bytes: await write(OTHER) }];
    const required = field(3, 's', 'string');
    const promoted = [field(1, 'a', 'long'), field(2, 'd', 'double'), required];

    const { outputs } = await rewrite({ files, fields: promoted });

    assert.deepEqual(metricsOf(outputs[0]!.dataFile, 1, { kind: 'long' }), {
      values: 4,
      nulls: 1,
      nans: undefined,
      lower: -5n,
      upper: 9n,
    });
  });

  test('decode bounds of the type a column had before', async () => {
    const files = [
      { bytes: await write(ONE), entry: ONE_ENTRY },
      { bytes: await write(OTHER), entry: OTHER_ENTRY },
    ];
    const promoted = [field(1, 'a', 'long'), ...fields.slice(1)];

    const { outputs } = await rewrite({ files, fields: promoted });

    const { lower, upper } = metricsOf(outputs[0]!.dataFile, 1, { kind: 'long' });
    assert.deepEqual([lower, upper], [-5n, 9n]);
  });

  test('of some rows of an input come from the footer first', async () => {
    const rows = Array.from({ length: 4096 }, (_, index) => `(${index}, ${index}, '${index}')`);
    const bytes = await write(rows.join(', '), ', ROW_GROUP_SIZE 2048');
    const entry = entryOf({
      1: [4096, 0, 0, 0, 4095],
      2: [4096, 0, 0, 0, 4095],
      3: [4096, 0, 0, '0', '999'],
    });

    const { outputs } = await rewrite({
      files: [{ bytes, entry }],
      fields,
      outputSizeBytes: bytes.length * 0.6,
    });

    assert.equal(outputs.length, 2);
    const [first, second] = outputs.map(({ dataFile }) => metricsOf(dataFile, 1, INT));
    assert.deepEqual(first, { values: 2048, nulls: 0, nans: undefined, lower: 0, upper: 2047 });
    assert.deepEqual(second, { values: 2048, nulls: 0, nans: undefined, lower: 2048, upper: 4095 });
    // No NaN in the whole file: none in its parts.
    assert.equal(outputs[1]!.dataFile.nanValueCounts?.get(2), 0);
  });

  test('need no bounds of inputs that hold nulls only', async () => {
    const nulls = {
      valueCounts: new Map([[1, 2]]),
      nullValueCounts: new Map([[1, 2]]),
    };
    const files = [
      { bytes: await write('(NULL, 1, NULL), (NULL, 1, NULL)'), entry: nulls },
      { bytes: await write(OTHER), entry: OTHER_ENTRY },
    ];

    const { outputs } = await rewrite({ files, fields });

    assert.deepEqual(metricsOf(outputs[0]!.dataFile, 1, INT), {
      values: 4,
      nulls: 2,
      nans: undefined,
      lower: -5,
      upper: 9,
    });
  });

  test('pass over bounds that are not of the type', async () => {
    const entry = { ...OTHER_ENTRY, lowerBounds: new Map([[1, Uint8Array.of(1)]]) };

    const { outputs } = await rewrite({ files: [{ bytes: await write(OTHER), entry }], fields });

    assert.equal(metricsOf(outputs[0]!.dataFile, 1, INT).lower, -5);
  });

  test('follow the modes of the table', async () => {
    const files = [{ bytes: await write("(1, 1, 'abcdef')") }];
    const properties = {
      'write.metadata.metrics.default': 'counts',
      'write.metadata.metrics.column.a': 'none',
      'write.metadata.metrics.column.s': 'truncate(3)',
    };

    const { outputs } = await rewrite({ files, fields, properties });

    const { dataFile } = outputs[0]!;
    assert.deepEqual(metricsOf(dataFile, 1, INT), {
      values: undefined,
      nulls: undefined,
      nans: undefined,
      lower: undefined,
      upper: undefined,
    });
    assert.deepEqual(metricsOf(dataFile, 2, DOUBLE), {
      values: 1,
      nulls: 0,
      nans: undefined,
      lower: undefined,
      upper: undefined,
    });
    assert.deepEqual(metricsOf(dataFile, 3, STRING), {
      values: 1,
      nulls: 0,
      nans: undefined,
      lower: 'abc',
      upper: 'abd',
    });
    assert.deepEqual([...(dataFile.columnSizes?.keys() ?? [])], [1, 2, 3]);
  });

  test('leave members of lists and maps out', async () => {
    const bytes = await duck.write(
      'SELECT * FROM (VALUES ([1, NULL, 3]), (NULL), ([])) t(l)',
      ', FIELD_IDS {l: {__duckdb_field_id: 1, element: 2}}',
    );
    const type: IcebergType = {
      kind: 'list',
      elementId: 2,
      isElementRequired: false,
      elementType: INT,
    };

    const { outputs } = await rewrite({ files: [{ bytes }], fields: [field(1, 'l', type)] });

    const { dataFile } = outputs[0]!;
    assert.equal(dataFile.valueCounts?.size, 0);
    assert.equal(dataFile.lowerBounds?.size, 0);
    assert.deepEqual([...(dataFile.columnSizes?.keys() ?? [])], [2]);
  });

  const bounds: readonly [string, IcebergType, SingleValue, SingleValue][] = [
    ["DATE '1969-12-31'", { kind: 'date' }, -1, -1],
    ["TIMESTAMP '1969-12-31 23:59:59.999999'", { kind: 'timestamp' }, -1n, -1n],
    ['(-1.25)::DECIMAL(5,2)', { kind: 'decimal', precision: 5, scale: 2 }, -125n, -125n],
    ['(-1.25)::DECIMAL(18,2)', { kind: 'decimal', precision: 18, scale: 2 }, -125n, -125n],
    ['(-1.25)::DECIMAL(20,2)', { kind: 'decimal', precision: 20, scale: 2 }, -125n, -125n],
    ['true', { kind: 'boolean' }, true, true],
    ['0.0::DOUBLE', { kind: 'double' }, -0, 0],
    ["'\\xFF'::BLOB", { kind: 'binary' }, Uint8Array.of(0xff), Uint8Array.of(0xff)],
  ];
  for (const [literal, type, lower, upper] of bounds) {
    test(`have bounds from the footer or the values: ${literal}`, async () => {
      const bytes = await duck.write(`SELECT ${literal} AS a`, ', FIELD_IDS {a: 1}');
      const each = field(1, 'a', type);

      const copied = await rewrite({ files: [{ bytes }], fields: [each] });
      const encoded = await rewrite({
        files: [{ bytes }],
        fields: [{ ...each, isRequired: true }],
      });

      for (const { outputs } of [copied, encoded]) {
        const found = metricsOf(outputs[0]!.dataFile, 1, type);
        assert.deepEqual([found.lower, found.upper], [lower, upper]);
      }
    });
  }
});
