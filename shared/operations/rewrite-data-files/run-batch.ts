import { isIcebergError, mapConcurrent } from '../../base/index.ts';
import type { ManifestEntry } from '../../iceberg/index.ts';
import { type CommitPorts, readDataFiles } from '../../table/index.ts';
import type { PlannedGroup } from './group-files.ts';
import { nameOutputs, runFileGroup } from './run.ts';
import type { GroupRun, RunState } from './run-state.ts';

/** Entries with metrics held at a time: about 100 MB for tables of ordinary width. */
const ENTRIES_MAX = 20_000;

/**
 * What a group is expected to move in a second, so that none is begun that cannot be finished: the slow path, which
 * decodes. Copied pages move much faster; verifying all rows takes about as long again.
 */
const BYTES_PER_MS_MIN = 16 * 1024;

/** Time kept for the commit that follows: outputs read back, manifests, retries. */
const COMMIT_RESERVE_MS = 30_000;

/**
 * Runs groups, some at a time. Without partial progress the first failure is thrown once those under way have ended.
 */
export async function runBatch(
  batch: readonly PlannedGroup[],
  run: RunState,
  ports: CommitPorts,
): Promise<readonly GroupRun[]> {
  const runs: GroupRun[] = [];
  for (const groups of entryBatches(batch)) {
    const entries = await readEntries(groups, run, ports);
    await nameOutputs(groups, { table: run.table, entries, runUuid: run.runUuid }, ports);
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
  const timesRead = run.plan.base.verifiesRows ? 2 : 1;
  const neededMs = (timesRead * group.inputBytes) / BYTES_PER_MS_MIN + COMMIT_RESERVE_MS;
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
    const isRecorded =
      run.plan.options.isPartialProgressEnabled && isIcebergError(error) && !ports.run.isStopped;
    if (!isRecorded) throw error;
    ports.logger.warn('file-group.failed', error.message, { groupIndex, kind: error.kind });
    return { group, result: { state: 'failed', groupIndex, error } };
  }
}
