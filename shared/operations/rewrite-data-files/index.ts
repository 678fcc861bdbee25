/**
 * Compaction: rewrites data files that are too small or too large into files near the target size, bin-packed
 * within each spec and partition, and commits them as a `replace` that changes no row. README.md is the contract.
 * Leaves out: applying delete files, sort and z-order, other output specs, removing what failed runs left behind.
 */
import { type Snapshot, tableProperty } from '../../iceberg/index.ts';
import { countingStore } from '../../storage/index.ts';
import {
  type CommitPorts,
  createManifestReader,
  headOfBranch,
  type Table,
} from '../../table/index.ts';
import { type Execution, executePlan } from './execute.ts';
import type { OptionTexts } from './option-values.ts';
import { parseRewriteDataFilesOptions } from './options.ts';
import type { GroupResult, RewriteDataFilesOutcome, RewriteReport, SkipReason } from './outcome.ts';
import { createPlanBuilder, type RewriteDataFilesPlan } from './plan.ts';
import type { RewriteProgress } from './run-state.ts';
import { scanCandidates, type TableCounts } from './scan-candidates.ts';

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
  /** Goes into the snapshot's summary as `firn.run-id`. */
  readonly runId: string;
  readonly onProgress?: (progress: RewriteProgress) => void;
}

export type RewriteDataFilesPorts = Omit<CommitPorts, 'reader'>;

/**
 * Plans, and unless it only observes, rewrites and commits.
 *
 * @throws invalid-config — for options, table properties or a branch that make no sense
 * @throws unsupported — for options that Firn does not offer
 * @throws as `commitReplace` and `rewriteFileGroup`
 */
export async function rewriteDataFiles(
  request: RewriteDataFilesRequest,
  ports: RewriteDataFilesPorts,
): Promise<RewriteDataFilesOutcome> {
  const store = countingStore(ports.store);
  const commitPorts = { ...ports, store, reader: createManifestReader(store) };
  const outcome = await planAndRun(request, commitPorts);
  return { ...outcome, requests: { ...store.requestCounts } };
}

type Uncounted<Outcome> = Outcome extends unknown ? Omit<Outcome, 'requests'> : never;

async function planAndRun(
  request: RewriteDataFilesRequest,
  ports: CommitPorts,
): Promise<Uncounted<RewriteDataFilesOutcome>> {
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
    },
    options,
  );
  const before = await scanCandidates(builder, { ...ports, metadata: table.metadata, snapshot });
  const plan = builder.build();
  reportPlan(plan, request, ports);
  if (plan.groups.length === 0) return { outcome: 'nothing-planned', plan, before };
  if (mode === 'observe') return { outcome: 'observed', plan, before };
  const summaryExtra = { 'firn.run-id': request.runId };
  const onProgress = request.onProgress ?? (() => {});
  const execution = await executePlan({ table, snapshot, plan, summaryExtra, onProgress }, ports);
  const isAllCommitted = execution.groups.every((group) => group.state === 'committed');
  return {
    outcome: isAllCommitted ? 'committed' : 'partial',
    ...report(plan, before, execution),
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
  { logger }: CommitPorts,
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
  plan: RewriteDataFilesPlan,
  before: TableCounts,
  { groups, commits }: Execution,
): RewriteReport {
  const after = { ...before };
  for (const group of groups.filter((each): each is Committed => each.state === 'committed')) {
    after.fileCount += group.outputFileCount - group.inputFileCount;
    after.bytes += group.outputBytes - group.inputBytes;
    after.rowGroupCount += group.outputRowGroupCount - group.inputRowGroupCount;
  }
  return { plan, groups, commits, before, after };
}

type Committed = Extract<GroupResult, { state: 'committed' }>;
