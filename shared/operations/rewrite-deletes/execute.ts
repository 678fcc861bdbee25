import { randomUuid } from '../../base/index.ts';
import type { ManifestEntry, Snapshot } from '../../iceberg/index.ts';
import {
  attemptGroup,
  type Execution,
  executeGroups,
  type GroupRun,
} from '../../maintenance/index.ts';
import {
  type CommitPorts,
  commitRewriteDeletes,
  deleteKey,
  type ScannedDataFile,
  scanSnapshot,
  type Table,
} from '../../table/index.ts';
import type { GroupDeletes } from './outcome.ts';
import type { RewriteDeletesPlan } from './plan.ts';
import type { PlannedGroup } from './planned-group.ts';
import { type PlannedEntries, type RewrittenGroup, runGroup } from './run.ts';

/** The operation's name in events, leases and reports. */
export const OPERATION = 'rewrite-deletes';

/** Something happened that a person may want to see. */
export type RewriteDeletesProgress =
  | { readonly step: 'planned'; readonly groupCount: number; readonly removedFileCount: number }
  | { readonly step: 'group-rewritten'; readonly doneCount: number; readonly groupCount: number }
  | { readonly step: 'committed'; readonly snapshotId: bigint; readonly groupCount: number };

export interface ExecuteOptions {
  readonly table: Table;
  readonly snapshot: Snapshot;
  readonly plan: RewriteDeletesPlan;
  readonly onProgress: (progress: RewriteDeletesProgress) => void;
}

/** Entries of data files held at a time: about 20 MB, without their metrics. */
const ENTRIES_MAX = 20_000;

/** What reading keys and small files comes to in a second, with a processor to decode them: cautious. */
const BYTES_PER_MS_MIN = 16 * 1024;

/** Of one request, when some are under way at the same time. */
const MS_PER_READ = 10;

/** Time kept for the commit that follows: vectors read back, manifests, retries. */
const COMMIT_RESERVE_MS = 30_000;

/**
 * Runs the groups of a plan, one after the other, and commits them.
 *
 * @throws as `runGroup` and `commitRewriteDeletes`; with partial progress only what ends the whole run
 */
export function executePlan(
  options: ExecuteOptions,
  ports: CommitPorts,
): Promise<Execution<GroupDeletes>> {
  const { table, plan, onProgress } = options;
  const { base, groups } = plan;
  const { isPartialProgressEnabled, partialProgressCommitsMax, partialProgressFailedCommitsMax } =
    plan.options;
  const runUuid = randomUuid(ports.random);
  let doneCount = 0;
  return executeGroups<PlannedGroup, RewrittenGroup, GroupDeletes>(
    {
      operation: OPERATION,
      groups,
      partialProgress: {
        isEnabled: isPartialProgressEnabled,
        commitsMax: partialProgressCommitsMax,
        failedCommitsMax: partialProgressFailedCommitsMax,
      },
      runBatch: (batch) =>
        runBatch(batch, { ...options, runUuid }, ports, () => {
          onProgress({
            step: 'group-rewritten',
            doneCount: ++doneCount,
            groupCount: groups.length,
          });
        }),
      commit: (rewritten) =>
        commitRewriteDeletes(
          {
            table,
            branch: base.branch,
            startingSequenceNumber: base.startingSequenceNumber,
            groups: rewritten.map(({ group }) => group),
          },
          ports,
        ),
      outputsOf,
      onCommitted: (snapshotId, groupCount) =>
        onProgress({ step: 'committed', snapshotId, groupCount }),
    },
    ports,
  );
}

async function runBatch(
  batch: readonly PlannedGroup[],
  { table, snapshot, plan, runUuid }: ExecuteOptions & { readonly runUuid: string },
  ports: CommitPorts,
  onDone: () => void,
): Promise<readonly GroupRun<PlannedGroup, RewrittenGroup, GroupDeletes>[]> {
  const { base, options } = plan;
  const { puffinSizeBytesMax, isPartialProgressEnabled: isRecording } = options;
  const runs: GroupRun<PlannedGroup, RewrittenGroup, GroupDeletes>[] = [];
  for (const groups of entryBatches(batch)) {
    const entries = await readEntries(groups, { table, snapshot }, ports);
    for (const group of groups) {
      const rewrite = () =>
        runGroup({ table, base, group, entries, puffinSizeBytesMax, runUuid }, ports);
      const neededMs = timeNeededMs(group);
      const run = await attemptGroup(group, { neededMs, isRecording, rewrite }, ports);
      runs.push(run);
      if (!('rewritten' in run)) continue;
      const { groupIndex } = group;
      ports.logger.debug('file-group.rewritten', `group ${groupIndex}`, {
        groupIndex,
        fileCount: run.rewritten.addedFileCount,
        bytes: run.rewritten.addedBytes,
      });
      onDone();
    }
  }
  return runs;
}

function timeNeededMs({ readBytesExpected, readCountExpected }: PlannedGroup): number {
  return readBytesExpected / BYTES_PER_MS_MIN + readCountExpected * MS_PER_READ + COMMIT_RESERVE_MS;
}

/** Groups whose entries are held at the same time; a single one may have more than the limit. */
function entryBatches(groups: readonly PlannedGroup[]): readonly (readonly PlannedGroup[])[] {
  const batches: PlannedGroup[][] = [];
  let entryCount = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    const { length } = dataFilePaths(group);
    if (entryCount + length > ENTRIES_MAX) {
      batches.push([]);
      entryCount = 0;
    }
    batches.at(-1)?.push(group);
    entryCount += length;
  }
  return batches;
}

function dataFilePaths({ partitions, copies }: PlannedGroup): readonly string[] {
  return [
    ...partitions.flatMap(({ files, keptPaths }) => [
      ...files.map(({ filePath }) => filePath),
      ...keptPaths,
    ]),
    ...copies.map(({ referencedDataFile }) => referencedDataFile),
  ];
}

async function readEntries(
  groups: readonly PlannedGroup[],
  { table, snapshot }: Pick<ExecuteOptions, 'table' | 'snapshot'>,
  { reader }: CommitPorts,
): Promise<PlannedEntries> {
  const paths = new Set(groups.flatMap(dataFilePaths));
  const keys = new Set(
    groups.flatMap(({ removed, copies }) => [...removed, ...copies].map((each) => each.deleteKey)),
  );
  const dataFiles = new Map<string, ScannedDataFile>();
  const deletes = new Map<string, ManifestEntry>();
  await scanSnapshot({
    metadata: table.metadata,
    snapshot,
    reader,
    skipsMetrics: true,
    visitDeletes: (entry) => {
      const key = deleteKey(entry);
      if (keys.has(key)) deletes.set(key, entry);
    },
    visit: (file) => {
      const { filePath } = file.entry.dataFile;
      if (paths.has(filePath)) dataFiles.set(filePath, file);
    },
  });
  return { dataFiles, deletes };
}

function outputsOf({ groupIndex }: PlannedGroup, rewritten: RewrittenGroup): GroupDeletes {
  const { group, addedFileCount, addedBytes } = rewritten;
  return {
    groupIndex,
    removedFileCount: group.removedDeletes.length,
    addedFileCount,
    addedBytes,
    coveredFileCount: group.dataFiles.length,
  };
}
