import { type DataFile, partitionKey } from '../iceberg/index.ts';
import { plannedDataFiles } from './commit-request.ts';
import { firstDuplicate, firstViolation } from './first-violation.ts';
import { type CommitProposal, dataManifests, type EntryCounts } from './proposal.ts';
import {
  type ColumnCounts,
  inputDifference,
  outputFiles,
  type ReplaceGroup,
  sumColumnCounts,
} from './replace-group.ts';

export function inputViolation(proposal: CommitProposal): string | undefined {
  const inputs = plannedDataFiles(proposal);
  const twice = firstDuplicate(inputs.map((input) => input.filePath));
  if (twice !== undefined) return `${twice}: input of two groups`;
  return firstViolation(inputs, (input) => {
    const live = proposal.headFacts.liveInputs.get(input.filePath) ?? [];
    if (live.length !== 1) return `${input.filePath}: live ${live.length} times at head`;
    const difference = inputDifference(input, live[0]!);
    return difference && `${input.filePath}: ${difference}`;
  });
}

/** Rows that stand in no output must have been deleted (I15); here they are only counted. */
export function rowViolation(proposal: CommitProposal): string | undefined {
  const { groups } = proposal;
  const inGroups = firstViolation(groups, ({ groupIndex, inputs, positionMap, ...group }) => {
    const removed = sumRows(inputs);
    const purged = positionMap.goneCount;
    const added = sumRows(group.outputs.map(({ dataFile }) => dataFile));
    return removed - purged === added
      ? undefined
      : `group ${groupIndex}: ${removed} rows removed, ${purged} of them purged, ${added} added`;
  });
  if (inGroups !== undefined) return inGroups;
  const removed = sumOf(dataManifests(proposal.filteredManifests), 'deletedRowsCount');
  const purged = groups.reduce((sum, { positionMap }) => sum + positionMap.goneCount, 0);
  const added = sumOf(dataManifests(proposal.addedManifests), 'addedRowsCount');
  return removed - purged === added
    ? undefined
    : `manifests remove ${removed} rows, ${purged} of them purged, and add ${added}`;
}

function sumOf(
  manifests: readonly { readonly counts: EntryCounts }[],
  name: keyof EntryCounts,
): number {
  return manifests.reduce((sum, { counts }) => sum + counts[name], 0);
}

function sumRows(files: readonly { readonly recordCount: number }[]): number {
  return files.reduce((sum, file) => sum + file.recordCount, 0);
}

export function columnViolation({ groups }: CommitProposal): string | undefined {
  return firstViolation(groups, (group) => {
    const { inputColumnCounts: input, purgedColumnCounts: purged } = group;
    const output = sumColumnCounts(outputFiles([group]));
    const counts = (name: keyof ColumnCounts) => ({
      removed: input[name],
      purged: purged?.[name],
      added: output[name],
    });
    return (
      countViolation(group, 'values', counts('valueCounts')) ??
      countViolation(group, 'nulls', counts('nullValueCounts'))
    );
  });
}

type Counts = ReadonlyMap<number, number>;

function countViolation(
  { groupIndex, positionMap }: ReplaceGroup,
  noun: string,
  counts: {
    readonly removed: Counts;
    readonly purged: Counts | undefined;
    readonly added: Counts;
  },
): string | undefined {
  const { removed, purged, added } = counts;
  return firstViolation(removed, ([fieldId, before]) => {
    const gone = positionMap.goneCount === 0 ? 0 : purged?.get(fieldId);
    const after = added.get(fieldId);
    if (gone === undefined || after === undefined || after === before - gone) return undefined;
    return `group ${groupIndex}: field ${fieldId} had ${before} ${noun}, ${gone} purged, has ${after}`;
  });
}

export function outputViolation({ groups, outputs }: CommitProposal): string | undefined {
  const reread = new Map(outputs.map((output) => [output.filePath, output]));
  return firstViolation(outputFiles(groups), (output) => {
    const found = reread.get(output.filePath);
    if (found === undefined) return `${output.filePath}: was not read back`;
    if ('flaw' in found) return `${output.filePath}: ${found.flaw}`;
    if (found.fileSizeBytes !== output.fileSizeBytes) {
      return `${output.filePath}: ${found.fileSizeBytes} bytes in the store, ${output.fileSizeBytes} in its entry`;
    }
    if (found.recordCount !== output.recordCount) {
      return `${output.filePath}: ${found.recordCount} rows in the store, ${output.recordCount} in its entry`;
    }
    return undefined;
  });
}

export function pathViolation(proposal: CommitProposal): string | undefined {
  const { groups, headFacts } = proposal;
  const added = dataManifests(proposal.addedManifests).flatMap(({ entries }) =>
    entries.map((entry) => entry.dataFile.filePath),
  );
  const twice = firstDuplicate(added);
  if (twice !== undefined) return `${twice}: added twice`;
  const live = headFacts.liveOutputs[0];
  if (live !== undefined) return `${live}: added while it is live`;
  const inputs = new Set(groups.flatMap((group) => group.inputs.map((input) => input.filePath)));
  const both = added.find((path) => inputs.has(path));
  if (both !== undefined) return `${both}: added and removed`;
  const meant = outputFiles(groups).map((output) => output.filePath);
  const addedPaths = new Set(added);
  const missing = meant.find((path) => !addedPaths.has(path));
  if (missing !== undefined) return `${missing}: not added`;
  return added.length === meant.length
    ? undefined
    : `${added.length} files are added, ${meant.length} were meant to be`;
}

export function partitionViolation({ groups, addedManifests }: CommitProposal): string | undefined {
  const specIds = new Map(
    addedManifests.flatMap(({ entries }) =>
      entries.map((entry) => [entry.dataFile.filePath, entry] as const),
    ),
  );
  return firstViolation(groups, (group) => {
    const keys = new Set([
      ...group.inputs.map((input) => partitionKey(input.specId, input.partition)),
      ...outputFiles([group]).map((output) => addedKey(specIds.get(output.filePath), output)),
    ]);
    return keys.size === 1 ? undefined : `group ${group.groupIndex}: has ${keys.size} partitions`;
  });
}

function addedKey(
  entry: { readonly specId: number; readonly dataFile: DataFile } | undefined,
  output: DataFile,
): string {
  return entry === undefined
    ? `not added ${output.filePath}`
    : partitionKey(entry.specId, entry.dataFile.partition);
}
