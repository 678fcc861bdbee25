import type { DataFile } from '../iceberg/index.ts';
import { firstDuplicate, firstViolation } from './first-violation.ts';
import { partitionKey } from './partition-key.ts';
import type { CommitProposal } from './proposal.ts';
import { inputDifference, type ReplaceGroup, sumColumnCounts } from './replace-group.ts';

export function inputViolation({ groups, headFacts }: CommitProposal): string | undefined {
  const inputs = groups.flatMap((group) => group.inputs);
  const twice = firstDuplicate(inputs.map((input) => input.filePath));
  if (twice !== undefined) return `${twice}: input of two groups`;
  return firstViolation(inputs, (input) => {
    const live = headFacts.liveInputs.get(input.filePath) ?? [];
    if (live.length !== 1) return `${input.filePath}: live ${live.length} times at head`;
    const difference = inputDifference(input, live[0]!);
    if (difference !== undefined) return `${input.filePath}: ${difference}`;
    const deletePath = headFacts.newDeletes.get(input.filePath);
    return deletePath && `${input.filePath}: ${deletePath} applies to it and not to its output`;
  });
}

export function rowViolation({
  groups,
  addedManifests,
  filteredManifests,
}: CommitProposal): string | undefined {
  const inGroups = firstViolation(groups, (group) => {
    const removed = sumRows(group.inputs);
    const added = sumRows(group.outputs);
    return removed === added
      ? undefined
      : `group ${group.groupIndex}: ${removed} rows removed, ${added} added`;
  });
  if (inGroups !== undefined) return inGroups;
  const removed = filteredManifests.reduce((sum, { counts }) => sum + counts.deletedRowsCount, 0);
  const added = addedManifests.reduce((sum, { counts }) => sum + counts.addedRowsCount, 0);
  return removed === added ? undefined : `manifests remove ${removed} rows and add ${added}`;
}

function sumRows(files: readonly { readonly recordCount: number }[]): number {
  return files.reduce((sum, file) => sum + file.recordCount, 0);
}

export function columnViolation({ groups }: CommitProposal): string | undefined {
  return firstViolation(groups, (group) => {
    const output = sumColumnCounts(group.outputs);
    const input = group.inputColumnCounts;
    return (
      countViolation(group, 'values', input.valueCounts, output.valueCounts) ??
      countViolation(group, 'nulls', input.nullValueCounts, output.nullValueCounts)
    );
  });
}

function countViolation(
  group: ReplaceGroup,
  noun: string,
  removed: ReadonlyMap<number, number>,
  added: ReadonlyMap<number, number>,
): string | undefined {
  return firstViolation(removed, ([fieldId, before]) => {
    const after = added.get(fieldId);
    if (after === undefined || after === before) return undefined;
    return `group ${group.groupIndex}: field ${fieldId} had ${before} ${noun}, has ${after}`;
  });
}

export function outputViolation({ groups, outputs }: CommitProposal): string | undefined {
  const reread = new Map(outputs.map((output) => [output.filePath, output]));
  return firstViolation(
    groups.flatMap((group) => group.outputs),
    (output) => {
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
    },
  );
}

export function pathViolation({
  groups,
  addedManifests,
  headFacts,
}: CommitProposal): string | undefined {
  const added = addedManifests.flatMap(({ entries }) =>
    entries.map((entry) => entry.dataFile.filePath),
  );
  const twice = firstDuplicate(added);
  if (twice !== undefined) return `${twice}: added twice`;
  const live = headFacts.liveOutputs[0];
  if (live !== undefined) return `${live}: added while it is live`;
  const inputs = new Set(groups.flatMap((group) => group.inputs.map((input) => input.filePath)));
  const both = added.find((path) => inputs.has(path));
  if (both !== undefined) return `${both}: added and removed`;
  const meant = groups.flatMap((group) => group.outputs.map((output) => output.filePath));
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
      ...group.outputs.map((output) => addedKey(specIds.get(output.filePath), output)),
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
