import { assert, mapConcurrent } from '../../base/index.ts';
import { createDeleteLoader, type DeleteLoader } from '../../deletes/index.ts';
import type { AttachedDeletes, ManifestEntry } from '../../iceberg/index.ts';
import { RoaringBitmap } from '../../roaring/index.ts';
import {
  attachedIdentities,
  attachedPositionDeletes,
  type CommitPorts,
  type CoveredDataFile,
  deleteKey,
  type RewriteDeletesGroup,
  type ScannedDataFile,
  type Table,
  toReplaceInput,
} from '../../table/index.ts';
import { DeleteOutputs, type DeletesToWrite } from './delete-outputs.ts';
import type { PlannedCopy, PlannedGroup, PlannedPartition } from './planned-group.ts';
import type { PlanBase } from './scanned.ts';

/** A group whose delete files are in the store, ready to be committed. */
export interface RewrittenGroup {
  readonly group: RewriteDeletesGroup;
  readonly addedFileCount: number;
  readonly addedBytes: number;
}

/** The live entries of the planned snapshot that a group is about. */
export interface PlannedEntries {
  /** By path, with the delete files that apply. */
  readonly dataFiles: ReadonlyMap<string, ScannedDataFile>;
  /** By `deleteKey`. */
  readonly deletes: ReadonlyMap<string, ManifestEntry>;
}

export interface RunGroupOptions {
  readonly table: Table;
  readonly base: PlanBase;
  readonly group: PlannedGroup;
  readonly entries: PlannedEntries;
  /** A new Puffin file is closed once it has so many bytes. */
  readonly puffinSizeBytesMax: number;
  /** Part of the new files' names; one for a run. */
  readonly runUuid: string;
}

/** Data files whose deletes are read before those of the next ones; their bitmaps are held anyway, for the commit. */
const FILES_AT_ONCE = 64;

/** Of a data file under evaluation some pages of each key column are held. */
const FILES_CONCURRENT = 8;

/**
 * Writes the delete files of one group, partition by partition, each data file's deletes read by a loader of its
 * partition alone. Objects are written and nothing else changes; what was written before a failure is left where it is.
 *
 * @throws invalid-data, unsupported — as `DeleteLoader`
 */
export async function runGroup(
  options: RunGroupOptions,
  { store, run }: Pick<CommitPorts, 'store' | 'run'>,
): Promise<RewrittenGroup> {
  const { group, entries } = options;
  const outputs = new DeleteOutputs(options, { store, run });
  const removed = new Map(
    group.removed.map((planned) => [planned.deleteKey, deleteOf(planned.deleteKey, entries)]),
  );
  const covered: CoveredDataFile[] = [];
  try {
    for (const partition of group.partitions) {
      const reading = await readPartition(partition, options, store, outputs);
      covered.push(...reading.kept);
      for (const entry of reading.replaced) removed.set(deleteKey(entry), entry);
    }
    for (const entry of await copyVectors(group.copies, options, outputs)) {
      removed.set(deleteKey(entry), entry);
    }
    covered.push(...(await outputs.finish()));
  } catch (error) {
    await outputs.abort();
    throw error;
  }
  const { addedFileCount, addedBytes } = outputs;
  const removedDeletes = [...removed.values()];
  const { groupIndex } = group;
  return { group: { groupIndex, dataFiles: covered, removedDeletes }, addedFileCount, addedBytes };
}

interface PartitionReading {
  /** Data files that are given no new delete file. */
  readonly kept: readonly CoveredDataFile[];
  /** Delete files of single data files, in whose place new ones come. */
  readonly replaced: readonly ManifestEntry[];
}

async function readPartition(
  partition: PlannedPartition,
  options: RunGroupOptions,
  store: CommitPorts['store'],
  outputs: DeleteOutputs,
): Promise<PartitionReading> {
  const { base, entries, table } = options;
  const files = partition.files.map(({ filePath }) => {
    const { entry, deletes } = dataFileOf(filePath, entries);
    return { entry, deletes: readDeletes(deletes, partition, base) };
  });
  const loader = createDeleteLoader({ store, metadata: table.metadata, files });
  const kept: CoveredDataFile[] = partition.keptPaths.flatMap((path) => {
    const file = entries.dataFiles.get(path);
    return file === undefined ? [] : [{ input: toReplaceInput(file.entry) }];
  });
  const replaced: ManifestEntry[] = [];
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const readings = await mapConcurrent(
      files.slice(start, start + FILES_AT_ONCE),
      { concurrencyMax: FILES_CONCURRENT },
      (file) => readDataFile(file, loader, base),
    );
    const written: DeletesToWrite[] = [];
    for (const reading of readings) {
      const { entry, applied, byPosition, byEquality } = reading;
      const positions = byPosition.union(byEquality);
      const deletes = { applied: attachedIdentities(applied), byPosition, byEquality };
      const input = toReplaceInput(entry, deletes);
      replaced.push(...applied.deletionVectors, ...applied.fileScopedPositionDeleteFiles);
      if (positions.isEmpty) kept.push({ input });
      else written.push({ entry, input, positions, dataSequenceNumber: newest(applied) });
    }
    await outputs.write(written);
  }
  return { kept, replaced };
}

/** Which of the deletes that apply to a data file are taken over by its new delete file. */
function readDeletes(
  deletes: AttachedDeletes,
  { isConverted }: PlannedPartition,
  { formatVersion, splitsPartitionScoped }: PlanBase,
): AttachedDeletes {
  const takesPartitionScoped = formatVersion >= 3 || splitsPartitionScoped;
  return {
    ...deletes,
    ...(takesPartitionScoped ? {} : { partitionScopedPositionDeleteFiles: [] }),
    ...(isConverted ? {} : { equalityDeleteFiles: [] }),
  };
}

interface Reading {
  readonly entry: ManifestEntry;
  readonly applied: AttachedDeletes;
  readonly byPosition: RoaringBitmap;
  readonly byEquality: RoaringBitmap;
}

async function readDataFile(
  { entry, deletes }: { readonly entry: ManifestEntry; readonly deletes: AttachedDeletes },
  loader: DeleteLoader,
  base: PlanBase,
): Promise<Reading> {
  const { filePath } = entry.dataFile;
  const byEquality = await loader.readEqualityDeletes(filePath);
  if (byEquality.isEmpty && isSingle(deletes, base)) {
    const { equalityDeleteFiles } = deletes;
    return {
      entry,
      applied: { ...NO_DELETES, equalityDeleteFiles },
      byPosition: RoaringBitmap.EMPTY,
      byEquality,
    };
  }
  const byPosition = await loader.readPositionDeletes(filePath);
  return { entry, applied: deletes, byPosition, byEquality };
}

const NO_DELETES: AttachedDeletes = {
  deletionVectors: [],
  fileScopedPositionDeleteFiles: [],
  partitionScopedPositionDeleteFiles: [],
  equalityDeleteFiles: [],
};

/** Whether its position deletes are one file at most, as they would be afterwards. */
function isSingle(deletes: AttachedDeletes, { formatVersion }: PlanBase): boolean {
  const { deletionVectors, fileScopedPositionDeleteFiles } = deletes;
  if (deletes.partitionScopedPositionDeleteFiles.length > 0) return false;
  const fileScopedCount = fileScopedPositionDeleteFiles.length;
  return formatVersion >= 3
    ? fileScopedCount === 0 && deletionVectors.length <= 1
    : fileScopedCount <= 1;
}

/** A delete that is raised to the newest of those it was made of goes on applying to its data file. */
function newest(applied: AttachedDeletes): bigint {
  const entries = [...attachedPositionDeletes(applied), ...applied.equalityDeleteFiles];
  return entries.reduce(
    (most, { dataSequenceNumber }) => (dataSequenceNumber > most ? dataSequenceNumber : most),
    0n,
  );
}

/** Moves vectors as they are; each keeps its data sequence number. Returns the old ones. */
async function copyVectors(
  copies: readonly PlannedCopy[],
  { entries }: RunGroupOptions,
  outputs: DeleteOutputs,
): Promise<readonly ManifestEntry[]> {
  const moved = copies.map(({ deleteKey: key, referencedDataFile }) => ({
    vector: deleteOf(key, entries),
    entry: dataFileOf(referencedDataFile, entries).entry,
  }));
  for (let start = 0; start < moved.length; start += FILES_AT_ONCE) {
    await outputs.copy(moved.slice(start, start + FILES_AT_ONCE));
  }
  return moved.map(({ vector }) => vector);
}

function dataFileOf(filePath: string, { dataFiles }: PlannedEntries): ScannedDataFile {
  const file = dataFiles.get(filePath);
  assert(file !== undefined, `${filePath}: entry was not read`);
  return file;
}

function deleteOf(key: string, { deletes }: PlannedEntries): ManifestEntry {
  const entry = deletes.get(key);
  assert(entry !== undefined, `delete ${key}: entry was not read`);
  return entry;
}
