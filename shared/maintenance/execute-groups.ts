import { type ErrorKind, IcebergError, isIcebergError } from '../base/index.ts';
import type { CommitOutcome, CommitPorts } from '../table/index.ts';
import type { CommitSummary, Execution, GroupResult, NamedGroup } from './group-result.ts';

/** Commits in batches of groups, so that what is done is kept when the rest fails. */
export interface PartialProgress {
  readonly isEnabled: boolean;
  /** A batch has ⌈groups / this⌉ groups. */
  readonly commitsMax: number;
  /** Attempts to commit a batch that may give up. */
  readonly failedCommitsMax: number;
}

/** A group that was run, or was not, before its batch is committed. */
export type GroupRun<Group extends NamedGroup, Rewritten, Outputs extends NamedGroup> =
  | { readonly group: Group; readonly rewritten: Rewritten }
  | { readonly group: Group; readonly result: GroupResult<Outputs> };

/** The groups of a plan, and how an operation rewrites and commits them. */
export interface GroupsToExecute<Group extends NamedGroup, Rewritten, Outputs extends NamedGroup> {
  /** For messages. */
  readonly operation: string;
  readonly groups: readonly Group[];
  readonly partialProgress: PartialProgress;
  /** Stages the outputs of one batch. */
  readonly runBatch: (
    groups: readonly Group[],
  ) => Promise<readonly GroupRun<Group, Rewritten, Outputs>[]>;
  readonly commit: (rewritten: readonly Rewritten[]) => Promise<CommitOutcome>;
  readonly outputsOf: (group: Group, rewritten: Rewritten) => Outputs;
  readonly onCommitted: (snapshotId: bigint, groupCount: number) => void;
}

type ExecutePorts = Pick<CommitPorts, 'logger' | 'run'>;

/**
 * Runs groups and commits them: all in one snapshot, or batch by batch with partial progress. Once a batch is committed,
 * an error that ends the run is that of the groups it met: what was done before it is not to be lost.
 *
 * @throws as `runBatch` and `commit`; with partial progress only what ends the whole run
 * @throws commit-conflict — when more batches failed to commit than partial progress allows
 */
export async function executeGroups<
  Group extends NamedGroup,
  Rewritten,
  Outputs extends NamedGroup,
>(
  work: GroupsToExecute<Group, Rewritten, Outputs>,
  ports: ExecutePorts,
): Promise<Execution<Outputs>> {
  const groups: GroupResult<Outputs>[] = [];
  const commits: CommitSummary[] = [];
  const batches = batchesOf(work.groups, work.partialProgress);
  let failedCommitCount = 0;
  for (const [index, batch] of batches.entries()) {
    try {
      const runs = await work.runBatch(batch);
      const committed = await commitBatch(runs, work, { ...ports, failedCommitCount });
      failedCommitCount = committed.failedCommitCount;
      groups.push(...committed.groups);
      if (committed.commit !== undefined) commits.push(committed.commit);
    } catch (error) {
      if (commits.length === 0 || !isIcebergError(error)) throw error;
      ports.logger.warn('run.ended-early', error.message, { kind: error.kind });
      for (const { groupIndex } of batch) groups.push({ state: 'failed', groupIndex, error });
      groups.push(
        ...batches
          .slice(index + 1)
          .flat()
          .map(notStarted),
      );
      break;
    }
  }
  return { groups, commits };
}

/** Runs one group unless too little time is left. Its failure is its result with partial progress, and is thrown without. */
export async function attemptGroup<Group extends NamedGroup, Rewritten>(
  group: Group,
  {
    neededMs,
    isRecording,
    rewrite,
  }: {
    /** Of the group and the commit that follows. */
    readonly neededMs: number;
    readonly isRecording: boolean;
    readonly rewrite: () => Promise<Rewritten>;
  },
  { deadline, logger, run }: Pick<CommitPorts, 'deadline' | 'logger' | 'run'>,
): Promise<GroupRun<Group, Rewritten, never>> {
  const { groupIndex } = group;
  if (deadline.remainingMs() < neededMs) return { group, result: notStarted(group) };
  try {
    return { group, rewritten: await rewrite() };
  } catch (error) {
    if (!isRecording || !isIcebergError(error) || run.isStopped) throw error;
    logger.warn('file-group.failed', error.message, { groupIndex, kind: error.kind });
    return { group, result: { state: 'failed', groupIndex, error } };
  }
}

interface CommittedBatch<Outputs extends NamedGroup> {
  readonly groups: readonly GroupResult<Outputs>[];
  readonly commit: CommitSummary | undefined;
  readonly failedCommitCount: number;
}

/** Commits what a batch has rewritten; without partial progress every failure is thrown. */
async function commitBatch<Group extends NamedGroup, Rewritten, Outputs extends NamedGroup>(
  runs: readonly GroupRun<Group, Rewritten, Outputs>[],
  work: GroupsToExecute<Group, Rewritten, Outputs>,
  { run, logger, failedCommitCount }: ExecutePorts & { readonly failedCommitCount: number },
): Promise<CommittedBatch<Outputs>> {
  const { partialProgress, commit, outputsOf } = work;
  const rewritten = runs.flatMap((each) => ('rewritten' in each ? [each.rewritten] : []));
  if (rewritten.length === 0) {
    return { groups: runs.map(withoutCommit), commit: undefined, failedCommitCount };
  }
  try {
    return { ...reportCommit(runs, await commit(rewritten), work), failedCommitCount };
  } catch (error) {
    const isRecorded = partialProgress.isEnabled && isGivenUp(error) && !run.isStopped;
    if (!isRecorded) throw error;
    logger.warn('commit.failed', error.message, { kind: error.kind });
    refuseMoreFailures(failedCommitCount + 1, work, error);
    const groups = runs.map(
      (each): GroupResult<Outputs> =>
        'rewritten' in each
          ? { state: 'commit-failed', error, ...outputsOf(each.group, each.rewritten) }
          : each.result,
    );
    return { groups, commit: undefined, failedCommitCount: failedCommitCount + 1 };
  }
}

/** A batch may fail for these and the next one succeed; anything else ends the run. */
const GIVEN_UP_KINDS: readonly ErrorKind[] = ['commit-conflict', 'unavailable'];

function isGivenUp(error: unknown): error is IcebergError {
  return isIcebergError(error) && GIVEN_UP_KINDS.includes(error.kind);
}

function refuseMoreFailures(
  failedCommitCount: number,
  {
    operation,
    partialProgress: { failedCommitsMax },
  }: { readonly operation: string; readonly partialProgress: PartialProgress },
  cause: IcebergError,
): void {
  if (failedCommitCount <= failedCommitsMax) return;
  const problem = `${failedCommitCount} commits failed, ${failedCommitsMax} may`;
  throw new IcebergError('commit-conflict', `${operation}: ${problem}`, {}, cause);
}

function reportCommit<Group extends NamedGroup, Rewritten, Outputs extends NamedGroup>(
  runs: readonly GroupRun<Group, Rewritten, Outputs>[],
  outcome: CommitOutcome,
  { outputsOf, onCommitted }: GroupsToExecute<Group, Rewritten, Outputs>,
): Omit<CommittedBatch<Outputs>, 'failedCommitCount'> {
  const dropped = new Map(outcome.droppedGroups.map((drop) => [drop.groupIndex, drop]));
  const groups = runs.map((each): GroupResult<Outputs> => {
    if (!('rewritten' in each)) return each.result;
    const outputs = outputsOf(each.group, each.rewritten);
    const drop = dropped.get(each.group.groupIndex);
    if (drop !== undefined) return { ...outputs, ...drop, state: 'dropped' };
    if (outcome.outcome !== 'committed') return withoutCommit(each);
    return { ...outputs, state: 'committed', snapshotId: outcome.snapshotId };
  });
  if (outcome.outcome !== 'committed') return { groups, commit: undefined };
  const { snapshotId, table, attemptCount, committedGroups, deletes, invariants } = outcome;
  onCommitted(snapshotId, committedGroups.length);
  const { metadataLocation } = table;
  const commit = { snapshotId, metadataLocation, attemptCount, groupIndexes: committedGroups };
  return { groups, commit: { ...commit, deletes, invariants } };
}

function withoutCommit<Group extends NamedGroup, Outputs extends NamedGroup>(
  run: GroupRun<Group, unknown, Outputs>,
): GroupResult<Outputs> {
  return 'result' in run ? run.result : notStarted(run.group);
}

function notStarted({ groupIndex }: NamedGroup) {
  return { state: 'not-started', groupIndex } as const;
}

/** Groups that are committed together. */
function batchesOf<Group>(
  groups: readonly Group[],
  { isEnabled, commitsMax }: PartialProgress,
): readonly (readonly Group[])[] {
  if (!isEnabled) return [groups];
  const groupsPerCommit = Math.ceil(groups.length / commitsMax);
  const batchCount = Math.ceil(groups.length / groupsPerCommit);
  return Array.from({ length: batchCount }, (_, index) =>
    groups.slice(index * groupsPerCommit, (index + 1) * groupsPerCommit),
  );
}
