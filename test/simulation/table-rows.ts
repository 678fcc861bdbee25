import { type Row, writeParquetDataFile } from '../../local/table-writer/index.ts';
import {
  createSchema,
  currentSchema,
  type DataFile,
  type FileOfSpec,
  type NestedField,
  newDataLocation,
  type Partition,
  type PartitionField,
  type Schema,
  type SingleValue,
  specById,
  type TableMetadata,
} from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import type { Chance } from './chance.ts';

export const FIELDS: readonly NestedField[] = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: false, type: { kind: 'string' } },
  { fieldId: 3, name: 'n', isRequired: false, type: { kind: 'int' } },
];

export const BY_REGION: readonly PartitionField[] = [
  { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
];

const REGIONS = ['eu', 'us'];
const ROWS_MAX_DEFAULT = 5;

/** Files with more rows have several row groups. */
const ROWS_PER_ROW_GROUP = 8;

/** Different contents of files; the same ones come again and again, so that they are made once. */
const CONTENT_COUNT = 48;

interface FileContent {
  readonly bytes: Uint8Array;
  readonly fields: Omit<DataFile, 'filePath' | 'partition'>;
}

/** Contents of all simulations of this process, by schema and rows. */
const contents = new Map<string, FileContent>();

/** Writes a small data file in the current schema, in a partition if the table has some. */
export async function writeRows(
  metadata: TableMetadata,
  chance: Chance,
  {
    store,
    fileName,
    rowsMax = ROWS_MAX_DEFAULT,
  }: {
    readonly store: ObjectStore;
    readonly fileName: string;
    readonly rowsMax?: number | undefined;
  },
): Promise<FileOfSpec> {
  const number = chance.below(CONTENT_COUNT);
  const region = REGIONS[number % REGIONS.length]!;
  const schema = currentSchema(metadata);
  const content = contentOf(`${number} ${rowsMax} ${fieldsText(schema)}`, schema, () =>
    Array.from({ length: 1 + (number % rowsMax) }, (_, index) =>
      newRow(schema, { id: number * rowsMax + index, region }),
    ),
  );
  const spec = specById(metadata, metadata.defaultSpecId);
  const partition = spec.fields.length === 0 ? [] : [region];
  const filePath = newDataLocation(metadata, spec, partition, `${fileName}.parquet`);
  await store.write(filePath, content.bytes);
  return { specId: spec.specId, dataFile: { ...content.fields, filePath, partition } };
}

/** Writes a delete file: rows of reserved or table columns, and what its entry says beyond a data file's. */
export async function writeDeletes(
  metadata: TableMetadata,
  deletes: {
    readonly fields: readonly NestedField[];
    readonly rows: readonly Row[];
    readonly specId: number;
    readonly partition: Partition;
    readonly entry: Partial<DataFile> & Pick<DataFile, 'content'>;
  },
  { store, fileName }: { readonly store: ObjectStore; readonly fileName: string },
): Promise<FileOfSpec> {
  const { fields, rows, specId, partition, entry } = deletes;
  const { bytes, fields: described } = writeParquetDataFile(createSchema(0, fields), rows);
  const spec = specById(metadata, specId);
  const filePath = newDataLocation(metadata, spec, partition, `${fileName}-deletes.parquet`);
  await store.write(filePath, bytes);
  return { specId, dataFile: { ...described, ...entry, filePath, partition } };
}

/** The lowest id of a file's rows. */
export function lowestId({ lowerBounds }: DataFile): bigint {
  const bytes = lowerBounds?.get(1);
  if (bytes?.length !== 8) return 0n;
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true);
}

function contentOf(key: string, schema: Schema, makeRows: () => readonly Row[]): FileContent {
  const layout = { rowsPerRowGroup: ROWS_PER_ROW_GROUP };
  const content = contents.get(key) ?? writeParquetDataFile(schema, makeRows(), layout);
  contents.set(key, content);
  return content;
}

function fieldsText({ fields }: Schema): string {
  return fields.map(({ fieldId, name, type }) => `${fieldId} ${name} ${type.kind}`).join();
}

export function newRow(
  { fields }: Schema,
  { id, region }: { readonly id: number; readonly region: string },
): Row {
  return Object.fromEntries(
    fields.map(({ fieldId, type }) => [fieldId, newValue(fieldId, type.kind, { id, region })]),
  );
}

function newValue(
  fieldId: number,
  kind: string,
  { id, region }: { readonly id: number; readonly region: string },
): SingleValue | null {
  if (fieldId === 1) return BigInt(id);
  if (fieldId === 2) return region;
  if (id % 4 === 0) return null;
  if (kind === 'string') return `text ${id % 7}`;
  return kind === 'long' ? BigInt(id * 3) : id * 3;
}
