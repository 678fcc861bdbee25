import { basename } from 'node:path/posix';
import { mapConcurrent } from '../../shared/base/index.ts';
import type { ManifestEntry } from '../../shared/iceberg/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { createManifestReader, scanSnapshot, type Table } from '../../shared/table/index.ts';
import type { TableWriter } from '../table-writer/index.ts';

const COPIES_CONCURRENT = 16;

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
 * Appends copies of the files that the table has, in as many commits as there are copies of each: a table of a few
 * dozen files becomes one of several hundred, as a stream of small commits would have made it.
 */
export async function replicateFiles(
  writer: TableWriter,
  { store, copyCount }: { readonly store: ObjectStore; readonly copyCount: number },
): Promise<void> {
  const originals = await listDataFiles(await writer.load(), store);
  for (let copy = 1; copy <= copyCount; copy++) {
    const files = await mapConcurrent(
      originals,
      { concurrencyMax: COPIES_CONCURRENT },
      async ({ specId, dataFile }) => {
        const name = basename(dataFile.filePath);
        const filePath = dataFile.filePath.replace(name, `copy-${copy}-${name}`);
        await store.write(filePath, await store.read(dataFile.filePath, dataFile.fileSizeBytes));
        const { firstRowId: _, ...added } = dataFile;
        return { specId, dataFile: { ...added, filePath } };
      },
    );
    await writer.commit({ operation: 'append', addedManifests: [files] });
  }
}
