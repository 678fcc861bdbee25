import { parquetMetadata, type SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { assert } from '../../shared/base/index.ts';
import {
  type DataFile,
  encodeSingleValue,
  type IcebergType,
  type NestedField,
  type PrimitiveType,
  type Schema,
  type SingleValue,
} from '../../shared/iceberg/index.ts';

/** A row by field id; a field that is missing is null. */
export type Row = Readonly<Record<number, SingleValue | null>>;

/** Physical and converted types of the Iceberg types that these files can hold. */
const PARQUET_TYPES: Readonly<Record<string, Partial<SchemaElement>>> = {
  boolean: { type: 'BOOLEAN' },
  int: { type: 'INT32' },
  long: { type: 'INT64' },
  float: { type: 'FLOAT' },
  double: { type: 'DOUBLE' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  binary: { type: 'BYTE_ARRAY' },
};

export interface ParquetDataFile {
  readonly bytes: Uint8Array;
  /** Everything a manifest says of the file but its path and partition. */
  readonly fields: Omit<DataFile, 'filePath' | 'partition'>;
}

export interface ParquetLayout {
  /** 1000 where it is not given. */
  readonly rowsPerRowGroup?: number;
  /** Keeps dictionaries out. */
  readonly encoding?: 'PLAIN';
}

/** Writes rows of a flat schema with hyparquet-writer, and the metrics that an Iceberg writer would give. */
export function writeParquetDataFile(
  schema: Schema,
  rows: readonly Row[],
  { rowsPerRowGroup = 1000, encoding }: ParquetLayout = {},
): ParquetDataFile {
  const buffer = parquetWriteBuffer({
    schema: [
      { name: 'table', num_children: schema.fields.length },
      ...schema.fields.map(toElement),
    ],
    columnData: schema.fields.map((field) => ({
      name: field.name,
      data: rows.map((row) => row[field.fieldId] ?? null),
      ...(encoding === undefined ? {} : { encoding }),
    })),
    rowGroupSize: rowsPerRowGroup,
    codec: 'SNAPPY',
  });
  const { row_groups: rowGroups } = parquetMetadata(buffer);
  return {
    bytes: new Uint8Array(buffer),
    fields: {
      content: 'data',
      fileFormat: 'PARQUET',
      recordCount: rows.length,
      fileSizeBytes: buffer.byteLength,
      splitOffsets: rowGroups.map(({ columns: [first] }) =>
        Number(first?.meta_data?.dictionary_page_offset ?? first?.meta_data?.data_page_offset),
      ),
      ...metrics(schema, rows),
      unknownFields: [],
    },
  };
}

function toElement(field: NestedField): SchemaElement {
  const type = PARQUET_TYPES[field.type.kind];
  assert(type !== undefined, `${field.name}: ${field.type.kind} is not written here`);
  return {
    name: field.name,
    repetition_type: field.isRequired ? 'REQUIRED' : 'OPTIONAL',
    field_id: field.fieldId,
    ...type,
  };
}

function metrics(
  schema: Schema,
  rows: readonly Row[],
): Pick<DataFile, 'valueCounts' | 'nullValueCounts' | 'lowerBounds' | 'upperBounds'> {
  const lowerBounds = new Map<number, Uint8Array>();
  const upperBounds = new Map<number, Uint8Array>();
  for (const { fieldId, type } of schema.fields) {
    const values = rows.map((row) => row[fieldId] ?? null).filter((value) => value !== null);
    const [low, high] = [values.toSorted(compare)[0], values.toSorted(compare).at(-1)];
    if (low === undefined || high === undefined || !isOrdered(type)) continue;
    lowerBounds.set(fieldId, encodeSingleValue(type, low));
    upperBounds.set(fieldId, encodeSingleValue(type, high));
  }
  return {
    valueCounts: new Map(schema.fields.map(({ fieldId }) => [fieldId, rows.length])),
    nullValueCounts: new Map(
      schema.fields.map(({ fieldId }) => [
        fieldId,
        rows.filter((row) => (row[fieldId] ?? null) === null).length,
      ]),
    ),
    lowerBounds,
    upperBounds,
  };
}

function isOrdered(type: IcebergType): type is PrimitiveType {
  return ['int', 'long', 'string'].includes(type.kind);
}

function compare(one: SingleValue, other: SingleValue): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
