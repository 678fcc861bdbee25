import {
  isUnpartitioned,
  type ManifestEntry,
  type PartitionSpec,
  partitionKey,
  referencedDataFile,
} from '../iceberg/index.ts';
import type { CommittableGroups } from './commit-request.ts';
import type { HeadDelete, HeadFacts } from './head.ts';
import { outputFiles } from './replace-group.ts';
import { SequenceMinima } from './sequence-minima.ts';

export interface NeededOptions extends CommittableGroups {
  readonly facts: HeadFacts;
  readonly specs: readonly PartitionSpec[];
  /** Of the outputs. */
  readonly startingSequenceNumber: bigint;
}

/** Whether some data file that is live after the commit, and not covered by it, may still need a delete file. */
export type IsNeeded = (entry: ManifestEntry) => boolean;

/**
 * Tells which delete files still have something to delete after a commit: the least data sequence number of what is
 * live then decides, in the delete file's own partition, or in the whole table for equality deletes of an unpartitioned
 * spec. Files that the commit adds count: they carry an older number than the snapshot.
 *
 * @see Iceberg spec, "Scan Planning"; apache/iceberg#10962 for what happens without the added files
 */
export function neededAfter(options: NeededOptions): IsNeeded {
  const { facts, specs } = options;
  const minima = minimaAfter(options);
  const done = dataFilesDone(options);
  const globalSpecIds = new Set(specs.filter(isUnpartitioned).map((spec) => spec.specId));
  return (entry) => {
    const path = referencedDataFile(entry);
    if (path !== undefined) return facts.liveInputs.has(path) && !done.has(path);
    // Manifests that were read before the table had deletes were not searched.
    if (minima === undefined) return true;
    const isEquality = entry.dataFile.content === 'equality-deletes';
    const least =
      isEquality && globalSpecIds.has(entry.specId)
        ? minima.overall
        : minima.ofPartition(partitionKey(entry.specId, entry.dataFile.partition));
    if (least === undefined) return false;
    return isEquality ? least < entry.dataSequenceNumber : least <= entry.dataSequenceNumber;
  };
}

/** Delete files in reach of the groups that nothing needs any more. */
export function deletesToRemove(options: NeededOptions): readonly HeadDelete[] {
  const { deletes } = options.facts;
  if (options.groups.length === 0 || deletes.length === 0) return [];
  const isNeeded = neededAfter(options);
  return deletes.filter(({ entry }) => !isNeeded(entry));
}

/** Paths of data files that leave, or whose deletes are taken over by the delete files that the commit adds. */
function dataFilesDone({ groups, deleteGroups }: CommittableGroups): ReadonlySet<string> {
  return new Set([
    ...groups.flatMap(({ inputs }) => inputs.map(({ filePath }) => filePath)),
    ...deleteGroups.flatMap(({ dataFiles }) => dataFiles.map(({ input }) => input.filePath)),
  ]);
}

function minimaAfter(options: NeededOptions): SequenceMinima | undefined {
  const { facts, groups, startingSequenceNumber } = options;
  if (facts.otherMinima === undefined) return undefined;
  const minima = new SequenceMinima();
  minima.addAll(facts.otherMinima);
  const done = dataFilesDone(options);
  for (const { filePath, specId, partition, dataSequenceNumber } of [
    ...facts.liveInputs.values(),
  ].flat()) {
    if (!done.has(filePath)) minima.add(dataSequenceNumber, partitionKey(specId, partition));
  }
  for (const group of groups) {
    const specId = group.inputs[0]?.specId ?? 0;
    for (const { partition } of outputFiles([group])) {
      minima.add(startingSequenceNumber, partitionKey(specId, partition));
    }
  }
  return minima;
}
