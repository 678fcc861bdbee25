import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Row, writeParquetDataFile } from '../../local/table-writer/index.ts';
import { mapConcurrent } from '../../shared/base/index.ts';
import { DeletionVectorWriter } from '../../shared/deletes/index.ts';
import {
  createSchema,
  type DataFile,
  type FileOfSpec,
  type NestedField,
} from '../../shared/iceberg/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import {
  FOLD_FILE_COUNT,
  FOLD_FILE_ROW_COUNT,
  FOLD_FILE_SCOPED_PER_FILE,
  FOLD_FILES_OF_PARTITION_SCOPED,
  fileScopedPositions,
  KEY_FILE_COUNT,
  keysOf,
  partitionOf,
  partitionScopedPositions,
  vectorPositions,
} from './deletes-shape.ts';

/** Where delete files go: under the table, and into a folder for the peer. */
export interface DeleteFilesPlace {
  readonly store: ObjectStore;
  readonly location: string;
  readonly folder: string;
}

const UPLOADS_CONCURRENT = 16;

const POSITION_FIELDS: readonly NestedField[] = [
  { fieldId: 2_147_483_546, name: 'file_path', isRequired: true, type: { kind: 'string' } },
  { fieldId: 2_147_483_545, name: 'pos', isRequired: true, type: { kind: 'long' } },
];

const KEY_FIELDS: readonly NestedField[] = [
  { fieldId: 1, name: 'id', isRequired: false, type: { kind: 'long' } },
];

/** Entries of data files; there are no objects, since folding does not read any. */
export function foldDataFiles(location: string): readonly FileOfSpec[] {
  return Array.from({ length: FOLD_FILE_COUNT }, (_, fileIndex) => ({
    specId: 0,
    dataFile: {
      content: 'data',
      filePath: `${location}/data/part=${partitionOf(fileIndex)}/${String(fileIndex).padStart(5, '0')}.parquet`,
      fileFormat: 'PARQUET',
      partition: [partitionOf(fileIndex)],
      recordCount: FOLD_FILE_ROW_COUNT,
      fileSizeBytes: 1_000_000,
      unknownFields: [],
    },
  }));
}

interface NewDeleteFile {
  readonly name: string;
  readonly partition: DataFile['partition'];
  readonly fields: readonly NestedField[];
  readonly rows: readonly Row[];
  readonly entry: Partial<DataFile> & Pick<DataFile, 'content'>;
}

/** Writes the position delete files of the data files of `foldDataFiles`. */
export function writePositionDeletes(
  dataFiles: readonly FileOfSpec[],
  place: DeleteFilesPlace,
): Promise<readonly FileOfSpec[]> {
  const planned = dataFiles.flatMap(({ dataFile }, fileIndex) => [
    ...Array.from({ length: FOLD_FILE_SCOPED_PER_FILE }, (_, deleteIndex) => ({
      name: `own-${fileIndex}-${deleteIndex}`,
      partition: dataFile.partition,
      entry: { content: 'position-deletes', referencedDataFile: dataFile.filePath } as const,
      rowsOf: () => positionRows(dataFile, fileScopedPositions(fileIndex, deleteIndex)),
    })),
    {
      name: `shared-${fileIndex}`,
      partition: dataFile.partition,
      entry: { content: 'position-deletes' } as const,
      rowsOf: () => sharedRows(dataFiles, fileIndex),
    },
  ]);
  return mapConcurrent(planned, { concurrencyMax: UPLOADS_CONCURRENT }, ({ rowsOf, ...file }) =>
    writeDeleteFile({ ...file, fields: POSITION_FIELDS, rows: rowsOf() }, place),
  );
}

function sharedRows(dataFiles: readonly FileOfSpec[], deleteIndex: number): readonly Row[] {
  const first = deleteIndex - (deleteIndex % FOLD_FILES_OF_PARTITION_SCOPED);
  const ten = dataFiles.slice(first, first + FOLD_FILES_OF_PARTITION_SCOPED);
  return ten.flatMap(({ dataFile }, index) =>
    positionRows(dataFile, partitionScopedPositions(first + index, deleteIndex)),
  );
}

function positionRows({ filePath }: DataFile, positions: readonly number[]): readonly Row[] {
  return positions.map((position) => ({ 2147483546: filePath, 2147483545: BigInt(position) }));
}

/** Writes the equality delete files of a partition. */
export function writeKeyDeletes(
  partition: DataFile['partition'],
  place: DeleteFilesPlace,
): Promise<readonly FileOfSpec[]> {
  const indexes = Array.from({ length: KEY_FILE_COUNT }, (_, index) => index);
  return mapConcurrent(indexes, { concurrencyMax: UPLOADS_CONCURRENT }, (index) =>
    writeDeleteFile(
      {
        name: `keys-${index}`,
        partition,
        fields: KEY_FIELDS,
        rows: keysOf(index).map((key) => ({ 1: BigInt(key) })),
        entry: { content: 'equality-deletes', equalityIds: [1] },
      },
      place,
    ),
  );
}

async function writeDeleteFile(
  { name, partition, fields, rows, entry }: NewDeleteFile,
  { store, location, folder }: DeleteFilesPlace,
): Promise<FileOfSpec> {
  const written = writeParquetDataFile(createSchema(0, fields), rows);
  const filePath = `${location}/data/${name}.parquet`;
  await store.write(filePath, written.bytes);
  await writeFile(join(folder, `${name}.parquet`), written.bytes);
  return { specId: 0, dataFile: { ...written.fields, filePath, partition, ...entry } };
}

/** Writes a vector for each of the data files into one Puffin file; they are counted from the first one given. */
export async function writeVectors(
  dataFiles: readonly FileOfSpec[],
  firstIndex: number,
  { store, location }: Pick<DeleteFilesPlace, 'store' | 'location'>,
): Promise<readonly FileOfSpec[]> {
  const path = `${location}/data/vectors-${firstIndex}.puffin`;
  const writer = new DeletionVectorWriter(async () => ({
    location: path,
    writer: store.openWriter(path),
  }));
  for (const [index, file] of dataFiles.entries()) {
    const positions = RoaringBitmap.fromPositions(vectorPositions(firstIndex + index), path);
    await writer.add({ ...file, positions });
  }
  return writer.close();
}
