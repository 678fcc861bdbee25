import { IcebergError, mapConcurrent } from '../base/index.ts';
import {
  type AttachedDeletes,
  createDeleteIndex,
  type DeleteIndex,
  isUnpartitioned,
  type ManifestEntry,
  type ManifestFile,
  partitionKey,
  referencedDataFile,
  type Snapshot,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { ManifestReader } from './manifest-reader.ts';

/** Manifests fetched at a time; each holds at most its bytes, and entries are decoded one by one. */
const MANIFESTS_CONCURRENT = 8;

/** A live data file with the delete files that apply to it. */
export interface ScannedDataFile {
  readonly entry: ManifestEntry;
  readonly manifest: ManifestFile;
  readonly deletes: AttachedDeletes;
}

export interface ScanOptions {
  readonly metadata: TableMetadata;
  readonly snapshot: Snapshot;
  readonly reader: ManifestReader;
  readonly skipsMetrics: boolean;
  /** Called once for each live data file, in no order. */
  readonly visit: (file: ScannedDataFile) => void;
  /** Called once for each live delete file, before the data files. */
  readonly visitDeletes?: (entry: ManifestEntry, manifest: ManifestFile) => void;
  /** Leaves manifests out; every one is read where it is not given. */
  readonly isWanted?: (manifest: ManifestFile) => boolean;
}

/**
 * Reads every live file of one snapshot, or those of the wanted manifests. Memory: the delete entries, and a few manifests at a time.
 * One GET for the manifest list and one for each manifest that has live files.
 *
 * @throws invalid-data — when a manifest is corrupt or contradicts the list
 */
export async function scanSnapshot(options: ScanOptions): Promise<void> {
  const { metadata, snapshot, reader, skipsMetrics, visit, isWanted = () => true } = options;
  const listed = await reader.readList(metadata, snapshot);
  const manifests = listed.filter((manifest) => mayHaveLiveFiles(manifest) && isWanted(manifest));
  const deletes = await indexDeletes(manifests, options);
  await mapConcurrent(
    manifests.filter((manifest) => manifest.content === 'data'),
    { concurrencyMax: MANIFESTS_CONCURRENT },
    async (manifest) => {
      for (const entry of await reader.readEntries(metadata, manifest, { skipsMetrics })) {
        if (entry.status === 'deleted') continue;
        visit({ entry, manifest, deletes: deletes.attachedTo(entry) });
      }
    },
  );
}

function indexDeletes(
  manifests: readonly ManifestFile[],
  { metadata, reader, visitDeletes }: ScanOptions,
): Promise<DeleteIndex> {
  const addVisited = (index: DeleteIndex, entry: ManifestEntry, manifest: ManifestFile): void => {
    index.add(entry);
    visitDeletes?.(entry, manifest);
  };
  return indexLiveDeletes(manifests, { metadata, reader }, addVisited);
}

/**
 * The live delete files of one snapshot that may apply to some data files. Memory: their entries. One GET for the
 * manifest list and one for each delete manifest, or none where they were read lately.
 *
 * @param dataFiles entries of live data files of the snapshot
 * @throws invalid-data — when a manifest is corrupt or contradicts the list
 */
export async function readDeleteIndex(
  dataFiles: Iterable<ManifestEntry>,
  { metadata, snapshot, reader }: Pick<ScanOptions, 'metadata' | 'snapshot' | 'reader'>,
): Promise<DeleteIndex> {
  const manifests = (await reader.readList(metadata, snapshot)).filter(mayHaveLiveFiles);
  const paths = new Set<string>();
  const partitions = new Set<string>();
  for (const { specId, dataFile } of dataFiles) {
    paths.add(dataFile.filePath);
    partitions.add(partitionKey(specId, dataFile.partition));
  }
  const globalSpecs = metadata.partitionSpecs.filter(isUnpartitioned);
  const globalSpecIds = new Set(globalSpecs.map(({ specId }) => specId));
  return indexLiveDeletes(manifests, { metadata, reader }, (index, entry) => {
    const { specId, dataFile } = entry;
    const path = referencedDataFile(entry);
    const isGlobal = dataFile.content === 'equality-deletes' && globalSpecIds.has(specId);
    const isInReach =
      isGlobal ||
      (path === undefined
        ? partitions.has(partitionKey(specId, dataFile.partition))
        : paths.has(path));
    if (isInReach) index.add(entry);
  });
}

async function indexLiveDeletes(
  manifests: readonly ManifestFile[],
  { metadata, reader }: Pick<ScanOptions, 'metadata' | 'reader'>,
  addTo: (index: DeleteIndex, entry: ManifestEntry, manifest: ManifestFile) => void,
): Promise<DeleteIndex> {
  const index = createDeleteIndex(metadata.partitionSpecs);
  await mapConcurrent(
    manifests.filter((manifest) => manifest.content === 'deletes'),
    { concurrencyMax: MANIFESTS_CONCURRENT },
    async (manifest) => {
      // Bounds tell which file a position delete file belongs to.
      for (const entry of await reader.readEntries(metadata, manifest, { skipsMetrics: false })) {
        if (entry.status !== 'deleted') addTo(index, entry, manifest);
      }
    },
  );
  return index;
}

/** False where the list says that nothing in the manifest is live; counts that v1 left out may be anything. */
export function mayHaveLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0;
}

/**
 * Reads the entries of chosen data files again, with their metrics.
 *
 * @param pathsByManifest which paths to pick from which manifest
 * @throws invalid-data — when a path is not live in its manifest
 */
export async function readDataFiles(
  pathsByManifest: ReadonlyMap<string, ReadonlySet<string>>,
  { metadata, snapshot, reader }: Omit<ScanOptions, 'visit' | 'skipsMetrics'>,
): Promise<ReadonlyMap<string, ManifestEntry>> {
  const manifests = await reader.readList(metadata, snapshot);
  const found = new Map<string, ManifestEntry>();
  await mapConcurrent(
    manifests.filter((manifest) => pathsByManifest.has(manifest.manifestPath)),
    { concurrencyMax: MANIFESTS_CONCURRENT },
    async (manifest) => {
      const paths = pathsByManifest.get(manifest.manifestPath);
      const entries = await reader.readEntries(metadata, manifest, { skipsMetrics: false });
      for (const entry of entries) {
        const path = entry.dataFile.filePath;
        if (entry.status !== 'deleted' && paths?.has(path)) found.set(path, entry);
      }
    },
  );
  for (const [manifestPath, paths] of pathsByManifest) {
    for (const path of paths) {
      if (found.has(path)) continue;
      throw new IcebergError('invalid-data', `manifest ${manifestPath}: ${path} is not live in it`);
    }
  }
  return found;
}
