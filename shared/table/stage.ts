import { assert, mapConcurrent } from '../base/index.ts';
import {
  type DataFile,
  type ManifestEntry,
  type ManifestFile,
  type NewManifestEntry,
  newManifestLocation,
  specById,
  type TableMetadata,
  toManifestFile,
  type WrittenManifest,
  writeManifest,
} from '../iceberg/index.ts';
import type { CommitPorts } from './commit-ports.ts';
import { manifestContext } from './manifest-reader.ts';
import type { ReplaceGroup } from './replace-group.ts';

/** Entries of one manifest of added files; as many as other writers put into 8 MiB, or fewer. */
const ADDED_ENTRIES_MAX = 10_000;

const WRITES_CONCURRENT = 8;

/** A manifest in the store that no snapshot names yet. */
export interface StagedManifest {
  readonly manifestPath: string;
  readonly written: WrittenManifest;
}

/** A manifest of the head that has entries to be removed. */
export interface FilterSource {
  readonly source: ManifestFile;
  readonly removedPaths: readonly string[];
}

/** Names shared by everything that one commit writes. */
export interface CommitNames {
  readonly snapshotId: bigint;
  readonly commitUuid: string;
}

/**
 * Writes the manifests of one commit, each once however many attempts it takes. Every object is named by the
 * commit's uuid, so writing one again can only write the same.
 */
export interface ManifestStaging {
  /** Manifests of the outputs of `groups`, one or more for each spec. */
  stageAdded(
    metadata: TableMetadata,
    groups: readonly ReplaceGroup[],
    startingSequenceNumber: bigint,
  ): Promise<readonly StagedManifest[]>;
  /**
   * One manifest in place of `sources`, which have one spec: entries of removed paths become DELETED, the other live
   * ones EXISTING.
   */
  stageFiltered(metadata: TableMetadata, sources: readonly FilterSource[]): Promise<StagedManifest>;
  /** Where the next manifests will lie. */
  nextLocations(metadata: TableMetadata, manifestCount: number): readonly string[];
}

export type StagingPorts = Pick<CommitPorts, 'store' | 'reader' | 'run'>;

export function createManifestStaging(
  names: CommitNames,
  { store, reader, run }: StagingPorts,
): ManifestStaging {
  let manifestCount = 0;
  const added = new Map<string, Promise<readonly StagedManifest[]>>();
  const filtered = new Map<string, Promise<StagedManifest>>();

  const stage = async (
    metadata: TableMetadata,
    specId: number,
    entries: readonly NewManifestEntry[],
  ): Promise<StagedManifest> => {
    const { schemas } = manifestContext(metadata, false);
    const [current, ...others] = schemas;
    assert(current !== undefined, 'a table has a schema');
    const written = writeManifest({
      formatVersion: metadata.formatVersion,
      schemas: [current, ...others],
      spec: specById(metadata, specId),
      content: 'data',
      entries,
    });
    const manifestPath = newManifestLocation(metadata, names.commitUuid, manifestCount++);
    await run.nameObjects([manifestPath], 'attempt-lost');
    await store.write(manifestPath, written.bytes);
    return { manifestPath, written };
  };

  return {
    stageAdded(metadata, groups, startingSequenceNumber) {
      const key = [metadata.formatVersion, ...groups.map((group) => group.groupIndex)].join();
      return remember(added, key, () =>
        mapConcurrent(
          addedBatches(groups),
          { concurrencyMax: WRITES_CONCURRENT },
          ({ specId, dataFiles }) =>
            stage(
              metadata,
              specId,
              dataFiles.map((dataFile) => ({
                status: 'added',
                snapshotId: names.snapshotId,
                dataSequenceNumber: startingSequenceNumber,
                dataFile,
              })),
            ),
        ),
      );
    },
    stageFiltered(metadata, sources) {
      const keys = sources.map(({ source, removedPaths }) => [sourceKey(source), ...removedPaths]);
      const key = [metadata.formatVersion, ...keys.flat()].join('\n');
      return remember(filtered, key, async () => {
        const entries: NewManifestEntry[] = [];
        for (const { source, removedPaths } of sources) {
          const before = await reader.readEntries(metadata, source, { skipsMetrics: false });
          const removed = new Set(removedPaths);
          for (const entry of filterEntries(before, removed, names.snapshotId)) entries.push(entry);
        }
        const specId = sources[0]?.source.partitionSpecId;
        assert(specId !== undefined, 'a filtered manifest has a source');
        return stage(metadata, specId, entries);
      });
    },
    nextLocations: (metadata, count) =>
      Array.from({ length: count }, (_, index) =>
        newManifestLocation(metadata, names.commitUuid, manifestCount + index),
      ),
  };
}

/** How many manifests the outputs of `groups` take. */
export function addedManifestCount(groups: readonly ReplaceGroup[]): number {
  return addedBatches(groups).length;
}

/** Tells a manifest together with what its entries inherit from the list. */
export function sourceKey(manifest: ManifestFile): string {
  return `${manifest.manifestPath} ${manifest.sequenceNumber} ${manifest.firstRowId ?? ''}`;
}

function remember<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

interface AddedBatch {
  readonly specId: number;
  readonly dataFiles: readonly DataFile[];
}

function addedBatches(groups: readonly ReplaceGroup[]): readonly AddedBatch[] {
  const bySpec = Map.groupBy(groups, (group) => {
    const first = group.inputs[0];
    assert(first !== undefined, `group ${group.groupIndex}: has no inputs`);
    return first.specId;
  });
  // The newest spec first, as Iceberg Java lists them: DuckDB takes partition types from the first manifest.
  const newestFirst = [...bySpec].sort(([one], [other]) => other - one);
  return newestFirst.flatMap(([specId, ofSpec]) => {
    const dataFiles = ofSpec.flatMap((group) => group.outputs);
    const batchCount = Math.ceil(dataFiles.length / ADDED_ENTRIES_MAX);
    return Array.from({ length: batchCount }, (_, index) => ({
      specId,
      dataFiles: dataFiles.slice(index * ADDED_ENTRIES_MAX, (index + 1) * ADDED_ENTRIES_MAX),
    }));
  });
}

/**
 * Entries as they stand in the manifest that replaces theirs: sequence numbers and row ids explicit, entries
 * that were deleted before gone.
 */
function* filterEntries(
  entries: Iterable<ManifestEntry>,
  removedPaths: ReadonlySet<string>,
  snapshotId: bigint,
): Generator<NewManifestEntry> {
  for (const { specId: _, ...entry } of entries) {
    if (entry.status === 'deleted') continue;
    const isRemoved = removedPaths.has(entry.dataFile.filePath);
    yield isRemoved
      ? { ...entry, status: 'deleted', snapshotId }
      : { ...entry, status: 'existing' };
  }
}

/** The entry of a manifest list for a staged manifest, in a snapshot of the given sequence number. */
export function listStaged(
  { manifestPath, written }: StagedManifest,
  { snapshotId, sequenceNumber }: { readonly snapshotId: bigint; readonly sequenceNumber: bigint },
): ManifestFile {
  return toManifestFile(written, { manifestPath, addedSnapshotId: snapshotId, sequenceNumber });
}
