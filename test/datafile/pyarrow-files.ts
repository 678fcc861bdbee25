import { readFileSync } from 'node:fs';
import type { IcebergType, NestedField } from '../../shared/iceberg/index.ts';
import { field } from './rewrite-fixture.ts';

const PYARROW = new URL('../fixtures/parquet-pyarrow/', import.meta.url);

const list = (elementId: number, elementType: IcebergType): IcebergType => ({
  kind: 'list',
  elementId,
  isElementRequired: false,
  elementType,
});
const struct = (...fields: NestedField[]): IcebergType => ({ kind: 'struct', fields });
const STRING = { kind: 'string' } as const;

export const FLAT_FIELDS: NestedField[] = [
  field(1, 'b', { kind: 'boolean' }),
  field(2, 'i', 'int'),
  field(3, 'l', 'long'),
  field(4, 'step', 'long'),
  field(5, 'f', 'float'),
  field(6, 'd', 'double'),
  field(7, 's', 'string'),
  field(8, 'bin', { kind: 'binary' }),
  field(9, 'fx', { kind: 'fixed', lengthBytes: 5 }),
  field(10, 'dec', { kind: 'decimal', precision: 38, scale: 10 }),
  field(11, 'few', 'string'),
];

export const NESTED_FIELDS: NestedField[] = [
  field(1, 'ints', list(2, { kind: 'long' })),
  field(3, 'deep', list(4, list(5, STRING))),
  field(6, 'map', {
    kind: 'map',
    keyId: 7,
    keyType: STRING,
    valueId: 8,
    valueType: { kind: 'double' },
    isValueRequired: false,
  }),
  field(
    9,
    'point',
    struct(field(10, 'x', 'int'), field(11, 'y', struct(field(12, 'z', 'string')))),
  ),
  field(13, 'items', list(14, struct(field(15, 'a', 'int'), field(16, 'b', list(17, STRING))))),
];

/** The name mapping of fields, which files of Parquet C++ need. */
export function mappingOf(fields: readonly NestedField[]): object[] {
  const childrenOf = (type: IcebergType): object[] => {
    switch (type.kind) {
      case 'struct':
        return mappingOf(type.fields);
      case 'list':
        return [
          { 'field-id': type.elementId, names: ['element'], fields: childrenOf(type.elementType) },
        ];
      case 'map':
        return [
          { 'field-id': type.keyId, names: ['key'], fields: childrenOf(type.keyType) },
          { 'field-id': type.valueId, names: ['value'], fields: childrenOf(type.valueType) },
        ];
      default:
        return [];
    }
  };
  return fields.map(({ fieldId, name, type }) => ({
    'field-id': fieldId,
    names: [name],
    fields: childrenOf(type),
  }));
}

export function pyarrowFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.parquet`, PYARROW)));
}
