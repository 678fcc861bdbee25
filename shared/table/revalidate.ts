import {
  type DroppedGroup,
  inputDifference,
  type ReplaceGroup,
  type ReplaceInput,
} from './replace-group.ts';

/** What the head says of the inputs of a commit. */
export interface HeadFacts {
  /** Every live entry of an input's path, in list order. */
  readonly liveInputs: ReadonlyMap<string, readonly ReplaceInput[]>;
  /** By input path, the first delete file that applies to it and would not apply to its output. */
  readonly newDeletes: ReadonlyMap<string, string>;
  /** Paths of outputs that are live already; there must be none. */
  readonly liveOutputs: readonly string[];
  /** By path of a data manifest, which inputs it holds. */
  readonly inputPathsByManifest: ReadonlyMap<string, readonly string[]>;
}

/** How old the head is, and how old the snapshot was that was planned. */
export interface HeadAge {
  readonly sequenceNumber: bigint;
  readonly startingSequenceNumber: bigint;
}

export interface Revalidation {
  readonly kept: readonly ReplaceGroup[];
  readonly dropped: readonly DroppedGroup[];
}

/**
 * Sorts out the groups that can no longer be committed on this head. States are compared, not history: a group
 * stands while each of its inputs is live once, as it was planned, without a delete that its outputs would lose.
 * On a branch that was set back, outputs would be newer than the head, out of reach of deletes that it has.
 */
export function revalidateGroups(
  groups: readonly ReplaceGroup[],
  head: HeadFacts,
  { sequenceNumber, startingSequenceNumber }: HeadAge,
): Revalidation {
  const kept: ReplaceGroup[] = [];
  const dropped: DroppedGroup[] = [];
  for (const group of groups) {
    const drop: Drop | undefined =
      sequenceNumber < startingSequenceNumber
        ? {
            reason: 'rolled-back',
            detail: `head has sequence number ${sequenceNumber}, planned at ${startingSequenceNumber}`,
          }
        : firstDrop(group, head);
    if (drop === undefined) kept.push(group);
    else dropped.push({ groupIndex: group.groupIndex, ...drop });
  }
  return { kept, dropped };
}

type Drop = Omit<DroppedGroup, 'groupIndex'>;

function firstDrop(group: ReplaceGroup, head: HeadFacts): Drop | undefined {
  for (const input of group.inputs) {
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
    const deletePath = head.newDeletes.get(input.filePath);
    if (deletePath !== undefined) {
      return { reason: 'new-deletes', detail: `${input.filePath}: deleted from by ${deletePath}` };
    }
  }
  return undefined;
}
