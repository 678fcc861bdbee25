import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { parquetName, parquetSchemaFor } from '../../shared/datafile/parquet-schema.ts';
import { createSchema, type NestedField, type PrimitiveType } from '../../shared/iceberg/index.ts';
import { field } from './rewrite-fixture.ts';

function elementsOf(fields: readonly NestedField[], withLineage = false) {
  return parquetSchemaFor(createSchema(0, fields), { withLineage });
}

describe('parquetSchemaFor', () => {
  const decimal = (precision: number): PrimitiveType => ({ kind: 'decimal', precision, scale: 2 });
  const annotation = (precision: number) => ({
    logicalType: { type: 'DECIMAL', precision, scale: 2 },
    convertedType: 'DECIMAL',
    precision,
    scale: 2,
  });
  const timestamp = (isAdjustedToUTC: boolean, unit: string) => ({
    type: 'TIMESTAMP',
    isAdjustedToUTC,
    unit,
  });
  const types: readonly [string, PrimitiveType, object][] = [
    ['boolean', { kind: 'boolean' }, { type: 'BOOLEAN' }],
    ['int', { kind: 'int' }, { type: 'INT32' }],
    ['long', { kind: 'long' }, { type: 'INT64' }],
    ['float', { kind: 'float' }, { type: 'FLOAT' }],
    ['double', { kind: 'double' }, { type: 'DOUBLE' }],
    ['decimal(9)', decimal(9), { type: 'INT32', ...annotation(9) }],
    ['decimal(10)', decimal(10), { type: 'INT64', ...annotation(10) }],
    ['decimal(18)', decimal(18), { type: 'INT64', ...annotation(18) }],
    [
      'decimal(19)',
      decimal(19),
      { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 9, ...annotation(19) },
    ],
    [
      'decimal(38)',
      decimal(38),
      { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 16, ...annotation(38) },
    ],
    [
      'date',
      { kind: 'date' },
      { type: 'INT32', logicalType: { type: 'DATE' }, convertedType: 'DATE' },
    ],
    [
      'time',
      { kind: 'time' },
      {
        type: 'INT64',
        logicalType: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' },
        convertedType: 'TIME_MICROS',
      },
    ],
    [
      'timestamp',
      { kind: 'timestamp' },
      { type: 'INT64', logicalType: timestamp(false, 'MICROS'), convertedType: 'TIMESTAMP_MICROS' },
    ],
    [
      'timestamptz',
      { kind: 'timestamptz' },
      { type: 'INT64', logicalType: timestamp(true, 'MICROS'), convertedType: 'TIMESTAMP_MICROS' },
    ],
    [
      'timestamp_ns',
      { kind: 'timestamp_ns' },
      { type: 'INT64', logicalType: timestamp(false, 'NANOS') },
    ],
    [
      'timestamptz_ns',
      { kind: 'timestamptz_ns' },
      { type: 'INT64', logicalType: timestamp(true, 'NANOS') },
    ],
    [
      'string',
      { kind: 'string' },
      { type: 'BYTE_ARRAY', logicalType: { type: 'STRING' }, convertedType: 'UTF8' },
    ],
    [
      'uuid',
      { kind: 'uuid' },
      { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 16, logicalType: { type: 'UUID' } },
    ],
    ['fixed', { kind: 'fixed', lengthBytes: 7 }, { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 7 }],
    ['binary', { kind: 'binary' }, { type: 'BYTE_ARRAY' }],
    [
      'geometry',
      { kind: 'geometry', crs: 'OGC:CRS84' },
      { type: 'BYTE_ARRAY', logicalType: { type: 'GEOMETRY' } },
    ],
    [
      'geography',
      { kind: 'geography', crs: 'srid:4326', algorithm: 'karney' },
      {
        type: 'BYTE_ARRAY',
        logicalType: { type: 'GEOGRAPHY', crs: 'srid:4326', algorithm: 'KARNEY' },
      },
    ],
  ];
  for (const [name, type, stored] of types) {
    test(`stores ${name} as the spec says`, () => {
      const [, element] = elementsOf([field(5, 'x', type)]);

      assert.deepEqual(element, { name: 'x', repetitionType: 'OPTIONAL', fieldId: 5, ...stored });
    });
  }

  test('nests lists and maps in three levels, with ids on their members', () => {
    const elements = elementsOf([
      field(1, 'l', {
        kind: 'list',
        elementId: 2,
        isElementRequired: true,
        elementType: { kind: 'int' },
      }),
      field(
        3,
        'm',
        {
          kind: 'map',
          keyId: 4,
          keyType: { kind: 'int' },
          valueId: 5,
          isValueRequired: false,
          valueType: { kind: 'struct', fields: [field(6, 'x', 'int')] },
        },
        { isRequired: true },
      ),
    ]);

    assert.deepEqual(
      elements.map(({ name, repetitionType, fieldId, numChildren }) => [
        name,
        repetitionType,
        fieldId,
        numChildren,
      ]),
      [
        ['table', undefined, undefined, 2],
        ['l', 'OPTIONAL', 1, 1],
        ['list', 'REPEATED', undefined, 1],
        ['element', 'REQUIRED', 2, undefined],
        ['m', 'REQUIRED', 3, 1],
        ['key_value', 'REPEATED', undefined, 2],
        ['key', 'REQUIRED', 4, undefined],
        ['value', 'OPTIONAL', 5, 1],
        ['x', 'OPTIONAL', 6, undefined],
      ],
    );
  });

  test('adds the lineage columns at the end', () => {
    const elements = elementsOf([field(1, 'a', 'int')], true);

    assert.deepEqual(elements.slice(2), [
      { name: '_row_id', repetitionType: 'OPTIONAL', fieldId: 2147483540, type: 'INT64' },
      {
        name: '_last_updated_sequence_number',
        repetitionType: 'OPTIONAL',
        fieldId: 2147483539,
        type: 'INT64',
      },
    ]);
  });

  test('refuses edge algorithms that Parquet does not have', () => {
    const type = { kind: 'geography', crs: 'OGC:CRS84', algorithm: 'flat' } as const;

    assert.throws(
      () => elementsOf([field(1, 'g', type)]),
      (error) => isIcebergError(error, 'unsupported'),
    );
  });
});

describe('parquetName', () => {
  test('replaces what Avro names cannot have, as Iceberg Java does', () => {
    const names = ['plain_1', 'a.b', '1st', 'né', 'a b', '😀'];

    assert.deepEqual(names.map(parquetName), [
      'plain_1',
      'a_x2Eb',
      '_1st',
      'né',
      'a_x20b',
      '_xD83D_xDE00',
    ]);
  });
});
