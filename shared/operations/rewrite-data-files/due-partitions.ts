import { mapConcurrent } from '../../base/index.ts';
import { ancestorsOfRef } from '../../guards/index.ts';
import type { ManifestEntry, ManifestFile, TableMetadata } from '../../iceberg/index.ts';
import { type ManifestReader, mayHaveLiveFiles } from '../../table/index.ts';
import { createTallyBook, globalDeleteTest, type ManifestTally } from './manifest-tally.ts';
import type { RewriteDataFilesOptions } from './options.ts';
import type { PartitionFactsOf } from './partition-facts.ts';
import type { PlanState } from './plan-state.ts';

/** Manifests fetched at a time; entries are decoded one by one. */
const MANIFESTS_CONCURRENT = 8;

/** What is due of a table, and where it lies. */
export interface DuePartitions {
  /** Hashes of partitions. */
  readonly partitions: ReadonlySet<number>;
  /** Paths of the manifests that have to be read for them. */
  readonly manifestPaths: ReadonlySet<string>;
  /** Of these and of those that were read to find them, how many there are. */
  readonly readManifestCount: number;
  /** Of every manifest of the snapshot that has live files. */
  readonly tallies: readonly ManifestTally[];
}

export interface DueSearch {
  readonly metadata: TableMetadata;
  /** Every manifest of the snapshot to be planned. */
  readonly listed: readonly ManifestFile[];
  readonly reader: ManifestReader;
  readonly state: PlanState;
  /** Ids of the snapshots since the state's. */
  readonly sinceIds: ReadonlySet<bigint>;
  readonly options: RewriteDataFilesOptions;
  readonly partitionFacts: PartitionFactsOf;
}

/** Ids of the snapshots of a branch after the given one; undefined where that is not among the head's ancestors. */
export function snapshotIdsSince(
  metadata: TableMetadata,
  branch: string,
  snapshotId: bigint,
): ReadonlySet<bigint> | undefined {
  const since = new Set<bigint>();
  for (const snapshot of ancestorsOfRef(metadata, branch)) {
    if (snapshot.snapshotId === snapshotId) return since;
    since.add(snapshot.snapshotId);
    // The planned snapshot may have expired while the one after it has not.
    if (snapshot.parentSnapshotId === snapshotId) return since;
  }
  return undefined;
}

/**
 * Finds the partitions that are due: those that the state has left so, and those in which files of any kind came or went
 * since, as manifests tell that the state does not know yet. Entries that were only moved to another manifest are no
 * news. One GET for each of these manifests.
 *
 * A file that went is not seen where a later commit has dropped its entry for good: it leaves less to do, not more.
 *
 * @returns undefined where equality deletes came or went that apply to other partitions, too: everything is due
 * @throws as `ManifestReader`
 */
export async function findDuePartitions(search: DueSearch): Promise<DuePartitions | undefined> {
  const { metadata, listed, state, sinceIds, options, partitionFacts } = search;
  const known = new Map(state.manifests.map((tally) => [tally.manifestPath, tally]));
  const live = listed.filter(mayHaveLiveFiles);
  const unknown = listed.filter(
    (manifest) =>
      !known.has(manifest.manifestPath) &&
      (mayHaveLiveFiles(manifest) || sinceIds.has(manifest.addedSnapshotId)),
  );
  const partitions = new Set(state.duePartitions);
  const book = createTallyBook(options, metadata.partitionSpecs);
  const isGlobal = globalDeleteTest(metadata.partitionSpecs);
  let isEverythingDue = false;
  await mapConcurrent(unknown, { concurrencyMax: MANIFESTS_CONCURRENT }, async (manifest) => {
    for (const entry of await readEntries(search, manifest)) {
      const { hash } = partitionFacts.of(entry);
      if (entry.status !== 'deleted') book.add(entry, manifest, hash);
      if (!isNews(entry, manifest, sinceIds)) continue;
      partitions.add(hash);
      if (isGlobal(entry) && hasOtherSpec(live, entry.specId)) isEverythingDue = true;
    }
  });
  if (isEverythingDue) return undefined;
  const added = new Map(
    book
      .finish(unknown.filter(mayHaveLiveFiles))
      .map((tally) => [tally.manifestPath, tally] as const),
  );
  const tallies = live.flatMap(
    ({ manifestPath }) => known.get(manifestPath) ?? added.get(manifestPath) ?? [],
  );
  const manifestPaths = manifestsFor(partitions, tallies, options);
  const readPaths = new Set([...manifestPaths, ...unknown.map((each) => each.manifestPath)]);
  return { partitions, manifestPaths, readManifestCount: readPaths.size, tallies };
}

function readEntries(
  { metadata, reader }: DueSearch,
  manifest: ManifestFile,
): Promise<Iterable<ManifestEntry>> {
  // Bounds tell which file a position delete file belongs to.
  return reader.readEntries(metadata, manifest, { skipsMetrics: manifest.content === 'data' });
}

/** Whether a file came or went since. What a manifest from elsewhere says of its entries proves nothing. */
function isNews(
  { snapshotId }: ManifestEntry,
  { addedSnapshotId }: ManifestFile,
  sinceIds: ReadonlySet<bigint>,
): boolean {
  return sinceIds.has(snapshotId) || !sinceIds.has(addedSnapshotId);
}

function hasOtherSpec(live: readonly ManifestFile[], specId: number): boolean {
  return live.some(
    ({ content, partitionSpecId }) => content === 'data' && partitionSpecId !== specId,
  );
}

/**
 * The manifests in which the partitions have files that may be selected, and all delete files that apply to them. A file of
 * a size as wanted may be selected where single files are deleted from, or where so many delete files exist that some data
 * file may have too many.
 */
function manifestsFor(
  partitions: ReadonlySet<number>,
  tallies: readonly ManifestTally[],
  { deleteFileThreshold }: RewriteDataFilesOptions,
): ReadonlySet<string> {
  const deletes = tallies.filter(({ content }) => content === 'deletes');
  const deleteFileCount = deletes.reduce((sum, { fileCount }) => sum + fileCount, 0);
  const isAnyFileWanted = deleteFileCount >= deleteFileThreshold;
  const whole = isAnyFileWanted ? partitions : deletedFrom(deletes, partitions);
  const wanted = tallies.filter(
    (tally) =>
      tally.hasGlobalDeletes ||
      hasAny(tally.markedPartitions, partitions) ||
      hasAny(tally.otherPartitions, tally.content === 'deletes' ? partitions : whole),
  );
  return new Set(wanted.map(({ manifestPath }) => manifestPath));
}

/** Those of the partitions in which a delete file names a single data file. */
function deletedFrom(
  deletes: readonly ManifestTally[],
  partitions: ReadonlySet<number>,
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { markedPartitions } of deletes) {
    for (const hash of markedPartitions) if (partitions.has(hash)) found.add(hash);
  }
  return found;
}

function hasAny(hashes: Uint32Array, wanted: ReadonlySet<number>): boolean {
  return wanted.size > 0 && hashes.some((hash) => wanted.has(hash));
}
