import { IcebergError } from '../base/index.ts';
import {
  type ManifestContext,
  type ManifestEntry,
  type ManifestFile,
  readManifest,
  readManifestList,
  type Snapshot,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { ObjectStore } from '../storage/index.ts';

/** Largest manifest list: some hundred thousand manifests. */
const MANIFEST_LIST_BYTES_MAX = 128 * 1024 * 1024;

/** Largest manifest: writers aim at 8 MiB, and a reader holds a few of them. */
const MANIFEST_BYTES_MAX = 256 * 1024 * 1024;

/** Manifests kept from one step of a run to the next; planning, running and committing read the same ones. */
const CACHE_BYTES_MAX = 32 * 1024 * 1024;

/** Reads manifests of one table, keeping the bytes of recent ones: they never change under their name. */
export interface ManifestReader {
  /**
   * The manifests of a snapshot, in list order. One GET, or none for a list read lately.
   *
   * @throws unsupported — for a v1 snapshot without a manifest list
   * @throws invalid-data — when the list is corrupt, or names a manifest of a later snapshot
   */
  readList(metadata: TableMetadata, snapshot: Snapshot): Promise<readonly ManifestFile[]>;
  /**
   * Entries one by one, deleted ones too. One GET, or none for a manifest read lately.
   *
   * @param skipsMetrics leaves out the metrics maps, for steps that do not need them
   */
  readEntries(
    metadata: TableMetadata,
    manifest: ManifestFile,
    options: { readonly skipsMetrics: boolean },
  ): Promise<Iterable<ManifestEntry>>;
}

/** A reader with its own cache of at most 32 MiB. */
export function createManifestReader(store: ObjectStore): ManifestReader {
  const readCached = createByteCache(store);
  return {
    async readList(metadata, snapshot) {
      const location = requireManifestList(snapshot);
      const bytes = await readCached(location, MANIFEST_LIST_BYTES_MAX);
      const manifests = readManifestList(bytes, location, metadata.formatVersion);
      for (const manifest of manifests) requireAddedBefore(snapshot, manifest);
      return manifests;
    },
    async readEntries(metadata, manifest, { skipsMetrics }) {
      refuseEncrypted(manifest);
      const bytes = await readCached(manifest.manifestPath, MANIFEST_BYTES_MAX);
      return readManifest(bytes, manifest, manifestContext(metadata, skipsMetrics));
    },
  };
}

/** What decoding the table's manifests needs of its metadata. */
export function manifestContext(metadata: TableMetadata, skipsMetrics: boolean): ManifestContext {
  const isCurrent = (schemaId: number): boolean => schemaId === metadata.currentSchemaId;
  return {
    specs: metadata.partitionSpecs,
    schemas: metadata.schemas.toSorted(
      (one, other) =>
        Number(isCurrent(other.schemaId)) - Number(isCurrent(one.schemaId)) ||
        other.schemaId - one.schemaId,
    ),
    skipsMetrics,
  };
}

/** @throws unsupported — when the snapshot, of v1, names its manifests instead */
export function requireManifestList(snapshot: Snapshot): string {
  if (snapshot.manifestList !== undefined) return snapshot.manifestList;
  throw new IcebergError(
    'unsupported',
    `snapshot ${snapshot.snapshotId}: has no manifest list, only v1 manifests`,
  );
}

/** A snapshot cannot list what a later one added. */
function requireAddedBefore(snapshot: Snapshot, manifest: ManifestFile): void {
  if (manifest.sequenceNumber <= snapshot.sequenceNumber) return;
  throw new IcebergError(
    'invalid-data',
    `manifest ${manifest.manifestPath}: sequence number ${manifest.sequenceNumber} exceeds ${snapshot.sequenceNumber}, that of snapshot ${snapshot.snapshotId}`,
  );
}

function refuseEncrypted(manifest: ManifestFile): void {
  if (manifest.keyMetadata === undefined) return;
  throw new IcebergError('unsupported', `manifest ${manifest.manifestPath}: is encrypted`);
}

/** Whole objects by location, the least recently read dropped first. */
function createByteCache(
  store: ObjectStore,
): (location: string, fileSizeBytesMax: number) => Promise<Uint8Array> {
  const cached = new Map<string, Uint8Array>();
  let cachedBytes = 0;
  return async (location, fileSizeBytesMax) => {
    const known = cached.get(location);
    if (known !== undefined) {
      cached.delete(location);
      cached.set(location, known);
      return known;
    }
    const bytes = await store.read(location, fileSizeBytesMax);
    if (bytes.length > CACHE_BYTES_MAX || cached.has(location)) return bytes;
    cached.set(location, bytes);
    cachedBytes += bytes.length;
    for (const [oldest, { length }] of cached) {
      if (cachedBytes <= CACHE_BYTES_MAX) break;
      cached.delete(oldest);
      cachedBytes -= length;
    }
    return bytes;
  };
}
