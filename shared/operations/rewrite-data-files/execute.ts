import { randomUuid } from '../../base/index.ts';
import type { CommitPorts } from '../../table/index.ts';
import { commitBatch } from './commit-batch.ts';
import type { PlannedGroup } from './group-files.ts';
import type { CommitSummary, GroupResult } from './outcome.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import { runBatch } from './run-batch.ts';
import type { ExecuteOptions, RunState } from './run-state.ts';

export interface Execution {
  readonly groups: readonly GroupResult[];
  readonly commits: readonly CommitSummary[];
}

/**
 * Runs the groups of a plan and commits them: all in one snapshot, or batch by batch with partial progress.
 *
 * @throws as `rewriteFileGroup` and `commitReplace`; with partial progress only what ends the whole run
 * @throws commit-conflict — when more batches failed to commit than partial progress allows
 */
export async function executePlan(options: ExecuteOptions, ports: CommitPorts): Promise<Execution> {
  const { plan } = options;
  const run: RunState = {
    ...options,
    runUuid: randomUuid(ports.random),
    doneCount: 0,
    failedCommitCount: 0,
  };
  const groups: GroupResult[] = [];
  const commits: CommitSummary[] = [];
  for (const batch of commitBatches(plan)) {
    const runs = await runBatch(batch, run, ports);
    const committed = await commitBatch(runs, run, ports);
    groups.push(...committed.groups);
    if (committed.commit !== undefined) commits.push(committed.commit);
  }
  return { groups, commits };
}

/** Groups that are committed together. */
function commitBatches({
  groups,
  options,
}: RewriteDataFilesPlan): readonly (readonly PlannedGroup[])[] {
  if (!options.isPartialProgressEnabled) return [groups];
  const groupsPerCommit = Math.ceil(groups.length / options.partialProgressCommitsMax);
  const batchCount = Math.ceil(groups.length / groupsPerCommit);
  return Array.from({ length: batchCount }, (_, index) =>
    groups.slice(index * groupsPerCommit, (index + 1) * groupsPerCommit),
  );
}
