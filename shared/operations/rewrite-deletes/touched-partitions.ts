import { mapConcurrent } from '../../base/index.ts';
import type { ColdPartitionRule } from '../../guards/index.ts';
import {
  isUnpartitioned,
  type ManifestEntry,
  partitionKey,
  type Snapshot,
  specById,
  type TableMetadata,
} from '../../iceberg/index.ts';
import type { ManifestReader } from '../../table/index.ts';

/** Which partitions are too warm. */
export interface TouchedPartitions {
  /** When a partition is cold, if nothing else touches it; undefined where it is cold already. */
  dueAtMs(partitionKey: string): number | undefined;
}

const SNAPSHOTS_CONCURRENT = 8;

/**
 * Snapshots whose manifests are read: one a second for half an hour. A table that is written to more often than that has
 * no cold partition as long as it goes on.
 */
const SNAPSHOTS_MAX = 2_000;

/**
 * Finds out what the snapshots that matter have touched: the partitions of data and delete files that they added or
 * removed, as the manifests say that each of them added. An equality delete of all partitions touches all of them, and so
 * does a snapshot that does not tell.
 *
 * One GET for the list of each snapshot, and for each of its manifests.
 *
 * @throws invalid-data — when a list or manifest is corrupt
 */
export async function readTouchedPartitions(
  rule: ColdPartitionRule,
  { metadata, reader }: { readonly metadata: TableMetadata; readonly reader: ManifestReader },
): Promise<TouchedPartitions> {
  const snapshots = rule.touchingSnapshots;
  const lastMs = new Map<string, number>();
  let lastOfAllMs = Number.NEGATIVE_INFINITY;
  const touchAll = ({ timestampMs }: Snapshot): void => {
    lastOfAllMs = Math.max(lastOfAllMs, timestampMs);
  };
  const touch = (snapshot: Snapshot, entry: ManifestEntry): void => {
    if (isGlobal(entry, metadata)) touchAll(snapshot);
    const key = partitionKey(entry.specId, entry.dataFile.partition);
    lastMs.set(key, Math.max(lastMs.get(key) ?? 0, snapshot.timestampMs));
  };
  if (snapshots.length > SNAPSHOTS_MAX) for (const snapshot of snapshots) touchAll(snapshot);
  else {
    await mapConcurrent(snapshots, { concurrencyMax: SNAPSHOTS_CONCURRENT }, async (snapshot) => {
      if (snapshot.manifestList === undefined) touchAll(snapshot);
      else for await (const entry of changesOf(snapshot, metadata, reader)) touch(snapshot, entry);
    });
  }
  return {
    dueAtMs(key) {
      const timestampMs = Math.max(lastOfAllMs, lastMs.get(key) ?? Number.NEGATIVE_INFINITY);
      return Number.isFinite(timestampMs) ? rule.dueAtMs({ timestampMs }) : undefined;
    },
  };
}

/** Entries that a snapshot added or removed. */
async function* changesOf(
  snapshot: Snapshot,
  metadata: TableMetadata,
  reader: ManifestReader,
): AsyncGenerator<ManifestEntry> {
  const { snapshotId } = snapshot;
  for (const manifest of await reader.readList(metadata, snapshot)) {
    if (manifest.addedSnapshotId !== snapshotId) continue;
    for (const entry of await reader.readEntries(metadata, manifest, { skipsMetrics: true })) {
      if (entry.status !== 'existing' && entry.snapshotId === snapshotId) yield entry;
    }
  }
}

function isGlobal({ specId, dataFile }: ManifestEntry, metadata: TableMetadata): boolean {
  return dataFile.content === 'equality-deletes' && isUnpartitioned(specById(metadata, specId));
}
