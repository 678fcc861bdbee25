import type { IcebergError, JsonObject } from '../base/index.ts';
import type { CommittedDeletes, DropReason } from '../table/index.ts';

/** A part of a plan that is committed as a whole or dropped as a whole. */
export interface NamedGroup {
  /** Position in the plan; names the group in reports. */
  readonly groupIndex: number;
}

/** What became of one planned group. `Outputs` is what was written of it. */
export type GroupResult<Outputs extends NamedGroup> =
  | ({ readonly state: 'committed'; readonly snapshotId: bigint } & Outputs)
  /** Rewritten, but its inputs were no longer as planned. */
  | ({ readonly state: 'dropped'; readonly reason: DropReason; readonly detail: string } & Outputs)
  /** Rewritten, but the commit of its batch gave up (partial progress only). */
  | ({ readonly state: 'commit-failed'; readonly error: IcebergError } & Outputs)
  /** Not rewritten; without partial progress only for deletes that Firn cannot apply. Or in the batch that ended the run. */
  | { readonly state: 'failed'; readonly groupIndex: number; readonly error: IcebergError }
  /** Not begun, since too little time was left, or the run had ended. */
  | { readonly state: 'not-started'; readonly groupIndex: number };

export interface CommitSummary {
  readonly snapshotId: bigint;
  readonly metadataLocation: string;
  readonly attemptCount: number;
  readonly groupIndexes: readonly number[];
  readonly deletes: CommittedDeletes;
  /** Numbers of the claims that were checked before it. */
  readonly invariants: readonly number[];
}

/** How the groups of one run ended, and what was committed of them. */
export interface Execution<Outputs extends NamedGroup> {
  readonly groups: readonly GroupResult<Outputs>[];
  readonly commits: readonly CommitSummary[];
}

/** For reports and metrics: how many groups ended how. */
export function groupCounts(groups: readonly GroupResult<NamedGroup>[]) {
  const countOf = (...states: readonly GroupResult<NamedGroup>['state'][]): number =>
    groups.filter(({ state }) => states.includes(state)).length;
  return {
    committedGroupCount: countOf('committed'),
    droppedGroupCount: countOf('dropped'),
    failedGroupCount: countOf('failed', 'commit-failed'),
    notStartedGroupCount: countOf('not-started'),
  };
}

/** What a report says of a run's commits. */
export function commitFacts(commits: readonly CommitSummary[]) {
  return {
    snapshotIds: commits.map(({ snapshotId }) => String(snapshotId)),
    attemptCount: commits.reduce((sum, { attemptCount }) => sum + attemptCount, 0),
    invariants: [...new Set(commits.flatMap(({ invariants }) => invariants))],
  };
}

export function commitToJson({
  snapshotId,
  groupIndexes,
  deletes,
  invariants,
  ...commit
}: CommitSummary): JsonObject {
  return {
    ...commit,
    snapshotId: String(snapshotId),
    groupIndexes: [...groupIndexes],
    deletes: { ...deletes },
    invariants: [...invariants],
  };
}
