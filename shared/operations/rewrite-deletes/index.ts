/**
 * Rewrites delete files: position deletes into vectors (v3) or fewer files (v2), equality deletes into either, vectors
 * out of Puffin files that are mostly garbage, and removes what nothing needs. Data files and live rows stay as they are.
 * README.md is the contract. Leaves out: partitions that are still written to, and rewriting data files.
 */
import { assert } from '../../base/index.ts';
import { coldPartitionRule, type GuardSettings, isHeldBack, judgeRun } from '../../guards/index.ts';
import { requireWellFormed, tableProperty } from '../../iceberg/index.ts';
import {
  type OperationPorts,
  type OperationRequest,
  type OptionTexts,
  type PlanPorts,
  runOperation,
  unmaintainable,
} from '../../maintenance/index.ts';
import { headOfBranch, type Table } from '../../table/index.ts';
import { executePlan, OPERATION, type RewriteDeletesProgress } from './execute.ts';
import { parseRewriteDeletesOptions } from './options.ts';
import type { RewriteDeletesOutcome, RewriteDeletesResult } from './outcome.ts';
import { createPlanBuilder, type RewriteDeletesPlan } from './plan.ts';
import { reportOutcome } from './report.ts';
import { scanDeletes } from './scan-deletes.ts';
import { readTouchedPartitions } from './touched-partitions.ts';

export { estimateUsage } from './estimate.ts';
export type { RewriteDeletesProgress } from './execute.ts';
export { outcomeToJson } from './json.ts';
export type { RewriteDeletesOptions } from './options.ts';
export type {
  DeleteGroupResult,
  RewriteDeletesOutcome,
  RewriteDeletesReport,
} from './outcome.ts';
export type { GroupReason } from './partition-work.ts';
export type { RewriteDeletesPlan } from './plan.ts';
export type { PlannedGroup } from './planned-group.ts';
export type { DeleteCounts } from './scan-deletes.ts';
export type { SkipReason } from './skip-counts.ts';

export interface RewriteDeletesRequest extends OperationRequest {
  /** `main` where it is not given. */
  readonly branch?: string;
  readonly options: OptionTexts;
  /** What the deployment, or a person, demands before other writers may be disturbed. */
  readonly guards: GuardSettings;
  /** When the table's work was first found to be due, where somebody remembers it. */
  readonly firstDueAtMs?: number;
  readonly onProgress?: (progress: RewriteDeletesProgress) => void;
}

/**
 * Plans, and unless it only observes, rewrites and commits, under the table's lease and on its current state. A run
 * that commits reports what it did, one that does not why, unless that has been reported before.
 *
 * @throws invalid-config — for options, table properties or a branch that make no sense
 * @throws as `runGroup` and `commitRewriteDeletes`
 */
export function rewriteDeletes(
  request: RewriteDeletesRequest,
  ports: OperationPorts,
): Promise<RewriteDeletesOutcome> {
  return runOperation<RewriteDeletesResult>(request, ports, {
    operation: OPERATION,
    planAndRun: (table, planPorts) => planAndRun({ ...request, table }, planPorts),
    reportOutcome: (outcome, reportPorts) =>
      reportOutcome(outcome, { ...request, operation: OPERATION }, reportPorts),
  });
}

/** Of properties that guards, writers of delete files, manifests and metadata, and the commit read: refused before anything is written. */
const PROPERTY_PREFIXES = [
  'commit.',
  'firn.commit.',
  'firn.enabled',
  'firn.min-file-age-ms',
  'firn.rewrite-deletes.',
  'firn.share',
  'firn.verify',
  'firn.wap.',
  'write.data.',
  'write.delete.',
  'write.folder-storage.',
  'write.location-provider.',
  'write.metadata.',
  'write.object-storage.',
  'write.parquet.',
  'write.summary.',
] as const;

async function planAndRun(
  request: RewriteDeletesRequest,
  ports: PlanPorts,
): Promise<RewriteDeletesResult> {
  const { table, branch = 'main', mode } = request;
  const { metadata } = table;
  requireWellFormed(metadata.properties, PROPERTY_PREFIXES);
  const snapshot = headOfBranch(table, branch);
  if (snapshot === undefined) return { outcome: 'no-snapshot' };
  const skip = unmaintainable(table, snapshot);
  if (skip !== undefined) return { outcome: 'skipped', ...skip };
  const rules = { metadata, branch, settings: request.guards, nowMs: ports.clock.nowMs() };
  const builder = newBuilder(table, request);
  const touched = await readTouchedPartitions(coldPartitionRule(rules), { ...ports, metadata });
  const { counts, manifests } = await scanDeletes(builder, {
    ...ports,
    metadata,
    snapshot,
    touched,
  });
  const plan = builder.build(manifests);
  reportPlan(plan, request, ports);
  const { firstDueAtMs } = request;
  const verdicts = judgeRun({
    ...rules,
    operation: OPERATION,
    ...(firstDueAtMs === undefined ? {} : { firstDueAtMs }),
  });
  const planned = { plan, before: counts, verdicts };
  if (plan.groups.length === 0) return { outcome: 'nothing-planned', ...planned };
  if (mode === 'observe') return { outcome: 'observed', ...planned };
  if (verdicts.some(isHeldBack)) return { outcome: 'held-back', ...planned };
  assert(ports.openRun !== undefined, 'a run that commits has a lease');
  const run = await ports.openRun();
  const execution = await executePlan(
    { table, snapshot, plan, onProgress: request.onProgress ?? (() => {}) },
    { ...ports, store: run.store, run },
  );
  const isAllCommitted = execution.groups.every(({ state }) => state === 'committed');
  return { outcome: isAllCommitted ? 'committed' : 'partial', ...planned, ...execution };
}

function newBuilder(table: Table, { branch = 'main', options }: RewriteDeletesRequest) {
  const { metadata, metadataLocation } = table;
  const { properties, formatVersion, tableUuid } = metadata;
  const snapshot = headOfBranch(table, branch);
  assert(snapshot !== undefined, `branch ${branch} has a snapshot`);
  return createPlanBuilder(
    {
      tableUuid,
      metadataLocation,
      branch,
      startingSnapshotId: snapshot.snapshotId,
      startingSequenceNumber: snapshot.sequenceNumber,
      formatVersion,
      splitsPartitionScoped: tableProperty(properties, 'write.delete.granularity') === 'file',
    },
    parseRewriteDeletesOptions(options, properties),
  );
}

function reportPlan(
  { groups }: RewriteDeletesPlan,
  { onProgress }: RewriteDeletesRequest,
  { logger }: PlanPorts,
): void {
  const removedFileCount = groups.reduce((sum, group) => sum + group.removedFileCount, 0);
  const groupCount = groups.length;
  logger.debug('plan.created', `${groupCount} groups`, { groupCount, fileCount: removedFileCount });
  onProgress?.({ step: 'planned', groupCount, removedFileCount });
}
