import { type Row, TableWriter, writeParquetDataFile } from '../../local/table-writer/index.ts';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import {
  createSchema,
  type FileOfSpec,
  type FormatVersion,
  type NestedField,
  type PartitionField,
} from '../../shared/iceberg/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { type TableAt, tableAt } from './deleted-rows.ts';

const LOCATION = 's3://bucket/t';

export interface ExampleTable {
  readonly store: MemoryObjectStore;
  readonly writer: TableWriter;
  /** A delete file of the data file's spec and partition, or of those given; committed. */
  addDeleteFile(file: FileOfSpec): Promise<void>;
  /** The current snapshot. */
  load(): Promise<TableAt>;
}

export async function exampleTable(options: {
  readonly fields: readonly NestedField[];
  readonly formatVersion?: FormatVersion;
  readonly partitionFields?: readonly PartitionField[];
}): Promise<ExampleTable> {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(5);
  const store = new MemoryObjectStore({ clock });
  const ports = { clock, random, store, catalog: new MemoryCatalog({ clock, random }) };
  const identifier = { namespace: ['db'], name: 't' };
  const table = { identifier, location: LOCATION, formatVersion: 2 as const, ...options };
  const writer = await TableWriter.create(table, ports);
  return {
    store,
    writer,
    async addDeleteFile(file) {
      await writer.commit({ operation: 'delete', addedManifests: [[file]] });
    },
    async load() {
      const { metadataLocation } = await writer.load();
      return tableAt(store, metadataLocation);
    },
  };
}

/** Where a delete file belongs. */
export type Place = Pick<FileOfSpec, 'specId'> & {
  readonly dataFile: Pick<FileOfSpec['dataFile'], 'partition'>;
};

let fileCount = 0;

/** Writes an equality delete file with hyparquet-writer, by all of the columns unless told by which. */
export async function equalityDeleteFile(
  { store }: Pick<ExampleTable, 'store'>,
  { specId, dataFile }: Place,
  file: {
    readonly fields: readonly NestedField[];
    readonly rows: readonly Row[];
    readonly equalityIds?: readonly number[];
  },
): Promise<FileOfSpec> {
  const { fields, rows } = file;
  const written = writeParquetDataFile(createSchema(0, fields), rows);
  const filePath = `${LOCATION}/data/equality-${fileCount++}.parquet`;
  await store.write(filePath, written.bytes);
  return {
    specId,
    dataFile: {
      ...written.fields,
      content: 'equality-deletes',
      filePath,
      partition: dataFile.partition,
      equalityIds: file.equalityIds ?? fields.map(({ fieldId }) => fieldId),
    },
  };
}

const FILE_PATH: NestedField = {
  fieldId: 2_147_483_546,
  name: 'file_path',
  isRequired: true,
  type: { kind: 'string' },
};
const POS: NestedField = {
  fieldId: 2_147_483_545,
  name: 'pos',
  isRequired: true,
  type: { kind: 'long' },
};

/** Writes a position delete file with hyparquet-writer, of whatever paths and positions, in the order given. */
export async function positionDeleteFile(
  { store }: Pick<ExampleTable, 'store'>,
  { specId, dataFile }: Place,
  rows: readonly { readonly path: string; readonly position: number }[],
): Promise<FileOfSpec> {
  const written = writeParquetDataFile(
    createSchema(0, [FILE_PATH, POS]),
    rows.map(({ path, position }) => ({
      [FILE_PATH.fieldId]: path,
      [POS.fieldId]: BigInt(position),
    })),
    { rowsPerRowGroup: 500 },
  );
  const filePath = `${LOCATION}/data/position-${fileCount++}.parquet`;
  await store.write(filePath, written.bytes);
  const content = 'position-deletes';
  const { partition } = dataFile;
  return { specId, dataFile: { ...written.fields, content, filePath, partition } };
}

export function optionalField(
  fieldId: number,
  name: string,
  type: NestedField['type'] | 'string' | 'int' | 'long' | 'boolean' | 'double',
  more: Partial<NestedField> = {},
): NestedField {
  const full = typeof type === 'string' ? { kind: type } : type;
  return { fieldId, name, isRequired: false, type: full, ...more };
}
