import type { MappedField, NestedField } from '../iceberg/index.ts';
import type { SchemaElement } from '../parquet/index.ts';

/** @see Iceberg spec, "Reserved Field IDs" */
export const FILE_PATH_FIELD_ID = 2_147_483_546;
export const POS_FIELD_ID = 2_147_483_545;

/** @see Iceberg spec, "Position Delete Files" */
export const FILE_PATH_FIELD: NestedField = {
  fieldId: FILE_PATH_FIELD_ID,
  name: 'file_path',
  isRequired: true,
  type: { kind: 'string' },
};
export const POS_FIELD: NestedField = {
  fieldId: POS_FIELD_ID,
  name: 'pos',
  isRequired: true,
  type: { kind: 'long' },
};

/** The columns by name, for files without field ids. */
export const POSITION_DELETE_MAPPING: readonly MappedField[] = [FILE_PATH_FIELD, POS_FIELD].map(
  ({ fieldId, name }) => ({ fieldId, names: [name], fields: [] }),
);

/** The schema of position delete files as Iceberg Java writes it, depth first. */
export const POSITION_DELETE_ELEMENTS: readonly SchemaElement[] = [
  { name: 'table', numChildren: 2 },
  {
    name: FILE_PATH_FIELD.name,
    fieldId: FILE_PATH_FIELD_ID,
    repetitionType: 'REQUIRED',
    type: 'BYTE_ARRAY',
    logicalType: { type: 'STRING' },
    convertedType: 'UTF8',
  },
  { name: POS_FIELD.name, fieldId: POS_FIELD_ID, repetitionType: 'REQUIRED', type: 'INT64' },
];

/** What Iceberg Java says of such a file in its footer. */
export const POSITION_DELETE_KEY_VALUES = [{ key: 'delete-type', value: 'position' }] as const;
