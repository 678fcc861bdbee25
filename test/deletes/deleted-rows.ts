import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDeleteLoader, type DataFileDeletes } from '../../shared/deletes/index.ts';
import {
  parseTableMetadata,
  partitionKey,
  type Snapshot,
  type TableMetadata,
} from '../../shared/iceberg/index.ts';
import { MemoryObjectStore, type ObjectStore } from '../../shared/storage/index.ts';
import { createManifestReader, scanSnapshot } from '../../shared/table/index.ts';
import { deletesOf } from '../support/slow-deletes.ts';
import { listFilesSlowly, OBJECT_BYTES_MAX } from '../support/slow-files.ts';
import { parseMetadataSlowly } from '../support/slow-metadata.ts';
import { slowParser } from '../support/slow-parser.ts';

/** Deleted positions by the path of the data file, ascending; all data files are there. */
export type DeletedRows = Readonly<Record<string, readonly number[]>>;

export interface TableAt {
  readonly store: ObjectStore;
  readonly metadataLocation: string;
  readonly metadata: TableMetadata;
  readonly snapshot: Snapshot;
}

export async function tableAt(
  store: ObjectStore,
  metadataLocation: string,
  snapshotId?: bigint,
): Promise<TableAt> {
  const bytes = await store.read(metadataLocation, OBJECT_BYTES_MAX);
  const metadata = parseTableMetadata(bytes, metadataLocation);
  const wanted = snapshotId ?? metadata.currentSnapshotId;
  const snapshot = metadata.snapshots.find((one) => one.snapshotId === wanted)!;
  return { store, metadataLocation, metadata, snapshot };
}

/** The data files of a snapshot with their deletes, by partition. */
export async function partitionsOf({
  store,
  metadata,
  snapshot,
}: TableAt): Promise<readonly (readonly DataFileDeletes[])[]> {
  const partitions = new Map<string, DataFileDeletes[]>();
  await scanSnapshot({
    metadata,
    snapshot,
    reader: createManifestReader(store),
    skipsMetrics: false,
    visit: (file) => {
      const key = partitionKey(file.entry.specId, file.entry.dataFile.partition);
      const files = partitions.get(key);
      if (files === undefined) partitions.set(key, [file]);
      else files.push(file);
    },
  });
  return [...partitions.values()];
}

/** What the loader finds. */
export async function deletedRows(table: TableAt): Promise<DeletedRows> {
  const found: Record<string, readonly number[]> = {};
  for (const files of await partitionsOf(table)) {
    const loader = createDeleteLoader({ ...table, files });
    await Promise.all(
      files.map(async ({ entry }) => {
        const { filePath } = entry.dataFile;
        found[filePath] = [...(await loader.readDeletes(filePath)).positions()];
      }),
    );
  }
  return found;
}

/** What the slow reader finds, asking every delete file about every row. */
export async function deletedRowsSlowly({
  store,
  metadataLocation,
  snapshot,
}: TableAt): Promise<DeletedRows> {
  const parser = slowParser(store);
  const metadata = parseMetadataSlowly(await store.read(metadataLocation, OBJECT_BYTES_MAX));
  const files = await listFilesSlowly(store, snapshot.manifestList ?? '', parser);
  const deletes = files.filter(({ content }) => content !== 0);
  const found: Record<string, readonly number[]> = {};
  for (const file of files.filter(({ content }) => content === 0)) {
    const isDeleted = await deletesOf(file, deletes, { store, parser, metadata });
    const parquet = await parser.parquet(file);
    const positions = parquet.rows.map((_, position) => position);
    found[file.filePath] = positions.filter((position) => isDeleted(parquet, position));
  }
  return found;
}

/** A table that Iceberg Java wrote, see `fixtures/iceberg-java`. */
export async function javaTable(
  name: string,
): Promise<{ readonly store: MemoryObjectStore; readonly metadataLocation: string }> {
  const folder = join(import.meta.dirname, '../fixtures/iceberg-java/tables', name);
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as {
    readonly location: string;
    readonly 'metadata-location': string;
    readonly files: Readonly<Record<string, number>>;
  };
  const store = new MemoryObjectStore();
  for (const location of Object.keys(index.files)) {
    const path = location.slice(index.location.length + 1);
    await store.write(location, new Uint8Array(readFileSync(join(folder, path))));
  }
  return { store, metadataLocation: index['metadata-location'] };
}
