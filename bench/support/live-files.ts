import { IcebergError } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import type { Warehouse } from '../../shared/warehouse/index.ts';
import { readDeletionVectorSlowly } from '../../test/support/slow-deletion-vector.ts';
import { listFilesSlowly, type SlowFile } from '../../test/support/slow-files.ts';
import { parseMetadataSlowly } from '../../test/support/slow-metadata.ts';

const METADATA_BYTES_MAX = 1024 ** 3;

/** The live files of a table's head, found without Firn's own scan. */
export async function readLiveFiles(
  { catalog, store }: Pick<Warehouse, 'catalog' | 'store'>,
  table: string,
): Promise<{
  readonly store: ObjectStore;
  readonly data: readonly SlowFile[];
  readonly deletes: readonly SlowFile[];
}> {
  const { metadataLocation } = await catalog.loadTable(parseTableIdentifier(table));
  const metadata = parseMetadataSlowly(await store.read(metadataLocation, METADATA_BYTES_MAX));
  const manifestList = metadata.manifestLists.get(metadata.currentSnapshotId ?? -1n);
  if (manifestList === undefined) {
    throw new IcebergError('invariant', `bench: ${table} has no snapshot`);
  }
  const files = await listFilesSlowly(store, manifestList);
  return {
    store,
    data: files.filter(({ content }) => content === 0),
    deletes: files.filter(({ content }) => content !== 0),
  };
}

/**
 * The positions of all vectors among some delete files, by the path of their data file.
 *
 * @throws invariant — when a data file has two
 */
export async function readVectors(
  deletes: readonly SlowFile[],
  store: ObjectStore,
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const found = new Map<string, ReadonlySet<number>>();
  for (const file of deletes) {
    const { referencedDataFile, contentOffset, contentSizeBytes } = file;
    if (file.fileFormat !== 'PUFFIN' || referencedDataFile === null) continue;
    if (found.has(referencedDataFile)) {
      throw new IcebergError('invariant', `bench: ${referencedDataFile} has two vectors`);
    }
    const blob = await store.readRange(file.filePath, contentOffset ?? 0, contentSizeBytes ?? 0);
    found.set(referencedDataFile, readDeletionVectorSlowly(blob));
  }
  return found;
}
