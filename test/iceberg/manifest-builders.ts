import { type AvroValue, serializeAvroFile } from '../../shared/avro/index.ts';
import type { JsonObject, JsonValue } from '../../shared/base/index.ts';
import {
  createPartitionSpec,
  createSchema,
  type DataFile,
  type ManifestContext,
  type ManifestEntry,
  type ManifestFile,
  parseTransform,
} from '../../shared/iceberg/index.ts';

export const SCHEMA = createSchema(0, [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'category', isRequired: false, type: { kind: 'string' } },
]);

export const SPEC = createPartitionSpec(0, [
  {
    sourceIds: [2],
    fieldId: 1000,
    name: 'category',
    transform: parseTransform('identity', 'spec'),
  },
]);

export const CONTEXT: ManifestContext = { specs: [SPEC], schemas: [SCHEMA] };

export function dataFile(changes: Partial<DataFile> = {}): DataFile {
  return {
    content: 'data',
    filePath: 's3://bucket/table/data/a.parquet',
    fileFormat: 'PARQUET',
    partition: ['a'],
    recordCount: 10,
    fileSizeBytes: 1000,
    unknownFields: [],
    ...changes,
  };
}

export function existing(changes: Partial<DataFile> = {}): Omit<ManifestEntry, 'specId'> & {
  readonly status: 'existing';
} {
  return {
    status: 'existing',
    snapshotId: 7n,
    dataSequenceNumber: 3n,
    fileSequenceNumber: 3n,
    dataFile: dataFile(changes),
    unknownFields: [],
  };
}

export function manifestFile(changes: Partial<ManifestFile> = {}): ManifestFile {
  return {
    manifestPath: 's3://bucket/table/metadata/m0.avro',
    manifestLengthBytes: 100,
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 5n,
    minSequenceNumber: 3n,
    addedSnapshotId: 9n,
    addedFilesCount: 1,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    addedRowsCount: 10,
    existingRowsCount: 0,
    deletedRowsCount: 0,
    unknownFields: [],
    ...changes,
  };
}

/** A field of a struct made by hand: its Avro type and value. */
export interface HandField {
  readonly id: number;
  readonly name: string;
  readonly type: JsonValue;
  readonly value: AvroValue;
}

/** A file of one struct, made by hand. */
export function structFile(
  name: string,
  fields: readonly HandField[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const record = structValue(fields);
  return serializeAvroFile(
    { schema: structType(name, fields), metadata, records: [record], codec: 'null' },
    'hand-made',
  );
}

export function structType(name: string, fields: readonly HandField[]): JsonObject {
  return {
    type: 'record',
    name,
    fields: fields.map((field) => ({ name: field.name, type: field.type, 'field-id': field.id })),
  };
}

export function structValue(fields: readonly HandField[]): AvroValue {
  return Object.fromEntries(fields.map((field) => [field.name, field.value]));
}

/** The fields with some replaced, added or (by `undefined`) left out, by id. */
export function changeFields(
  fields: readonly HandField[],
  changes: Readonly<Record<number, Partial<HandField> | undefined>>,
): readonly HandField[] {
  const kept = fields.flatMap((field) => {
    if (!(field.id in changes)) return [field];
    const change = changes[field.id];
    return change === undefined ? [] : [{ ...field, ...change }];
  });
  const added = Object.entries(changes).flatMap(([id, change]) => {
    if (change === undefined || fields.some((field) => field.id === Number(id))) return [];
    return [{ id: Number(id), name: `f${id}`, type: 'int', value: 0, ...change }];
  });
  return [...kept, ...added];
}
