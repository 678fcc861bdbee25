import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isIcebergError, type JsonValue } from '../../shared/base/index.ts';
import type { IcebergType, NestedField } from '../../shared/iceberg/index.ts';
import { parsePartitionSpec } from '../../shared/iceberg/index.ts';
import { DuckDb, type ExampleRewrite, field, rewrite } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

async function rowsOf(example: ExampleRewrite, select = '*') {
  const outcome = await rewrite(example);
  outcome.bytes.forEach((bytes, index) => {
    duck.put(`evolved-${index}.parquet`, bytes);
  });
  const names = outcome.bytes.map((_, index) => `'#evolved-${index}.parquet#'`).join(', ');
  return { outcome, rows: await duck.query(`SELECT ${select} FROM read_parquet([${names}])`) };
}

async function rejects(
  example: ExampleRewrite,
  kind: 'invalid-data' | 'unsupported',
  text: RegExp,
) {
  await assert.rejects(
    rewrite(example),
    (error) => isIcebergError(error, kind) && text.test(error.message),
  );
}

const ids = (text: string) => `, FIELD_IDS {${text}}`;

describe('columns that a file lacks', () => {
  const defaults: readonly [string, IcebergType, JsonValue, unknown][] = [
    ['boolean', { kind: 'boolean' }, true, true],
    ['int', { kind: 'int' }, -7, -7],
    ['long', { kind: 'long' }, 2n ** 60n, String(2n ** 60n)],
    ['float', { kind: 'float' }, 0.5, 0.5],
    ['double', { kind: 'double' }, -2.25, -2.25],
    ['short decimal', { kind: 'decimal', precision: 5, scale: 2 }, '-1.25', '-1.25'],
    ['long decimal', { kind: 'decimal', precision: 18, scale: 2 }, '-1.25', '-1.25'],
    ['wide decimal', { kind: 'decimal', precision: 38, scale: 2 }, '-1.25', '-1.25'],
    ['date', { kind: 'date' }, '1969-12-31', '1969-12-31'],
    ['time', { kind: 'time' }, '10:00:00.000001', '10:00:00.000001'],
    [
      'timestamp',
      { kind: 'timestamp' },
      '2020-01-01T00:00:00.000001',
      '2020-01-01 00:00:00.000001',
    ],
    ['string', { kind: 'string' }, 'né', 'né'],
    [
      'uuid',
      { kind: 'uuid' },
      'f79c3e09-677c-4bbd-a479-3f349cb785e7',
      'f79c3e09-677c-4bbd-a479-3f349cb785e7',
    ],
    ['fixed', { kind: 'fixed', lengthBytes: 2 }, '0aff', '\\x0A\\xFF'],
    ['binary', { kind: 'binary' }, '61', 'a'],
  ];
  for (const [name, type, initialDefault, expected] of defaults) {
    test(`hold the initial default of type ${name}`, async () => {
      const bytes = await duck.write('SELECT 1 AS a FROM range(3)', ids('a: 1'));
      const fields = [field(1, 'a', 'int'), field(2, 'b', type, { initialDefault })];

      const { rows, outcome } = await rowsOf(
        { files: [{ bytes }], fields, formatVersion: 3 },
        'a, b',
      );

      assert.deepEqual(rows, Array(3).fill({ a: 1, b: expected }));
      assert.equal(outcome.outputs[0]?.dataFile.valueCounts?.get(2), 3);
      assert.equal(outcome.outputs[0]?.dataFile.nullValueCounts?.get(2), 0);
    });
  }

  test('hold null without a default, nested ones too', async () => {
    const bytes = await duck.write('SELECT 1 AS a FROM range(2)', ids('a: 1'));
    const inner = field(4, 'c', 'string');
    const fields = [
      field(1, 'a', 'int'),
      field(2, 'b', 'long'),
      field(3, 's', { kind: 'struct', fields: [inner] }),
      field(5, 'l', {
        kind: 'list',
        elementId: 6,
        isElementRequired: true,
        elementType: { kind: 'int' },
      }),
    ];

    const { rows, outcome } = await rowsOf({ files: [{ bytes }], fields });

    assert.deepEqual(rows, Array(2).fill({ a: 1, b: null, s: null, l: null }));
    const dataFile = outcome.outputs[0]!.dataFile;
    assert.equal(dataFile.nullValueCounts?.get(2), 2);
    assert.equal(dataFile.lowerBounds?.has(2), false);
    assert.deepEqual(outcome.columnChunks.copiedCount, 1);
  });

  test('follow the struct around them, in lists and maps too', async () => {
    const bytes = await duck.write(
      `SELECT * FROM (VALUES
        ({'x': 1}, [{'x': 1}, NULL, {'x': 2}], MAP {'k': {'x': 1}}),
        (NULL, [], MAP {}),
        ({'x': NULL}, NULL, MAP {'j': NULL, 'k': {'x': 5}})) t(s, l, m)`,
      ids(`s: {__duckdb_field_id: 1, x: 2}, l: {__duckdb_field_id: 3, element: {__duckdb_field_id: 4, x: 5}},
        m: {__duckdb_field_id: 6, key: 7, value: {__duckdb_field_id: 8, x: 9}}`),
    );
    const structOf = (id: number): IcebergType => ({
      kind: 'struct',
      fields: [
        field(id, 'x', 'int'),
        field(id + 100, 'y', 'int', { initialDefault: 9 }),
        field(id + 200, 'z', {
          kind: 'list',
          elementId: id + 300,
          isElementRequired: false,
          elementType: { kind: 'string' },
        }),
      ],
    });
    const fields = [
      field(1, 's', structOf(2)),
      field(3, 'l', {
        kind: 'list',
        elementId: 4,
        isElementRequired: false,
        elementType: structOf(5),
      }),
      field(6, 'm', {
        kind: 'map',
        keyId: 7,
        keyType: { kind: 'string' },
        valueId: 8,
        isValueRequired: false,
        valueType: structOf(9),
      }),
    ];

    const { rows } = await rowsOf({ files: [{ bytes }], fields, formatVersion: 3 }, 's, l, m');

    const of = (x: number | null) => ({ x, y: 9, z: null });
    assert.deepEqual(rows, [
      { s: of(1), l: [of(1), null, of(2)], m: [{ key: 'k', value: of(1) }] },
      { s: null, l: [], m: [] },
      {
        s: of(null),
        l: null,
        m: [
          { key: 'j', value: null },
          { key: 'k', value: of(5) },
        ],
      },
    ]);
  });

  test('hold the value of an identity partition before any default', async () => {
    const bytes = await duck.write('SELECT 1 AS a FROM range(2)', ids('a: 1'));
    const partitionSpec = parsePartitionSpec(
      {
        'spec-id': 1,
        fields: [
          { name: 'p', transform: 'identity', 'source-id': 2, 'field-id': 1000 },
          { name: 'q', transform: 'identity', 'source-id': 3, 'field-id': 1001 },
        ],
      },
      'spec',
    );
    const fields = [
      field(1, 'a', 'int'),
      field(2, 'p', 'long', { initialDefault: 5 }),
      field(3, 'q', 'string', { initialDefault: 'x' }),
    ];
    const entry = { partition: [7, null] };

    const { rows, outcome } = await rowsOf({ files: [{ bytes, entry }], fields, partitionSpec });

    assert.deepEqual(rows, Array(2).fill({ a: 1, p: '7', q: null }));
    assert.deepEqual(outcome.outputs[0]?.dataFile.partition, [7, null]);
  });

  test('refuse the file when they are required and have no default', async () => {
    const bytes = await duck.write('SELECT 1 AS a', ids('a: 1'));
    const fields = [field(1, 'a', 'int'), field(2, 'b', 'int', { isRequired: true })];

    await rejects(
      { files: [{ bytes }], fields },
      'unsupported',
      /column b: the column is required/,
    );
  });

  test('refuse a default that is no single value', async () => {
    const bytes = await duck.write('SELECT 1 AS a', ids('a: 1'));
    const type: IcebergType = { kind: 'struct', fields: [field(3, 'x', 'int')] };
    const fields = [field(1, 'a', 'int'), field(2, 'b', type, { initialDefault: {} })];

    await rejects({ files: [{ bytes }], fields }, 'unsupported', /default of a struct/);
  });
});

describe('promoted columns', () => {
  const promotions: readonly [string, string, IcebergType, unknown][] = [
    ['int to long', '(-2147483648)::INT', { kind: 'long' }, '-2147483648'],
    ['float to double', '0.1::FLOAT', { kind: 'double' }, 0.10000000149011612],
    [
      'decimal in int32 to int64',
      '-1.25::DECIMAL(5,2)',
      { kind: 'decimal', precision: 12, scale: 2 },
      '-1.25',
    ],
    [
      'decimal in int32 to fixed',
      '-1.25::DECIMAL(5,2)',
      { kind: 'decimal', precision: 30, scale: 2 },
      '-1.25',
    ],
    [
      'decimal in int64 to fixed',
      '12345678901.25::DECIMAL(18,2)',
      { kind: 'decimal', precision: 38, scale: 2 },
      '12345678901.25',
    ],
    [
      'decimal in 16 bytes to fewer',
      '-9.5::DECIMAL(20,1)',
      { kind: 'decimal', precision: 21, scale: 1 },
      '-9.5',
    ],
    ['date to timestamp', "DATE '1969-12-31'", { kind: 'timestamp' }, '1969-12-31 00:00:00'],
    ['date to timestamp_ns', "DATE '1969-12-31'", { kind: 'timestamp_ns' }, '1969-12-31 00:00:00'],
  ];
  for (const [name, literal, type, expected] of promotions) {
    test(`keep their values: ${name}`, async () => {
      const query = `SELECT CASE WHEN i = 1 THEN NULL ELSE ${literal} END AS a FROM range(3) t(i)`;
      const bytes = await duck.write(query, ids('a: 1'));

      const { rows } = await rowsOf(
        { files: [{ bytes }], fields: [field(1, 'a', type)], formatVersion: 3 },
        'a',
      );

      assert.deepEqual(rows, [{ a: expected }, { a: null }, { a: expected }]);
    });
  }

  test('leave other columns copied', async () => {
    const bytes = await duck.write('SELECT 1::INT AS a, 2 AS b', ids('a: 1, b: 2'));

    const { columnChunks } = await rewrite({
      files: [{ bytes }],
      fields: [field(1, 'a', 'long'), field(2, 'b', 'int')],
    });

    assert.deepEqual([columnChunks.copiedCount, columnChunks.encodedCount], [1, 1]);
  });

  const refused: readonly [string, string, IcebergType][] = [
    ['long to int', '1::BIGINT', { kind: 'int' }],
    ['double to float', '1::DOUBLE', { kind: 'float' }],
    ['decimal to another scale', '1::DECIMAL(5,2)', { kind: 'decimal', precision: 9, scale: 3 }],
    ['decimal to fewer digits', '1::DECIMAL(7,2)', { kind: 'decimal', precision: 6, scale: 2 }],
    ['date to timestamp in v2', "DATE '2020-01-01'", { kind: 'timestamp' }],
    ['string to binary', "'x'", { kind: 'binary' }],
    ['unsigned 32 bits to int', '1::UINTEGER', { kind: 'int' }],
    ['int to a struct', '1', { kind: 'struct', fields: [field(2, 'x', 'int')] }],
    [
      'int to a list',
      '1',
      { kind: 'list', elementId: 2, isElementRequired: false, elementType: { kind: 'int' } },
    ],
    ['struct to int', "{'x': 1}", { kind: 'int' }],
    ['list to a struct', '[1]', { kind: 'struct', fields: [field(2, 'x', 'int')] }],
    [
      'list to a map',
      '[1]',
      {
        kind: 'map',
        keyId: 2,
        keyType: { kind: 'int' },
        valueId: 3,
        valueType: { kind: 'int' },
        isValueRequired: false,
      },
    ],
    ['struct to a variant', "{'x': 1}", { kind: 'variant' }],
  ];
  for (const [name, literal, type] of refused) {
    test(`are refused where nothing promotes: ${name}`, async () => {
      const bytes = await duck.write(`SELECT ${literal} AS a`, ids('a: 1'));

      await rejects(
        { files: [{ bytes }], fields: [field(1, 'a', type)] },
        'unsupported',
        /column a: .* does not serve type/,
      );
    });
  }
});

describe('columns whose level differs', () => {
  const required = (fields: NestedField[]) => fields.map((each) => ({ ...each, isRequired: true }));

  test('become required where they hold no null', async () => {
    const bytes = await duck.write('SELECT i::INT AS a FROM range(5) t(i)', ids('a: 1'));

    const { rows } = await rowsOf({ files: [{ bytes }], fields: required([field(1, 'a', 'int')]) });

    assert.deepEqual(
      rows.map((row) => row['a']),
      [0, 1, 2, 3, 4],
    );
  });

  test('fail the group where a required column holds null', async () => {
    const bytes = await duck.write('SELECT nullif(i, 3)::INT AS a FROM range(5) t(i)', ids('a: 1'));

    await rejects(
      { files: [{ bytes }], fields: required([field(1, 'a', 'int')]) },
      'invalid-data',
      /column a: null in a required column/,
    );
  });

  test('become optional again', async () => {
    const bytes = await duck.write('SELECT i::INT AS a FROM range(5) t(i)', ids('a: 1'));
    const first = await rewrite({ files: [{ bytes }], fields: required([field(1, 'a', 'int')]) });

    const { rows } = await rowsOf({
      files: [{ bytes: first.bytes[0]! }],
      fields: [field(1, 'a', 'int')],
    });

    assert.deepEqual(
      rows.map((row) => row['a']),
      [0, 1, 2, 3, 4],
    );
  });

  test('keep nulls around them when only the inner field becomes required', async () => {
    const bytes = await duck.write(
      'SELECT * FROM (VALUES ([1, 2]), (NULL), ([]), ([3])) t(l)',
      ids('l: {__duckdb_field_id: 1, element: 2}'),
    );
    const type: IcebergType = {
      kind: 'list',
      elementId: 2,
      isElementRequired: true,
      elementType: { kind: 'int' },
    };

    const { rows } = await rowsOf({ files: [{ bytes }], fields: [field(1, 'l', type)] });

    assert.deepEqual(
      rows.map((row) => row['l']),
      [[1, 2], null, [], [3]],
    );
  });
});

describe('field ids', () => {
  test('decide, names do not', async () => {
    const bytes = await duck.write('SELECT 1 AS a, 2 AS b, 3 AS gone', ids('a: 1, b: 2, gone: 3'));

    const { rows } = await rowsOf({
      files: [{ bytes }],
      fields: [field(2, 'a', 'int'), field(1, 'c d', 'int')],
    });

    assert.deepEqual(rows, [{ a: 2, c_x20d: 1 }]);
  });

  test('are required without a name mapping', async () => {
    const bytes = await duck.write('SELECT 1 AS a');

    await rejects(
      { files: [{ bytes }], fields: [field(1, 'a', 'int')] },
      'unsupported',
      /no field ids/,
    );
  });

  test('of list elements must be the ones of the schema', async () => {
    const bytes = await duck.write('SELECT [1] AS l', ids('l: {__duckdb_field_id: 1, element: 9}'));
    const type: IcebergType = {
      kind: 'list',
      elementId: 2,
      isElementRequired: false,
      elementType: { kind: 'int' },
    };

    await rejects(
      { files: [{ bytes }], fields: [field(1, 'l', type)] },
      'unsupported',
      /no element with field id 2/,
    );
  });
});

describe('columns of type unknown', () => {
  test('are left out of the file', async () => {
    const bytes = await duck.write('SELECT 1 AS a', ids('a: 1'));

    const { rows } = await rowsOf(
      {
        files: [{ bytes }],
        fields: [field(1, 'a', 'int'), field(2, 'u', { kind: 'unknown' })],
        formatVersion: 3,
      },
      '* EXCLUDE (_row_id, _last_updated_sequence_number)',
    );

    assert.deepEqual(rows, [{ a: 1 }]);
  });

  test('cannot be all there is', async () => {
    const bytes = await duck.write('SELECT 1 AS a', ids('a: 1'));

    await rejects(
      { files: [{ bytes }], fields: [field(2, 'u', { kind: 'unknown' })] },
      'unsupported',
      /no column is stored/,
    );
    const type: IcebergType = { kind: 'struct', fields: [field(3, 'u', { kind: 'unknown' })] };
    await rejects(
      { files: [{ bytes }], fields: [field(2, 's', type)] },
      'unsupported',
      /a struct without columns/,
    );
    const list: IcebergType = {
      kind: 'list',
      elementId: 4,
      isElementRequired: false,
      elementType: { kind: 'unknown' },
    };
    await rejects(
      { files: [{ bytes }], fields: [field(2, 'l', list)] },
      'unsupported',
      /element is of type unknown/,
    );
  });
});
