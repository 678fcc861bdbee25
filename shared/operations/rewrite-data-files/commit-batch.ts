import { type ErrorKind, IcebergError, isIcebergError } from '../../base/index.ts';
import { type CommitOutcome, type CommitPorts, commitReplace } from '../../table/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { CommitSummary, GroupOutputs, GroupResult } from './outcome.ts';
import type { RewrittenGroup } from './run.ts';
import type { GroupRun, RunState } from './run-state.ts';

export interface CommittedBatch {
  readonly groups: readonly GroupResult[];
  readonly commit: CommitSummary | undefined;
}

/** Commits what a batch has rewritten; without partial progress every failure is thrown. */
export async function commitBatch(
  runs: readonly GroupRun[],
  run: RunState,
  ports: CommitPorts,
): Promise<CommittedBatch> {
  const rewritten = runs.flatMap((each) => ('rewritten' in each ? [each.rewritten] : []));
  if (rewritten.length === 0) return { groups: runs.map(withoutCommit), commit: undefined };
  try {
    const outcome = await commitReplace(
      {
        table: run.table,
        branch: run.plan.base.branch,
        startingSequenceNumber: run.plan.base.startingSequenceNumber,
        groups: rewritten.map((each) => each.replaceGroup),
      },
      ports,
    );
    return reportCommit(runs, outcome, run);
  } catch (error) {
    const isRecorded =
      run.plan.options.isPartialProgressEnabled && isGivenUp(error) && !ports.run.isStopped;
    if (!isRecorded) throw error;
    run.failedCommitCount++;
    ports.logger.warn('commit.failed', error.message, { kind: error.kind });
    refuseMoreFailures(run, error);
    return {
      groups: runs.map((each) =>
        'rewritten' in each
          ? { state: 'commit-failed', error, ...groupOutputs(each.group, each.rewritten) }
          : each.result,
      ),
      commit: undefined,
    };
  }
}

/** A batch may fail for these and the next one succeed; anything else ends the run. */
const GIVEN_UP_KINDS: readonly ErrorKind[] = ['commit-conflict', 'unavailable'];

function isGivenUp(error: unknown): error is IcebergError {
  return isIcebergError(error) && GIVEN_UP_KINDS.includes(error.kind);
}

function refuseMoreFailures(run: RunState, cause: IcebergError): void {
  const { partialProgressFailedCommitsMax } = run.plan.options;
  if (run.failedCommitCount <= partialProgressFailedCommitsMax) return;
  throw new IcebergError(
    'commit-conflict',
    `rewrite-data-files: ${run.failedCommitCount} commits failed, ${partialProgressFailedCommitsMax} may`,
    {},
    cause,
  );
}

function reportCommit(
  runs: readonly GroupRun[],
  outcome: CommitOutcome,
  run: RunState,
): CommittedBatch {
  const dropped = new Map(outcome.droppedGroups.map((drop) => [drop.groupIndex, drop]));
  const groups = runs.map((each): GroupResult => {
    if (!('rewritten' in each)) return each.result;
    const outputs = groupOutputs(each.group, each.rewritten);
    const drop = dropped.get(each.group.groupIndex);
    if (drop !== undefined) return { ...outputs, ...drop, state: 'dropped' };
    if (outcome.outcome !== 'committed') return withoutCommit(each);
    return { ...outputs, state: 'committed', snapshotId: outcome.snapshotId };
  });
  if (outcome.outcome !== 'committed') return { groups, commit: undefined };
  const { snapshotId, table, attemptCount, committedGroups, invariants } = outcome;
  run.onProgress({ step: 'committed', snapshotId, groupCount: committedGroups.length });
  return {
    groups,
    commit: {
      snapshotId,
      metadataLocation: table.metadataLocation,
      attemptCount,
      groupIndexes: committedGroups,
      invariants,
    },
  };
}

function withoutCommit(run: GroupRun): GroupResult {
  if ('result' in run) return run.result;
  return { state: 'not-started', groupIndex: run.group.groupIndex };
}

function groupOutputs(group: PlannedGroup, rewritten: RewrittenGroup): GroupOutputs {
  return {
    groupIndex: group.groupIndex,
    inputFileCount: group.files.length,
    inputBytes: group.inputBytes,
    inputRowGroupCount: rewritten.inputRowGroupCount,
    outputFileCount: rewritten.replaceGroup.outputs.length,
    outputBytes: rewritten.outputBytes,
    outputRowGroupCount: rewritten.outputRowGroupCount,
    columnChunks: rewritten.columnChunks,
  };
}
