import { randomUuid } from '../../base/index.ts';
import type { Snapshot } from '../../iceberg/index.ts';
import { type Execution, executeGroups } from '../../maintenance/index.ts';
import { type CommitPorts, commitReplace, type Table } from '../../table/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { GroupOutputs } from './outcome.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import type { RewrittenGroup } from './run.ts';
import { runBatch } from './run-batch.ts';

/** The operation's name in events, leases and reports. */
export const OPERATION = 'rewrite-data-files';

/** Something happened that a person may want to see. */
export type RewriteProgress =
  | { readonly step: 'planned'; readonly groupCount: number; readonly inputBytes: number }
  | {
      readonly step: 'group-rewritten';
      readonly doneCount: number;
      readonly groupCount: number;
      readonly inputBytes: number;
    }
  | { readonly step: 'committed'; readonly snapshotId: bigint; readonly groupCount: number };

export interface ExecuteOptions {
  readonly table: Table;
  readonly snapshot: Snapshot;
  readonly plan: RewriteDataFilesPlan;
  readonly onProgress: (progress: RewriteProgress) => void;
}

/**
 * Runs the groups of a plan and commits them, see `executeGroups`.
 *
 * @throws as `rewriteFileGroup` and `commitReplace`; with partial progress only what ends the whole run
 */
export function executePlan(
  options: ExecuteOptions,
  ports: CommitPorts,
): Promise<Execution<GroupOutputs>> {
  const { table, plan, onProgress } = options;
  const { branch, startingSequenceNumber } = plan.base;
  const { isPartialProgressEnabled, partialProgressCommitsMax, partialProgressFailedCommitsMax } =
    plan.options;
  const runUuid = randomUuid(ports.random);
  let doneCount = 0;
  const onRewritten = ({ inputBytes }: PlannedGroup): void => {
    const groupCount = plan.groups.length;
    onProgress({ step: 'group-rewritten', doneCount: ++doneCount, groupCount, inputBytes });
  };
  return executeGroups<PlannedGroup, RewrittenGroup, GroupOutputs>(
    {
      operation: OPERATION,
      groups: plan.groups,
      partialProgress: {
        isEnabled: isPartialProgressEnabled,
        commitsMax: partialProgressCommitsMax,
        failedCommitsMax: partialProgressFailedCommitsMax,
      },
      runBatch: (batch) => runBatch(batch, { ...options, runUuid, onRewritten }, ports),
      commit: (rewritten) => {
        const groups = rewritten.map(({ replaceGroup }) => replaceGroup);
        return commitReplace({ table, branch, startingSequenceNumber, groups }, ports);
      },
      outputsOf,
      onCommitted: (snapshotId, groupCount) =>
        onProgress({ step: 'committed', snapshotId, groupCount }),
    },
    ports,
  );
}

function outputsOf(
  { groupIndex, files, inputBytes }: PlannedGroup,
  { replaceGroup, ...rewritten }: RewrittenGroup,
): GroupOutputs {
  return {
    groupIndex,
    inputFileCount: files.length,
    inputBytes,
    outputFileCount: replaceGroup.outputs.length,
    ...rewritten,
  };
}
