import type { ObjectStore } from '../../shared/storage/index.ts';
import { createManifestReader, type Table } from '../../shared/table/index.ts';

/** Every object that the table's metadata refers to, by way of any retained snapshot or the metadata log. */
export async function referencedObjects(
  { metadata, metadataLocation }: Table,
  store: ObjectStore,
): Promise<ReadonlySet<string>> {
  const reader = createManifestReader(store);
  const found = new Set([
    metadataLocation,
    ...metadata.metadataLog.map(({ metadataFile }) => metadataFile),
  ]);
  for (const snapshot of metadata.snapshots) {
    if (snapshot.manifestList !== undefined) found.add(snapshot.manifestList);
    for (const manifest of await reader.readList(metadata, snapshot)) {
      found.add(manifest.manifestPath);
      const entries = await reader.readEntries(metadata, manifest, { skipsMetrics: true });
      for (const { status, dataFile } of entries) {
        if (status !== 'deleted') found.add(dataFile.filePath);
      }
    }
  }
  return found;
}

export async function listObjects(store: ObjectStore, prefix: string): Promise<readonly string[]> {
  const locations: string[] = [];
  for await (const { location } of store.list(prefix)) locations.push(location);
  return locations;
}
