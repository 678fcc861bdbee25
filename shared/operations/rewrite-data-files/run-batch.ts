import { createTurns, isIcebergError, mapConcurrent, type Turns } from '../../base/index.ts';
import type { TreatmentEstimate } from '../../datafile/index.ts';
import { attemptGroup, type GroupResult, type GroupRun } from '../../maintenance/index.ts';
import { type CommitPorts, readDataFiles, readDeleteIndex } from '../../table/index.ts';
import { expectedWork } from './deletes-treatment.ts';
import type { ExecuteOptions } from './execute.ts';
import type { PlannedGroup } from './group-files.ts';
import { type GroupInput, type GroupToRead, readGroupInputs } from './group-inputs.ts';
import { neededMs, rewriteMs } from './needed-time.ts';
import type { GroupOutputs } from './outcome.ts';
import { nameOutputs, type RewrittenGroup, runFileGroup } from './run.ts';

/** Entries with metrics held at a time: about 100 MB for tables of ordinary width. */
const ENTRIES_MAX = 20_000;

/**
 * What the deleted positions of a batch may take in memory until it is committed: rows deleted by position and by equality,
 * those that are gone, and those of the outputs. Further groups with deletes are left to the next batch or run.
 */
const POSITION_BYTES_MAX = 256 * 1024 ** 2;
const BITMAPS_PER_INPUT = 4;

/** Time kept for the commit that follows: outputs read back, manifests, retries. */
const COMMIT_RESERVE_MS = 30_000;

export interface BatchOptions extends Pick<ExecuteOptions, 'table' | 'snapshot' | 'plan'> {
  /** Part of the outputs' names; one for a run. */
  readonly runUuid: string;
  readonly onRewritten: (group: PlannedGroup) => void;
}

/**
 * Runs groups, some at a time. Without partial progress the first failure is thrown once those under way have ended.
 */
export async function runBatch(
  batch: readonly PlannedGroup[],
  run: BatchOptions,
  ports: CommitPorts,
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  const memory: BatchMemory = { turns: createTurns(), positionBytes: 0 };
  for (const groups of entryBatches(batch)) {
    const files = await readFiles(groups, run, ports);
    const { entries } = files;
    await nameOutputs(groups, { table: run.table, entries, runUuid: run.runUuid }, ports);
    const concurrencyMax = run.plan.options.concurrentFileGroupRewritesMax;
    runs.push(
      ...(await mapConcurrent(groups, { concurrencyMax }, (group) =>
        runGroup(group, files, { run, ports, memory }),
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

/** What manifests of the planned snapshot say of the files of some groups. */
type FilesOfGroups = Pick<GroupToRead, 'entries' | 'deleteIndex'>;

async function readFiles(
  groups: readonly PlannedGroup[],
  { table, snapshot }: BatchOptions,
  { reader }: CommitPorts,
): Promise<FilesOfGroups> {
  const at = { metadata: table.metadata, snapshot, reader };
  const files = groups.flatMap((group) => group.files);
  const byManifest = Map.groupBy(files, (file) => file.manifestPath);
  const pathsByManifest = new Map(
    [...byManifest].map(([path, held]) => [path, new Set(held.map((file) => file.filePath))]),
  );
  const entries = await readDataFiles(pathsByManifest, at);
  if (groups.every(({ deletes }) => deletes === undefined)) return { entries };
  return { entries, deleteIndex: await readDeleteIndex(entries.values(), at) };
}

/** What the groups of a batch share. */
interface BatchMemory {
  /** Delete files of several data files are held while they are applied: those of one group at a time. */
  readonly turns: Turns;
  positionBytes: number;
}

interface GroupContext {
  readonly run: BatchOptions;
  readonly ports: CommitPorts;
  readonly memory: BatchMemory;
}

type Run = GroupRun<PlannedGroup, RewrittenGroup, GroupOutputs>;

/** Of a group whose deletes cannot be applied, and of no other, the failure is always recorded. */
async function runGroup(
  group: PlannedGroup,
  files: FilesOfGroups,
  context: GroupContext,
): Promise<Run> {
  const { run, ports } = context;
  const { table, plan, runUuid } = run;
  const attempt = await attemptGroup(
    group,
    {
      neededMs: neededMs(expectedWork(group, plan), group, plan.base) + COMMIT_RESERVE_MS,
      isRecording: plan.options.isPartialProgressEnabled,
      rewrite: async (): Promise<Run> => {
        const inputs = await readInputs(group, files, context);
        if ('result' in inputs) return { group, result: inputs.result };
        const options = { table, group, entries: files.entries, runUuid };
        return { group, rewritten: await runFileGroup(options, inputs.read, ports) };
      },
    },
    ports,
  );
  const done = 'rewritten' in attempt ? attempt.rewritten : attempt;
  if ('rewritten' in done) {
    const { groupIndex } = group;
    ports.logger.debug('file-group.rewritten', `group ${groupIndex}`, {
      groupIndex,
      fileCount: group.files.length,
      bytes: group.inputBytes,
      ...done.rewritten.deletes,
    });
    run.onRewritten(group);
  }
  return done;
}

type ReadInputs =
  | { readonly read: readonly GroupInput[] }
  | { readonly result: GroupResult<GroupOutputs> };

/** The inputs of a group, or why it is not rewritten: it is begun only where time and memory are left for all of it. */
async function readInputs(
  group: PlannedGroup,
  files: FilesOfGroups,
  { run, ports, memory }: GroupContext,
): Promise<ReadInputs> {
  const { table, plan } = run;
  const toRead = { table, plan, group, ...files };
  const inputs = await (holdsDeletes(group)
    ? memory.turns(() => tryReadInputs(toRead, ports))
    : tryReadInputs(toRead, ports));
  if ('result' in inputs) return inputs;
  const { read } = inputs;
  const restMs = rewriteMs(sumOfWork(read), group, plan.base) + COMMIT_RESERVE_MS;
  const positionBytes = positionBytesOf(read);
  const isRoom =
    memory.positionBytes === 0 || memory.positionBytes + positionBytes <= POSITION_BYTES_MAX;
  if (!isRoom || ports.deadline.remainingMs() < restMs) {
    return { result: { state: 'not-started', groupIndex: group.groupIndex } };
  }
  memory.positionBytes += positionBytes;
  return inputs;
}

async function tryReadInputs(
  toRead: GroupToRead,
  { store, logger }: CommitPorts,
): Promise<ReadInputs> {
  try {
    return { read: await readGroupInputs(toRead, store) };
  } catch (error) {
    if (!isIcebergError(error, 'unsupported')) throw error;
    const { groupIndex } = toRead.group;
    logger.warn('file-group.failed', error.message, { groupIndex, kind: error.kind });
    return { result: { state: 'failed', groupIndex, error } };
  }
}

/** Whether there are delete files whose content is held while data files are asked for, one after the other. */
function holdsDeletes({ deletes }: PlannedGroup): boolean {
  return (
    deletes !== undefined && deletes.partitionScoped.fileCount + deletes.equality.fileCount > 0
  );
}

/** At most: two bytes a position, or a bit a row. */
function positionBytesOf(inputs: readonly GroupInput[]): number {
  return inputs.reduce((sum, { entry, deletes }) => {
    const deletedCount = deletes?.positions.cardinality ?? 0;
    return sum + BITMAPS_PER_INPUT * Math.min(2 * deletedCount, entry.dataFile.recordCount / 8);
  }, 0);
}

function sumOfWork(inputs: readonly GroupInput[]): TreatmentEstimate {
  const sum = { decodedBytes: 0, copiedBytes: 0 };
  for (const { work } of inputs) {
    sum.decodedBytes += work.decodedBytes;
    sum.copiedBytes += work.copiedBytes;
  }
  return sum;
}
