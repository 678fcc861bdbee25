import { isIcebergError, type Logger } from '../../base/index.ts';
import type { FileAgeRule } from '../../guards/index.ts';
import { type Snapshot, type TableMetadata, tableProperty } from '../../iceberg/index.ts';
import type { Sidecars } from '../../ledger/index.ts';
import { type ManifestReader, mayHaveLiveFiles } from '../../table/index.ts';
import { type DuePartitions, findDuePartitions, snapshotIdsSince } from './due-partitions.ts';
import type { PlannedGroup } from './group-files.ts';
import { createTallyBook, type ManifestTally } from './manifest-tally.ts';
import type { RewriteDataFilesOptions } from './options.ts';
import { createPartitionFacts, type PartitionFactsOf } from './partition-facts.ts';
import { partitionHash } from './partition-hash.ts';
import {
  createPlanBuilder,
  type PlanBase,
  type PlanBuilder,
  type RewriteDataFilesPlan,
} from './plan.ts';
import type { FullPlanReason, PlanScope } from './plan-scope.ts';
import { optionsText, type PlanState } from './plan-state.ts';
import { parsePlanState } from './plan-state-bytes.ts';
import { scanCandidates, type TableCounts } from './scan-candidates.ts';

/**
 * Data manifests of a table that is planned as a whole each time: remembering a plan is a PUT, at the price of a dozen
 * GETs, and going on from it another GET.
 */
export const FULL_PLAN_MANIFESTS_MAX = 15;

/** A plan that goes on from the one before where it can, and that the next one can go on from. */
export interface Continuation {
  /** Where the state of the plan before lies; nothing is known of one where it is not given. */
  readonly stateLocation?: string;
}

export interface PlanRequest {
  readonly metadata: TableMetadata;
  readonly snapshot: Snapshot;
  readonly base: PlanBase;
  readonly options: RewriteDataFilesOptions;
  readonly fileAge: FileAgeRule;
  readonly nowMs: number;
  /** The whole table is planned, and nothing is remembered, where it is not given. */
  readonly continuation?: Continuation;
}

export interface PlanTablePorts {
  readonly reader: ManifestReader;
  /** Where states lie; without them nothing is remembered. */
  readonly sidecars?: Pick<Sidecars, 'read'>;
  readonly logger: Logger;
}

export interface PlannedTable {
  readonly plan: RewriteDataFilesPlan;
  /** Of the whole table, whatever the plan is made of. */
  readonly before: TableCounts;
  /**
   * What the next plan can go on from, once it is known which groups were committed; undefined where nothing is to be
   * remembered.
   */
  readonly nextState: (committedGroups: ReadonlySet<number>) => PlanState | undefined;
}

/**
 * Plans a snapshot: as a whole, or the partitions that are due, which gives the same groups as long as the state of the
 * plan before is right. Where it is not, the plan is a worse one; the commit does not rely on it.
 *
 * @throws as `scanSnapshot`
 */
export async function planTable(
  request: PlanRequest,
  ports: PlanTablePorts,
): Promise<PlannedTable> {
  const partitionFacts = createPartitionFacts(request.metadata);
  const builder = createPlanBuilder(request.base, request.options);
  const planning = { request, ports, partitionFacts, builder };
  const start = await chooseStart(request, ports);
  if (start.kind === 'full') return planWhole(planning, start);
  const { metadata, snapshot, options } = request;
  const listed = await ports.reader.readList(metadata, snapshot);
  const { reader } = ports;
  const search = { metadata, options, partitionFacts, listed, reader, ...start };
  const due = await findDuePartitions(search);
  if (due === undefined)
    return planWhole(planning, { reason: 'global-deletes', isRemembered: true });
  return planDue(planning, due, start.state);
}

interface Planning {
  readonly request: PlanRequest;
  readonly ports: PlanTablePorts;
  readonly partitionFacts: PartitionFactsOf;
  readonly builder: PlanBuilder;
}

interface FullStart {
  readonly reason: FullPlanReason;
  /** Whether the next plan is to go on from this one. */
  readonly isRemembered: boolean;
}

type Start =
  | ({ readonly kind: 'full' } & FullStart)
  | {
      readonly kind: 'incremental';
      readonly state: PlanState;
      readonly sinceIds: ReadonlySet<bigint>;
    };

async function chooseStart(request: PlanRequest, ports: PlanTablePorts): Promise<Start> {
  const { metadata, snapshot, base, options, continuation, nowMs } = request;
  const { sidecars } = ports;
  if (continuation === undefined || sidecars === undefined) {
    return { kind: 'full', reason: 'requested', isRemembered: false };
  }
  const listed = await ports.reader.readList(metadata, snapshot);
  const dataManifests = listed.filter((each) => each.content === 'data' && mayHaveLiveFiles(each));
  if (dataManifests.length <= FULL_PLAN_MANIFESTS_MAX) {
    return { kind: 'full', reason: 'few-manifests', isRemembered: false };
  }
  const full = (reason: FullPlanReason): Start => ({ kind: 'full', reason, isRemembered: true });
  if (continuation.stateLocation === undefined) return full('first-plan');
  const state = await readState(continuation.stateLocation, { ...ports, sidecars });
  if (state === undefined) return full('state-unreadable');
  if (state.tableUuid !== (metadata.tableUuid ?? '') || state.branch !== base.branch) {
    return full('history-unknown');
  }
  if (state.optionsText !== optionsText(options)) return full('options-changed');
  const intervalMs = tableProperty(
    metadata.properties,
    'firn.rewrite-data-files.full-plan-interval-ms',
  );
  if (nowMs - state.fullAtMs >= intervalMs) return full('full-plan-interval');
  const sinceIds = snapshotIdsSince(metadata, base.branch, state.snapshotId);
  return sinceIds === undefined
    ? full('history-unknown')
    : { kind: 'incremental', state, sinceIds };
}

/** Whatever is wrong with it, the plan can do without. */
async function readState(
  location: string,
  { sidecars, logger }: Required<PlanTablePorts>,
): Promise<PlanState | undefined> {
  try {
    return parsePlanState(await sidecars.read(location), location);
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    logger.debug('plan-state.unreadable', error.message, { kind: error.kind });
    return undefined;
  }
}

async function planWhole(
  { request, ports, partitionFacts, builder }: Planning,
  { reason, isRemembered }: FullStart,
): Promise<PlannedTable> {
  const { metadata, snapshot, options, nowMs } = request;
  const { reader } = ports;
  const book = isRemembered ? createTallyBook(options, metadata.partitionSpecs) : undefined;
  const before = await scanCandidates(builder, {
    ...request,
    reader,
    partitionFacts,
    ...(book === undefined ? {} : { book }),
  });
  const listed = await reader.readList(metadata, snapshot);
  const tallies = book?.finish(listed.filter(mayHaveLiveFiles));
  return finish({ request, builder, before, tallies }, { kind: 'full', reason }, nowMs);
}

async function planDue(
  { request, ports, partitionFacts, builder }: Planning,
  due: DuePartitions,
  state: PlanState,
): Promise<PlannedTable> {
  const { reader } = ports;
  await scanCandidates(builder, { ...request, reader, partitionFacts, due });
  const { tallies } = due;
  const scope: PlanScope = {
    kind: 'incremental',
    sinceSnapshotId: state.snapshotId,
    partitionCount: due.partitions.size,
    readManifestCount: due.readManifestCount,
    manifestCount: tallies.length,
  };
  return finish({ request, builder, before: countsOf(tallies), tallies }, scope, state.fullAtMs);
}

function finish(
  {
    request: { metadata, base, options },
    builder,
    before,
    tallies,
  }: {
    readonly request: PlanRequest;
    readonly builder: PlanBuilder;
    readonly before: TableCounts;
    readonly tallies: readonly ManifestTally[] | undefined;
  },
  scope: PlanScope,
  fullAtMs: number,
): PlannedTable {
  const plan = builder.build(scope);
  return {
    plan,
    before,
    nextState: (committedGroups) => {
      if (tallies === undefined) return undefined;
      const keys = [...builder.leftPartitionKeys, ...keysOfOthers(plan.groups, committedGroups)];
      return {
        tableUuid: metadata.tableUuid ?? '',
        branch: base.branch,
        snapshotId: base.startingSnapshotId,
        fullAtMs,
        optionsText: optionsText(options),
        duePartitions: Uint32Array.from(new Set(keys.map(partitionHash))).sort(),
        manifests: tallies,
      };
    },
  };
}

function keysOfOthers(
  groups: readonly PlannedGroup[],
  committedGroups: ReadonlySet<number>,
): readonly string[] {
  return groups
    .filter(({ groupIndex }) => !committedGroups.has(groupIndex))
    .map(({ partitionKey }) => partitionKey);
}

function countsOf(tallies: readonly ManifestTally[]): TableCounts {
  const sum = (
    content: ManifestTally['content'],
    count: (tally: ManifestTally) => number,
  ): number =>
    tallies.reduce((total, tally) => total + (tally.content === content ? count(tally) : 0), 0);
  return {
    fileCount: sum('data', ({ fileCount }) => fileCount),
    bytes: sum('data', ({ bytes }) => bytes),
    rowGroupCount: sum('data', ({ rowGroupCount }) => rowGroupCount),
    deleteRowCount: sum('deletes', ({ recordCount }) => recordCount),
  };
}
