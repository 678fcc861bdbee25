import { assert } from '../base/index.ts';
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
import { type ManifestReader, manifestContext } from './manifest-reader.ts';
import type { ObjectBatch } from './object-batch.ts';
import type { ReplaceGroup } from './replace-group.ts';
import type { NewDelete } from './stage-deletes.ts';

/** Entries of one manifest of added files; as many as other writers put into 8 MiB, or fewer. */
const ADDED_ENTRIES_MAX = 10_000;

/** A manifest that no snapshot names yet; once its batch is written, it is in the store. */
export interface StagedManifest {
  readonly manifestPath: string;
  readonly written: WrittenManifest;
}

/** A manifest of the head that has entries to be removed. */
export interface FilterSource {
  readonly source: ManifestFile;
  /** See `contentKey`. */
  readonly removedKeys: readonly string[];
}

/** Names shared by everything that one commit writes. */
export interface CommitNames {
  readonly snapshotId: bigint;
  readonly commitUuid: string;
}

/**
 * Makes the manifests of one commit, each once however many attempts it takes. Every object is named by the commit's
 * uuid, so writing one again can only write the same.
 */
export interface ManifestStaging {
  /** Manifests of the outputs of `groups`, one or more for each spec. */
  stageAdded(
    metadata: TableMetadata,
    groups: readonly ReplaceGroup[],
    startingSequenceNumber: bigint,
  ): readonly StagedManifest[];
  /** Manifests of delete files, one or more for each spec. */
  stageAddedDeletes(
    metadata: TableMetadata,
    deletes: readonly NewDelete[],
  ): readonly StagedManifest[];
  /**
   * One manifest in place of `sources`, which have one spec and content: entries of removed files become DELETED, the
   * other live ones EXISTING.
   */
  stageFiltered(metadata: TableMetadata, sources: readonly FilterSource[]): Promise<StagedManifest>;
}

export interface StagingPorts {
  readonly reader: ManifestReader;
  readonly batch: ObjectBatch;
}

export function createManifestStaging(
  names: CommitNames,
  { reader, batch }: StagingPorts,
): ManifestStaging {
  let manifestCount = 0;
  const added = new Map<string, readonly StagedManifest[]>();
  const filtered = new Map<string, Promise<StagedManifest>>();

  const stage = (metadata: TableMetadata, manifest: ManifestToStage): StagedManifest => {
    const { schemas } = manifestContext(metadata, false);
    const [current, ...others] = schemas;
    assert(current !== undefined, 'a table has a schema');
    const written = writeManifest({
      formatVersion: metadata.formatVersion,
      schemas: [current, ...others],
      spec: specById(metadata, manifest.specId),
      content: manifest.content,
      entries: manifest.entries,
    });
    const manifestPath = newManifestLocation(metadata, names.commitUuid, manifestCount++);
    batch.add(manifestPath, written.bytes);
    return { manifestPath, written };
  };

  return {
    stageAdded(metadata, groups, startingSequenceNumber) {
      const key = [metadata.formatVersion, ...groups.map((group) => group.groupIndex)].join();
      const entries = groups.flatMap((group) => addedEntries(group, startingSequenceNumber, names));
      return remember(added, key, () =>
        addedBatches('data', entries).map((manifest) => stage(metadata, manifest)),
      );
    },
    stageAddedDeletes(metadata, deletes) {
      const keys = deletes.map(({ deleteFile }) => contentKey(deleteFile));
      const key = ['deletes', metadata.formatVersion, ...keys].join('\n');
      const entries = deletes.map((each) => addedDeleteEntry(each, names));
      return remember(added, key, () =>
        addedBatches('deletes', entries).map((manifest) => stage(metadata, manifest)),
      );
    },
    stageFiltered(metadata, sources) {
      const keys = sources.map(({ source, removedKeys }) => [sourceKey(source), ...removedKeys]);
      const key = [metadata.formatVersion, ...keys.flat()].join('\n');
      return remember(filtered, key, async () => {
        const entries: NewManifestEntry[] = [];
        for (const { source, removedKeys } of sources) {
          const before = await reader.readEntries(metadata, source, { skipsMetrics: false });
          const removed = new Set(removedKeys);
          for (const entry of filterEntries(before, removed, names.snapshotId)) entries.push(entry);
        }
        const first = sources[0]?.source;
        assert(first !== undefined, 'a filtered manifest has a source');
        const { partitionSpecId: specId, content } = first;
        return stage(metadata, { specId, content, entries });
      });
    },
  };
}

/** What tells a file from all others of its manifest: vectors share the path of their Puffin file. */
export function contentKey({ filePath, contentOffset }: DataFile): string {
  return contentOffset === undefined ? filePath : `${filePath}#${contentOffset}`;
}

/** Tells a manifest together with what its entries inherit from the list. */
export function sourceKey(manifest: ManifestFile): string {
  return `${manifest.manifestPath} ${manifest.sequenceNumber} ${manifest.firstRowId ?? ''}`;
}

function remember<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

interface ManifestToStage {
  readonly specId: number;
  readonly content: ManifestFile['content'];
  readonly entries: readonly NewManifestEntry[];
}

interface EntryOfSpec {
  readonly specId: number;
  readonly entry: NewManifestEntry;
}

function addedEntries(
  { groupIndex, inputs, ...group }: ReplaceGroup,
  startingSequenceNumber: bigint,
  { snapshotId }: CommitNames,
): readonly EntryOfSpec[] {
  const specId = inputs[0]?.specId;
  assert(specId !== undefined, `group ${groupIndex}: has no inputs`);
  return group.outputs.map(({ dataFile }) => ({
    specId,
    entry: {
      status: 'added',
      snapshotId,
      dataSequenceNumber: startingSequenceNumber,
      dataFile,
    },
  }));
}

function addedDeleteEntry(
  { specId, deleteFile: dataFile, dataSequenceNumber }: NewDelete,
  { snapshotId }: CommitNames,
): EntryOfSpec {
  const number = dataSequenceNumber === undefined ? {} : { dataSequenceNumber };
  return { specId, entry: { status: 'added', snapshotId, dataFile, ...number } };
}

/** The newest spec first, as Iceberg Java lists them: DuckDB takes partition types from the first manifest. */
function addedBatches(
  content: ManifestFile['content'],
  entries: readonly EntryOfSpec[],
): readonly ManifestToStage[] {
  const bySpec = [...Map.groupBy(entries, ({ specId }) => specId)];
  const newestFirst = bySpec.sort(([one], [other]) => other - one);
  return newestFirst.flatMap(([specId, ofSpec]) => {
    const batchCount = Math.ceil(ofSpec.length / ADDED_ENTRIES_MAX);
    return Array.from({ length: batchCount }, (_, index) => ({
      specId,
      content,
      entries: ofSpec
        .slice(index * ADDED_ENTRIES_MAX, (index + 1) * ADDED_ENTRIES_MAX)
        .map(({ entry }) => entry),
    }));
  });
}

/**
 * Entries as they stand in the manifest that replaces theirs: sequence numbers and row ids explicit, entries
 * that were deleted before gone.
 */
function* filterEntries(
  entries: Iterable<ManifestEntry>,
  removedKeys: ReadonlySet<string>,
  snapshotId: bigint,
): Generator<NewManifestEntry> {
  for (const { specId: _, ...entry } of entries) {
    if (entry.status === 'deleted') continue;
    const isRemoved = removedKeys.has(contentKey(entry.dataFile));
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
