/**
 * Compaction: rewrites data files that are too small or too large into files near the target size, bin-packed
 * within each spec and partition, and commits them as a `replace` that changes no row. README.md is the contract.
 * Leaves out: applying delete files, sort and z-order, other output specs, removing what failed runs left behind.
 */
import { assert } from '../../base/index.ts';
import { fileAgeRule, type GuardSettings, isHeldBack, judgeRun } from '../../guards/index.ts';
import { type Snapshot, tableProperty } from '../../iceberg/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import {
  type CommitPorts,
  createManifestReader,
  headOfBranch,
  refreshTable,
  requireStateOutside,
  type Table,
  type TableRun,
  workUnderLease,
} from '../../table/index.ts';
import { type Execution, executePlan } from './execute.ts';
import { createMeter, type Meter } from './meter.ts';
import type { OptionTexts } from './option-values.ts';
import { parseRewriteDataFilesOptions } from './options.ts';
import type { GroupResult, RewriteDataFilesOutcome, RewriteReport, SkipReason } from './outcome.ts';
import { createPlanBuilder, type RewriteDataFilesPlan } from './plan.ts';
import {
  OPERATION,
  reportFailure,
  reportOutcome,
  reportSettledRuns,
  type Uncounted,
} from './report.ts';
import type { RewriteProgress } from './run-state.ts';
import { scanCandidates } from './scan-candidates.ts';

export { estimateUsage } from './estimate.ts';
export type { GroupReason, PlannedFile, PlannedGroup } from './group-files.ts';
export type { OptionTexts } from './option-values.ts';
export { parseRewriteDataFilesOptions, type RewriteDataFilesOptions } from './options.ts';
export type {
  CommitSummary,
  GroupOutputs,
  GroupResult,
  RewriteDataFilesOutcome,
  RewriteReport,
  SkipReason,
} from './outcome.ts';
export { outcomeToJson } from './outcome-json.ts';
export type { PlanBase, RewriteDataFilesPlan } from './plan.ts';
export { planToJson } from './plan-json.ts';
export type { RewriteProgress } from './run-state.ts';
export type { TableCounts } from './scan-candidates.ts';
export type { FileSkipReason, SelectionReason } from './select.ts';
export type { GroupSkipReason, SkippedFiles, SkippedGroups } from './skip-counts.ts';

export interface RewriteDataFilesRequest {
  readonly table: Table;
  /** `main` where it is not given. */
  readonly branch?: string;
  readonly options: OptionTexts;
  /** `observe` plans and changes nothing. */
  readonly mode: 'observe' | 'commit';
  /** Unique to this run; goes into the snapshot's summary as `firn.run-id`. */
  readonly runId: string;
  /** What the deployment, or a person, demands before other writers may be disturbed. */
  readonly guards: GuardSettings;
  /** When the table's work was first found to be due, where somebody remembers it. */
  readonly firstDueAtMs?: number;
  /** Who or what asked for the run, for its report. */
  readonly trigger?: string;
  readonly onProgress?: (progress: RewriteProgress) => void;
}

export interface RewriteDataFilesPorts extends Omit<CommitPorts, 'reader' | 'run'> {
  /** Without one, nothing is remembered: not even that the table was looked at. A run that commits needs one. */
  readonly ledger?: Ledger;
}

/**
 * Plans, and unless it only observes, rewrites and commits, under the table's lease and on its current state. A run
 * that commits reports what it did, one that does not why, unless that has been reported before.
 *
 * @throws invalid-config — for options, table properties or a branch that make no sense
 * @throws unsupported — for options that Firn does not offer
 * @throws as `commitReplace` and `rewriteFileGroup`
 */
export async function rewriteDataFiles(
  request: RewriteDataFilesRequest,
  ports: RewriteDataFilesPorts,
): Promise<RewriteDataFilesOutcome> {
  const meter = createMeter(ports);
  const metered = { ...ports, ...meter.ports };
  const outcome =
    request.mode === 'commit'
      ? await runUnderLease(request, metered, meter)
      : await observe(request, metered, meter);
  return { ...outcome, requests: meter.s3Requests() };
}

/** Takes no lease and writes nothing; tells the ledger what it saw, if that is news. */
async function observe(
  request: RewriteDataFilesRequest,
  ports: RewriteDataFilesPorts,
  meter: Meter,
): Promise<Uncounted<RewriteDataFilesOutcome>> {
  const reader = createManifestReader(ports.store);
  const outcome = await planAndRun(request, { ...ports, reader });
  if (ports.ledger !== undefined) {
    await reportOutcome(outcome, request, { ledger: ports.ledger, meter });
  }
  return outcome;
}

async function runUnderLease(
  request: RewriteDataFilesRequest,
  ports: RewriteDataFilesPorts,
  meter: Meter,
): Promise<Uncounted<RewriteDataFilesOutcome>> {
  const { ledger } = ports;
  assert(ledger !== undefined, 'a run that commits has a ledger');
  const { table, runId } = request;
  const { identifier } = table;
  return workUnderLease(
    { identifier, operation: OPERATION, runId },
    { ...ports, ledger },
    {
      work: async ({ store, openRun }) => {
        const leased = { ...ports, store, reader: createManifestReader(store), openRun };
        const current = await refreshTable(table, leased);
        requireStateOutside(ledger.statePrefix, current.metadata);
        return planAndRun({ ...request, table: current }, leased);
      },
      report: async ({ settledRuns, ...ending }) => {
        await reportSettledRuns(settledRuns, request, { ledger, meter });
        if ('error' in ending) await reportFailure(ending.error, request, { ledger, meter });
        else await reportOutcome(ending.result, request, { ledger, meter });
      },
    },
  );
}

interface PlanPorts extends Omit<CommitPorts, 'run'> {
  /** Called once there is something to write. */
  readonly openRun?: () => Promise<TableRun>;
}

async function planAndRun(
  request: RewriteDataFilesRequest,
  ports: PlanPorts,
): Promise<Uncounted<Exclude<RewriteDataFilesOutcome, { outcome: 'busy' }>>> {
  const { table, branch = 'main', mode } = request;
  const { properties } = table.metadata;
  const options = parseRewriteDataFilesOptions(
    request.options,
    tableProperty(properties, 'write.target-file-size-bytes'),
  );
  const snapshot = headOfBranch(table, branch);
  if (snapshot === undefined) return { outcome: 'no-snapshot' };
  const skip = skipReason(table, snapshot);
  if (skip !== undefined) return { outcome: 'skipped', ...skip };
  const builder = createPlanBuilder(
    {
      tableUuid: table.metadata.tableUuid,
      metadataLocation: table.metadataLocation,
      branch,
      startingSnapshotId: snapshot.snapshotId,
      startingSequenceNumber: snapshot.sequenceNumber,
      verifiesRows: tableProperty(properties, 'firn.verify') === 'rows',
    },
    options,
  );
  const { metadata } = table;
  const rules = { metadata, settings: request.guards, nowMs: ports.clock.nowMs() };
  const fileAge = fileAgeRule(rules);
  const before = await scanCandidates(builder, { ...ports, metadata, snapshot, fileAge });
  const plan = builder.build();
  reportPlan(plan, request, ports);
  const { firstDueAtMs } = request;
  const verdicts = judgeRun({
    ...rules,
    branch,
    operation: OPERATION,
    ...(firstDueAtMs === undefined ? {} : { firstDueAtMs }),
  });
  const planned = { plan, before, verdicts };
  if (plan.groups.length === 0) return { outcome: 'nothing-planned', ...planned };
  if (mode === 'observe') return { outcome: 'observed', ...planned };
  if (verdicts.some(isHeldBack)) return { outcome: 'held-back', ...planned };
  assert(ports.openRun !== undefined, 'a run that commits has a lease');
  const run = await ports.openRun();
  const onProgress = request.onProgress ?? (() => {});
  const runPorts = { ...ports, store: run.store, run };
  const execution = await executePlan({ table, snapshot, plan, onProgress }, runPorts);
  const isAllCommitted = execution.groups.every((group) => group.state === 'committed');
  return {
    outcome: isAllCommitted ? 'committed' : 'partial',
    ...report(planned, execution),
  };
}

/** Why the table is not compacted at all, whatever its files; undefined where it may be. */
export function skipReason(
  { metadata }: Pick<Table, 'metadata'>,
  snapshot: Snapshot,
): { readonly reason: SkipReason; readonly detail: string } | undefined {
  const provider = tableProperty(metadata.properties, 'write.location-provider.impl');
  if (provider !== undefined) return { reason: 'custom-location-provider', detail: provider };
  if (snapshot.manifestList === undefined) {
    return { reason: 'no-manifest-list', detail: `snapshot ${snapshot.snapshotId}` };
  }
  return undefined;
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
  { groups, commits }: Execution,
): RewriteReport {
  const { before } = planned;
  const after = { ...before };
  for (const group of groups.filter((each): each is Committed => each.state === 'committed')) {
    after.fileCount += group.outputFileCount - group.inputFileCount;
    after.bytes += group.outputBytes - group.inputBytes;
    after.rowGroupCount += group.outputRowGroupCount - group.inputRowGroupCount;
  }
  return { ...planned, groups, commits, after };
}

type Committed = Extract<GroupResult, { state: 'committed' }>;
