import {
  type ERROR_KINDS,
  IcebergError,
  isIcebergError,
  mapConcurrent,
  randomUuid,
} from '../../base/index.ts';
import type { ManifestEntry, Snapshot } from '../../iceberg/index.ts';
import {
  type CommitOutcome,
  type CommitPorts,
  commitReplace,
  readDataFiles,
  type Table,
} from '../../table/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { CommitSummary, GroupOutputs, GroupResult } from './outcome.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import { type RewrittenGroup, runFileGroup } from './run.ts';

/** Entries with metrics held at a time: about 100 MB for tables of ordinary width. */
const ENTRIES_MAX = 20_000;

/**
 * What a group is expected to move in a second, so that none is begun that cannot be finished: the slow path, which
 * decodes. Copied pages move much faster.
 */
const BYTES_PER_MS_MIN = 16 * 1024;

/** Time kept for the commit that follows: outputs read back, manifests, retries. */
const COMMIT_RESERVE_MS = 30_000;

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
  readonly summaryExtra: Readonly<Record<string, string>>;
  readonly onProgress: (progress: RewriteProgress) => void;
}

export interface Execution {
  readonly groups: readonly GroupResult[];
  readonly commits: readonly CommitSummary[];
}

/** A group that was run, or was not, before its batch is committed. */
type GroupRun =
  | { readonly group: PlannedGroup; readonly rewritten: RewrittenGroup }
  | { readonly group: PlannedGroup; readonly result: GroupResult };

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

interface RunState extends ExecuteOptions {
  readonly runUuid: string;
  doneCount: number;
  failedCommitCount: number;
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

async function runBatch(
  batch: readonly PlannedGroup[],
  run: RunState,
  ports: CommitPorts,
): Promise<readonly GroupRun[]> {
  const runs: GroupRun[] = [];
  for (const groups of entryBatches(batch)) {
    const entries = await readEntries(groups, run, ports);
    const concurrencyMax = run.plan.options.concurrentFileGroupRewritesMax;
    runs.push(
      ...(await mapConcurrent(groups, { concurrencyMax }, (group) =>
        runGroup(group, entries, { run, ports }),
      )),
    );
  }
  return runs;
}

/** Groups whose entries are held at the same time; a single one may have more than the limit. */
function entryBatches(groups: readonly PlannedGroup[]): readonly (readonly PlannedGroup[])[] {
  const batches: PlannedGroup[][] = [];
  let entryCount = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    if (entryCount + group.files.length > ENTRIES_MAX) {
      batches.push([]);
      entryCount = 0;
    }
    batches.at(-1)?.push(group);
    entryCount += group.files.length;
  }
  return batches;
}

function readEntries(
  groups: readonly PlannedGroup[],
  { table, snapshot }: RunState,
  { reader }: CommitPorts,
): Promise<ReadonlyMap<string, ManifestEntry>> {
  const files = groups.flatMap((group) => group.files);
  const byManifest = Map.groupBy(files, (file) => file.manifestPath);
  const pathsByManifest = new Map(
    [...byManifest].map(([path, held]) => [path, new Set(held.map((file) => file.filePath))]),
  );
  return readDataFiles(pathsByManifest, { metadata: table.metadata, snapshot, reader });
}

async function runGroup(
  group: PlannedGroup,
  entries: ReadonlyMap<string, ManifestEntry>,
  { run, ports }: { readonly run: RunState; readonly ports: CommitPorts },
): Promise<GroupRun> {
  const { groupIndex } = group;
  const neededMs = group.inputBytes / BYTES_PER_MS_MIN + COMMIT_RESERVE_MS;
  if (ports.deadline.remainingMs() < neededMs) {
    return { group, result: { state: 'not-started', groupIndex } };
  }
  try {
    const { table, runUuid, plan } = run;
    const rewritten = await runFileGroup({ table, group, entries, runUuid }, ports);
    run.doneCount++;
    run.onProgress({
      step: 'group-rewritten',
      doneCount: run.doneCount,
      groupCount: plan.groups.length,
      inputBytes: group.inputBytes,
    });
    ports.logger.debug('file-group.rewritten', `group ${groupIndex}`, {
      groupIndex,
      fileCount: group.files.length,
      bytes: group.inputBytes,
    });
    return { group, rewritten };
  } catch (error) {
    const isRecorded = run.plan.options.isPartialProgressEnabled && isIcebergError(error);
    if (!isRecorded) throw error;
    ports.logger.warn('file-group.failed', error.message, { groupIndex, kind: error.kind });
    return { group, result: { state: 'failed', groupIndex, error } };
  }
}

interface CommittedBatch {
  readonly groups: readonly GroupResult[];
  readonly commit: CommitSummary | undefined;
}

async function commitBatch(
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
        summaryExtra: run.summaryExtra,
      },
      ports,
    );
    return reportCommit(runs, outcome, run);
  } catch (error) {
    if (!run.plan.options.isPartialProgressEnabled || !isGivenUp(error)) throw error;
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
const GIVEN_UP_KINDS: readonly (keyof typeof ERROR_KINDS)[] = ['commit-conflict', 'unavailable'];

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
  const { snapshotId, table, attemptCount, committedGroups } = outcome;
  run.onProgress({ step: 'committed', snapshotId, groupCount: committedGroups.length });
  return {
    groups,
    commit: {
      snapshotId,
      metadataLocation: table.metadataLocation,
      attemptCount,
      groupIndexes: committedGroups,
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
