import { basename } from 'node:path/posix';
import { isIcebergError, mapConcurrent } from '../../shared/base/index.ts';
import type { FileOfSpec, ManifestEntry } from '../../shared/iceberg/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { createManifestReader, scanSnapshot, type Table } from '../../shared/table/index.ts';
import type { TableWriter } from '../table-writer/index.ts';

const COPIES_CONCURRENT = 16;

/** Firn commits every few seconds here: whoever meets it that often in a row has another problem. */
const COMMIT_ATTEMPTS_MAX = 8;

/** Every live data file of the table's current snapshot, by path. */
export async function listDataFiles(table: Table, store: ObjectStore): Promise<ManifestEntry[]> {
  const snapshot = snapshotOfRef(table.metadata);
  if (snapshot === undefined) return [];
  const entries: ManifestEntry[] = [];
  await scanSnapshot({
    metadata: table.metadata,
    snapshot,
    reader: createManifestReader(store),
    skipsMetrics: false,
    visit: ({ entry }) => entries.push(entry),
  });
  return entries.sort((one, other) => (one.dataFile.filePath < other.dataFile.filePath ? -1 : 1));
}

/**
 * Appends a copy of each file in one commit, as a stream of small commits would have it. The copies have `label` in
 * their names.
 *
 * @returns the paths of the copies
 */
export async function appendCopies(
  writer: TableWriter,
  originals: readonly ManifestEntry[],
  { store, label }: { readonly store: ObjectStore; readonly label: string },
): Promise<string[]> {
  const files = await mapConcurrent(
    originals,
    { concurrencyMax: COPIES_CONCURRENT },
    async ({ specId, dataFile }) => {
      const name = basename(dataFile.filePath);
      const filePath = dataFile.filePath.replace(name, `${label}-${name}`);
      await store.write(filePath, await store.read(dataFile.filePath, dataFile.fileSizeBytes));
      const { firstRowId: _, ...added } = dataFile;
      return { specId, dataFile: { ...added, filePath } };
    },
  );
  await append(writer, files);
  return files.map(({ dataFile }) => dataFile.filePath);
}

/** Commits again, from the new head, where somebody else committed in between: what every engine does. */
async function append(writer: TableWriter, files: readonly FileOfSpec[]): Promise<void> {
  const summary = {
    'added-data-files': String(files.length),
    'added-records': String(files.reduce((sum, { dataFile }) => sum + dataFile.recordCount, 0)),
    'added-files-size': String(
      files.reduce((sum, { dataFile }) => sum + dataFile.fileSizeBytes, 0),
    ),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      await writer.commit({ operation: 'append', addedManifests: [files], summary });
      return;
    } catch (error) {
      if (attempt === COMMIT_ATTEMPTS_MAX || !isIcebergError(error, 'commit-conflict')) throw error;
    }
  }
}
