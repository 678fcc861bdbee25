import {
  isDeletionVector,
  isUnpartitioned,
  type ManifestEntry,
  type PartitionSpec,
} from '../iceberg/index.ts';
import { referencedDataFile } from './delete-index.ts';
import { partitionKey } from './partition-key.ts';
import { type ReplaceGroup, type ReplaceInput, toReplaceInput } from './replace-group.ts';

/** What one data manifest says of the files of a commit. */
export interface DataManifestFacts {
  /** Live entries whose path is an input's. */
  readonly liveInputs: readonly ReplaceInput[];
  /** Paths of live entries that are an output's; there must be none. */
  readonly liveOutputs: readonly string[];
}

/** What one delete manifest says: by input path, a delete file that applies to the input and not to its output. */
export type DeleteManifestFacts = ReadonlyMap<string, string>;

/** Looks for the files of a commit in manifests; holds no entry that is not one of them. */
export interface FactFinder {
  inDataManifest(entries: Iterable<ManifestEntry>): DataManifestFacts;
  inDeleteManifest(entries: Iterable<ManifestEntry>): DeleteManifestFacts;
}

/**
 * @param startingSequenceNumber the data sequence number of the outputs
 * @param specs every spec of the table
 */
export function createFactFinder(
  groups: readonly ReplaceGroup[],
  startingSequenceNumber: bigint,
  specs: readonly PartitionSpec[],
): FactFinder {
  const inputs = indexInputs(groups);
  const outputPaths = new Set(
    groups.flatMap((group) => group.outputs.map((file) => file.filePath)),
  );
  const globalSpecIds = new Set(specs.filter(isUnpartitioned).map((spec) => spec.specId));
  return {
    inDataManifest(entries) {
      const liveInputs: ReplaceInput[] = [];
      const liveOutputs: string[] = [];
      for (const entry of entries) {
        if (entry.status === 'deleted') continue;
        const path = entry.dataFile.filePath;
        if (inputs.byPath.has(path)) liveInputs.push(toReplaceInput(entry));
        if (outputPaths.has(path)) liveOutputs.push(path);
      }
      return { liveInputs, liveOutputs };
    },
    inDeleteManifest(entries) {
      const lostDeletes = new Map<string, string>();
      for (const entry of entries) {
        if (entry.status === 'deleted') continue;
        // An equality delete above the starting sequence number applies to the output just as it does to the
        // input, since both have the same spec and partition.
        const isEquality = entry.dataFile.content === 'equality-deletes';
        if (isEquality && entry.dataSequenceNumber > startingSequenceNumber) continue;
        const isGlobal = isEquality && globalSpecIds.has(entry.specId);
        for (const input of isGlobal ? inputs.all : inputsInReach(inputs, entry)) {
          const isApplicable = isEquality
            ? input.dataSequenceNumber < entry.dataSequenceNumber
            : input.dataSequenceNumber <= entry.dataSequenceNumber;
          if (isApplicable) lostDeletes.set(input.filePath, entry.dataFile.filePath);
        }
      }
      return lostDeletes;
    },
  };
}

interface InputIndex {
  readonly all: readonly ReplaceInput[];
  readonly byPath: ReadonlyMap<string, ReplaceInput>;
  readonly byPartition: ReadonlyMap<string, readonly ReplaceInput[]>;
}

function indexInputs(groups: readonly ReplaceGroup[]): InputIndex {
  const all = groups.flatMap((group) => group.inputs);
  return {
    all,
    byPath: new Map(all.map((input) => [input.filePath, input])),
    byPartition: Map.groupBy(all, (input) => partitionKey(input.specId, input.partition)),
  };
}

/** Inputs that a delete file of limited scope could apply to, before sequence numbers are compared. */
function inputsInReach(inputs: InputIndex, entry: ManifestEntry): readonly ReplaceInput[] {
  const partition = partitionKey(entry.specId, entry.dataFile.partition);
  const path = referencedDataFile(entry);
  if (path === undefined) return inputs.byPartition.get(partition) ?? [];
  const named = inputs.byPath.get(path);
  if (named === undefined) return [];
  const isSamePartition = partitionKey(named.specId, named.partition) === partition;
  return isSamePartition || isDeletionVector(entry.dataFile) ? [named] : [];
}
