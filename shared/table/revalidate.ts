import type { HeadFacts } from './head.ts';
import { type DroppedGroup, inputDifference, type ReplaceInput } from './replace-group.ts';

/** How old the head is, and how old the snapshot was that was planned. */
export interface HeadAge {
  readonly sequenceNumber: bigint;
  readonly startingSequenceNumber: bigint;
}

export interface Revalidation<Group> {
  readonly kept: readonly Group[];
  readonly dropped: readonly DroppedGroup[];
}

/** Why one group cannot be committed. */
export type Drop = Omit<DroppedGroup, 'groupIndex'>;

/**
 * Sorts out the groups that can no longer be committed on this head, as far as data files tell. States are compared, not
 * history: a group stands while each of its data files is live once, as it was planned. On a branch that was set back,
 * outputs would be newer than the head, out of reach of deletes that it has.
 */
export function revalidateGroups<Group extends { readonly groupIndex: number }>(
  groups: readonly Group[],
  dataFilesOf: (group: Group) => readonly ReplaceInput[],
  { head, age }: { readonly head: HeadFacts; readonly age: HeadAge },
): Revalidation<Group> {
  const { sequenceNumber, startingSequenceNumber } = age;
  return sortOut(groups, (group): Drop | undefined =>
    sequenceNumber < startingSequenceNumber
      ? {
          reason: 'rolled-back',
          detail: `head has sequence number ${sequenceNumber}, planned at ${startingSequenceNumber}`,
        }
      : firstDrop(dataFilesOf(group), head),
  );
}

/** Groups without a reason to drop them, and those with one. */
export function sortOut<Group extends { readonly groupIndex: number }>(
  groups: readonly Group[],
  dropOf: (group: Group) => Drop | undefined,
): Revalidation<Group> {
  const kept: Group[] = [];
  const dropped: DroppedGroup[] = [];
  for (const group of groups) {
    const drop = dropOf(group);
    if (drop === undefined) kept.push(group);
    else dropped.push({ groupIndex: group.groupIndex, ...drop });
  }
  return { kept, dropped };
}

function firstDrop(dataFiles: readonly ReplaceInput[], head: HeadFacts): Drop | undefined {
  for (const input of dataFiles) {
    const live = head.liveInputs.get(input.filePath) ?? [];
    const first = live[0];
    if (first === undefined) return { reason: 'input-gone', detail: input.filePath };
    if (live.length > 1) {
      return {
        reason: 'input-changed',
        detail: `${input.filePath}: referenced ${live.length} times`,
      };
    }
    const difference = inputDifference(input, first);
    if (difference !== undefined) {
      return { reason: 'input-changed', detail: `${input.filePath}: ${difference}` };
    }
  }
  return undefined;
}
