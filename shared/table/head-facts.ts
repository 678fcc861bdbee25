import {
  isDeletionVector,
  isUnpartitioned,
  type ManifestEntry,
  type PartitionSpec,
  partitionKey,
  referencedDataFile,
} from '../iceberg/index.ts';
import { type CommitRequest, plannedDataFiles } from './commit-request.ts';
import { deleteKey } from './delete-identity.ts';
import { outputFiles, type ReplaceInput, toReplaceInput } from './replace-group.ts';
import { SequenceMinima } from './sequence-minima.ts';

/** What one data manifest says of the files of a commit. */
export interface DataManifestFacts {
  /** Live entries whose path is one that the commit asks about. */
  readonly liveInputs: readonly ReplaceInput[];
  /** Paths of live entries that are an output's; there must be none. */
  readonly liveOutputs: readonly string[];
  /** Of all other live entries; absent where nobody needs to know. */
  readonly otherMinima?: SequenceMinima;
}

/** What one delete manifest says of them. */
export interface DeleteManifestFacts {
  /** Live entries that may apply to data files of the commit or their partitions; without metrics. */
  readonly deletes: readonly ManifestEntry[];
  /** Whether one of them may change what is to be committed. */
  readonly isNews: boolean;
  /** Of all live entries. */
  readonly liveDeleteCount: number;
}

/** Looks for the files of a commit in manifests; holds no entry that is not one of them. */
export interface FactFinder {
  inDataManifest(entries: Iterable<ManifestEntry>): DataManifestFacts;
  inDeleteManifest(entries: Iterable<ManifestEntry>): DeleteManifestFacts;
}

/**
 * @param specs every spec of the table
 * @param needsMinima whether the table has delete files that may no longer be needed
 */
export function createFactFinder(
  request: CommitRequest,
  specs: readonly PartitionSpec[],
  needsMinima: boolean,
): FactFinder {
  const watched = watchedFiles(request);
  const globalSpecIds = new Set(specs.filter(isUnpartitioned).map((spec) => spec.specId));
  return {
    inDataManifest(entries) {
      const liveInputs: ReplaceInput[] = [];
      const liveOutputs: string[] = [];
      const minima = needsMinima ? new SequenceMinima() : undefined;
      for (const entry of entries) {
        if (entry.status === 'deleted') continue;
        const path = entry.dataFile.filePath;
        if (watched.outputPaths.has(path)) liveOutputs.push(path);
        if (watched.dataPaths.has(path)) liveInputs.push(toReplaceInput(entry));
        else if (minima !== undefined) addMinimum(minima, entry, watched);
      }
      return { liveInputs, liveOutputs, ...(minima === undefined ? {} : { otherMinima: minima }) };
    },
    inDeleteManifest(entries) {
      const deletes: ManifestEntry[] = [];
      let isNews = false;
      let liveDeleteCount = 0;
      for (const entry of entries) {
        if (entry.status === 'deleted') continue;
        liveDeleteCount++;
        const isGlobal =
          entry.dataFile.content === 'equality-deletes' && globalSpecIds.has(entry.specId);
        if (!isGlobal && !isInReach(entry, watched)) continue;
        deletes.push(withoutMetrics(entry));
        isNews ||= !keepsApplying(entry, request) || watched.removedKeys.has(deleteKey(entry));
      }
      return { deletes, isNews, liveDeleteCount };
    },
  };
}

/** An equality delete that came since applies to outputs as it does to inputs: they have one spec and partition. */
function keepsApplying(
  { dataFile, dataSequenceNumber }: ManifestEntry,
  { startingSequenceNumber }: CommitRequest,
): boolean {
  return dataFile.content === 'equality-deletes' && dataSequenceNumber > startingSequenceNumber;
}

interface WatchedFiles {
  readonly dataPaths: ReadonlySet<string>;
  readonly outputPaths: ReadonlySet<string>;
  readonly partitions: ReadonlySet<string>;
  /** Deletes that are to be removed. */
  readonly removedKeys: ReadonlySet<string>;
}

function watchedFiles(request: CommitRequest): WatchedFiles {
  const dataFiles = plannedDataFiles(request);
  const removed = request.deleteGroups.flatMap(({ removedDeletes }) => removedDeletes);
  return {
    dataPaths: new Set([
      ...dataFiles.map(({ filePath }) => filePath),
      ...removed.map(referencedDataFile).filter((path) => path !== undefined),
    ]),
    outputPaths: new Set(outputFiles(request.groups).map(({ filePath }) => filePath)),
    partitions: new Set([
      ...dataFiles.map(({ specId, partition }) => partitionKey(specId, partition)),
      ...removed.map(({ specId, dataFile }) => partitionKey(specId, dataFile.partition)),
    ]),
    removedKeys: new Set(removed.map(deleteKey)),
  };
}

/** Whether a delete file of limited scope may apply to a file of the commit, or its partition. */
function isInReach(entry: ManifestEntry, { dataPaths, partitions }: WatchedFiles): boolean {
  const path = referencedDataFile(entry);
  if (path !== undefined) return dataPaths.has(path);
  // A vector without a data file is for the delete index to refuse.
  if (isDeletionVector(entry.dataFile)) return true;
  return partitions.has(partitionKey(entry.specId, entry.dataFile.partition));
}

function addMinimum(
  minima: SequenceMinima,
  { specId, dataFile, dataSequenceNumber }: ManifestEntry,
  { partitions }: WatchedFiles,
): void {
  const partition = partitionKey(specId, dataFile.partition);
  minima.add(dataSequenceNumber, partitions.has(partition) ? partition : undefined);
}

/** Metrics are most of an entry; of a delete file they say only which data file it belongs to, which is kept. */
export function withoutMetrics(entry: ManifestEntry): ManifestEntry {
  const path = referencedDataFile(entry);
  const {
    columnSizes: _sizes,
    valueCounts: _values,
    nullValueCounts: _nulls,
    nanValueCounts: _nans,
    lowerBounds: _lower,
    upperBounds: _upper,
    ...dataFile
  } = entry.dataFile;
  return {
    ...entry,
    dataFile: { ...dataFile, ...(path === undefined ? {} : { referencedDataFile: path }) },
  };
}
