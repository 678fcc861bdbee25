/**
 * Compaction: rewrites data files that are too small or too large into files near the target size, bin-packed
 * within each spec and partition, and those of which much is deleted; applies their deletes, and commits them as a
 * `replace` that changes no row. README.md is the contract.
 * Leaves out: sort and z-order, other output specs, removing what failed runs left behind.
 */
import { assert } from '../../base/index.ts';
import { fileAgeRule, type GuardSettings, isHeldBack, judgeRun } from '../../guards/index.ts';
import { requireWellFormed, tableProperty } from '../../iceberg/index.ts';
import {
  type Execution,
  type OperationPorts,
  type OperationRequest,
  type OptionTexts,
  type PlanPorts,
  runOperation,
  unmaintainable,
} from '../../maintenance/index.ts';
import { headOfBranch } from '../../table/index.ts';
import { executePlan, OPERATION, type RewriteProgress } from './execute.ts';
import { parseRewriteDataFilesOptions } from './options.ts';
import type {
  GroupOutputs,
  RewriteDataFilesOutcome,
  RewriteDataFilesResult,
  RewriteReport,
} from './outcome.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import { type Continuation, planTable } from './plan-table.ts';
import { rememberPlan } from './remember-plan.ts';
import { reportOutcome } from './report.ts';

export { type DeletesDone, deletesOf } from './deletes-done.ts';
export { estimateUsage } from './estimate.ts';
export type { RewriteProgress } from './execute.ts';
export { type DeleteTally, deleteFileCount, type FileDeletes } from './file-deletes.ts';
export type { GroupReason, PlannedFile, PlannedGroup } from './group-files.ts';
export { parseRewriteDataFilesOptions, type RewriteDataFilesOptions } from './options.ts';
export type {
  GroupDeletes,
  GroupOutputs,
  RewriteDataFilesOutcome,
  RewriteGroupResult,
  RewriteReport,
} from './outcome.ts';
export { outcomeToJson } from './outcome-json.ts';
export type { DeletesTreatment, PlanBase, RewriteDataFilesPlan } from './plan.ts';
export { planToJson } from './plan-json.ts';
export type { FullPlanReason, PlanScope } from './plan-scope.ts';
export type { Continuation } from './plan-table.ts';
export type { TableCounts } from './scan-candidates.ts';
export type { FileSkipReason, SelectionReason } from './select.ts';
export type { GroupSkipReason, SkippedFiles, SkippedGroups } from './skip-counts.ts';

export interface RewriteDataFilesRequest extends OperationRequest {
  /** `main` where it is not given. */
  readonly branch?: string;
  readonly options: OptionTexts;
  /** What the deployment, or a person, demands before other writers may be disturbed. */
  readonly guards: GuardSettings;
  /**
   * Goes on from the plan before where that is possible, and keeps what the next one can go on from; needs a ledger. Only
   * runs that plan whatever is due may say so: what such a plan leaves out is not looked at again.
   */
  readonly continuation?: Continuation;
  /** When the table's work was first found to be due, where somebody remembers it. */
  readonly firstDueAtMs?: number;
  readonly onProgress?: (progress: RewriteProgress) => void;
}

/**
 * Plans, and unless it only observes, rewrites and commits, under the table's lease and on its current state. A run
 * that commits reports what it did, one that does not why, unless that has been reported before.
 *
 * @throws invalid-config — for options, table properties or a branch that make no sense
 * @throws unsupported — for options that Firn does not offer
 * @throws as `commitReplace` and `rewriteFileGroup`
 */
export function rewriteDataFiles(
  request: RewriteDataFilesRequest,
  ports: OperationPorts,
): Promise<RewriteDataFilesOutcome> {
  return runOperation<RewriteDataFilesResult>(request, ports, {
    operation: OPERATION,
    planAndRun: (table, planPorts) => planAndRun({ ...request, table }, planPorts),
    reportOutcome: (outcome, reportPorts) =>
      reportOutcome(outcome, { ...request, operation: OPERATION }, reportPorts),
  });
}

/** Of properties that guards, writers of data files, manifests and metadata, and the commit read: refused before anything is written. */
const PROPERTY_PREFIXES = [
  'commit.',
  'firn.commit.',
  'firn.enabled',
  'firn.min-file-age-ms',
  'firn.parquet.',
  'firn.rewrite-data-files.deletes',
  'firn.rewrite-data-files.full-plan-interval-ms',
  'firn.share',
  'firn.verify',
  'firn.wap.',
  'write.data.',
  'write.folder-storage.',
  'write.location-provider.',
  'write.metadata.',
  'write.object-storage.',
  'write.parquet.',
  'write.summary.',
  'write.target-file-size-bytes',
] as const;

async function planAndRun(
  request: RewriteDataFilesRequest,
  ports: PlanPorts,
): Promise<RewriteDataFilesResult> {
  const { table, branch = 'main', mode } = request;
  const { properties } = table.metadata;
  requireWellFormed(properties, PROPERTY_PREFIXES);
  const options = parseRewriteDataFilesOptions(
    request.options,
    tableProperty(properties, 'write.target-file-size-bytes'),
  );
  const snapshot = headOfBranch(table, branch);
  if (snapshot === undefined) return { outcome: 'no-snapshot' };
  const skip = unmaintainable(table, snapshot);
  if (skip !== undefined) return { outcome: 'skipped', ...skip };
  const { metadata } = table;
  const rules = { metadata, settings: request.guards, nowMs: ports.clock.nowMs() };
  const { ledger } = ports;
  const planned = await planTable(
    {
      metadata,
      snapshot,
      base: {
        tableUuid: metadata.tableUuid,
        metadataLocation: table.metadataLocation,
        branch,
        startingSnapshotId: snapshot.snapshotId,
        startingSequenceNumber: snapshot.sequenceNumber,
        formatVersion: metadata.formatVersion,
        verifiesRows: tableProperty(properties, 'firn.verify') === 'rows',
        deletesTreatment: tableProperty(properties, 'firn.rewrite-data-files.deletes'),
      },
      options,
      fileAge: fileAgeRule(rules),
      nowMs: rules.nowMs,
      ...(request.continuation === undefined ? {} : { continuation: request.continuation }),
    },
    { ...ports, ...(ledger === undefined ? {} : { sidecars: ledger.sidecars }) },
  );
  const { plan, before } = planned;
  reportPlan(plan, request, ports);
  const { firstDueAtMs } = request;
  const verdicts = judgeRun({
    ...rules,
    branch,
    operation: OPERATION,
    ...(firstDueAtMs === undefined ? {} : { firstDueAtMs }),
  });
  const facts = { plan, before, verdicts };
  const isWorth = plan.groups.length > 0;
  if (isWorth && mode === 'commit' && verdicts.some(isHeldBack)) {
    return { outcome: 'held-back', ...facts };
  }
  if (!isWorth || mode === 'observe') {
    const mark = await rememberPlan(planned, [], { ...ports, table });
    return { outcome: isWorth ? 'observed' : 'nothing-planned', ...facts, ...mark };
  }
  assert(ports.openRun !== undefined, 'a run that commits has a lease');
  const run = await ports.openRun();
  const onProgress = request.onProgress ?? (() => {});
  const runPorts = { ...ports, store: run.store, run };
  const execution = await executePlan({ table, snapshot, plan, onProgress }, runPorts);
  const isAllCommitted = execution.groups.every((group) => group.state === 'committed');
  return {
    outcome: isAllCommitted ? 'committed' : 'partial',
    ...report(facts, execution),
    ...(await rememberPlan(planned, execution.groups, { ...ports, table })),
  };
}

function reportPlan(
  plan: RewriteDataFilesPlan,
  { onProgress }: RewriteDataFilesRequest,
  { logger }: PlanPorts,
): void {
  const inputBytes = plan.groups.reduce((sum, group) => sum + group.inputBytes, 0);
  const groupCount = plan.groups.length;
  const fileCount = plan.groups.reduce((sum, group) => sum + group.files.length, 0);
  logger.debug('plan.created', `${groupCount} groups`, {
    groupCount,
    fileCount,
    bytes: inputBytes,
  });
  onProgress?.({ step: 'planned', groupCount, inputBytes });
}

function report(
  planned: Pick<RewriteReport, 'plan' | 'before' | 'verdicts'>,
  { groups, commits }: Execution<GroupOutputs>,
): RewriteReport {
  const after = { ...planned.before };
  for (const group of groups) {
    if (group.state !== 'committed') continue;
    after.fileCount += group.outputFileCount - group.inputFileCount;
    after.bytes += group.outputBytes - group.inputBytes;
    after.rowGroupCount += group.outputRowGroupCount - group.inputRowGroupCount;
  }
  for (const { deletes } of commits) {
    after.deleteRowCount += deletes.addedRowCount - deletes.removedRowCount;
  }
  return { ...planned, groups, commits, after };
}
