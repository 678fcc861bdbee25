import type { JsonObject } from '../base/index.ts';
import type { Item, ItemKey } from './item-store.ts';
import { itemFields, newBody, RecordFields } from './record.ts';

/** What is remembered of a table between two looks at it. */
export interface TableState {
  /** The table's full name. */
  readonly table: string;
  /** Another one means that another table has the name now. Absent before the first look, and on old v1 tables. */
  readonly tableUuid?: string;
  readonly seen?: SeenMetadata;
  readonly look?: LookMark;
  /** By the operation's name. */
  readonly operations: Readonly<Record<string, OperationState>>;
}

/** The last time that metadata was read, or tried to, to see what is due. */
export interface SeenMetadata {
  readonly metadataLocation: string;
  readonly readAtMs: number;
  /** Before that, nobody should read the metadata again. */
  readonly nextReadAtMs: number;
  /** `firn.enabled` as it was seen; absent where the table does not have it. */
  readonly isEnabled?: boolean;
}

/** Somebody should look at the table at that time, whatever its operations say. */
export interface LookMark {
  readonly atMs: number;
  /** A stable name. */
  readonly reason: string;
  /** Looks that failed in a row; 0 where none did. */
  readonly failureCount: number;
}

/** Work that has to be done whatever the triggers say. */
export interface OwedMark {
  /** A stable name. */
  readonly reason: string;
  /** Not before. */
  readonly atMs: number;
  /** When it was marked: a plan that began later settles it. */
  readonly sinceMs: number;
}

/** What is remembered of one operation on a table. Whatever is due, or queued, has a `dueAtMs`. */
export interface OperationState {
  /** Of the last plan, whatever came of it; all absent before the first. */
  readonly plan?: PlanMark;
  readonly owed?: OwedMark;
  /** When the work that is due, or held back, was first found; kept until it is planned. */
  readonly firstDueAtMs?: number;
  readonly dueAtMs?: number;
  /** A stable name. */
  readonly dueReason?: string;
  /** When a message was last sent for it, until a run answers. */
  readonly queuedAtMs?: number;
  /** Runs in a row that left work over. */
  readonly roundCount: number;
  /** Runs in a row that failed. */
  readonly failureCount: number;
}

export interface PlanMark {
  /** The snapshot that was planned; absent where the table had none. */
  readonly snapshotId?: bigint;
  /** The last one that came of it; absent where nothing was committed. */
  readonly committedSnapshotId?: bigint;
  readonly atMs: number;
  /** What was committed until then was old enough to be planned; what came later was left for another time. */
  readonly untilMs: number;
  /** Whether the plan could be committed; one that was only observed is due once the table is allowed. */
  readonly mode: 'observe' | 'commit';
  /** When a plan was last made of the whole table. */
  readonly fullAtMs?: number;
  /** Where the state lies that the next plan can go on from. */
  readonly stateLocation?: string;
}

export const STATE_SORT = 'state';

export function stateKey(table: string): ItemKey {
  return { partition: table, sort: STATE_SORT };
}

/** The earliest time at which somebody should look at the table; undefined when nobody has to. */
export function stateDueAtMs({ look, operations }: TableState): number | undefined {
  const times = [look?.atMs, ...Object.values(operations).map(({ dueAtMs }) => dueAtMs)].filter(
    (atMs) => atMs !== undefined,
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

export function serializeTableState({ tableUuid, seen, look, operations }: TableState): JsonObject {
  return newBody({
    ...(tableUuid === undefined ? {} : { 'table-uuid': tableUuid }),
    ...(seen === undefined ? {} : { seen: serializeSeen(seen) }),
    ...(look === undefined ? {} : { look: serializeLook(look) }),
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, state]) => [name, serializeOperation(state)]),
    ),
  });
}

/** @throws invalid-data, unsupported */
export function parseTableState(item: Item): TableState {
  const fields = itemFields(item);
  const subject = `ledger item ${item.sort} of ${item.partition}`;
  const part = (field: string): RecordFields =>
    new RecordFields(fields.object(field), `${subject}: ${field}`);
  const operations = fields.object('operations');
  return {
    table: item.partition,
    ...(fields.has('table-uuid') ? { tableUuid: fields.text('table-uuid') } : {}),
    ...(fields.has('seen') ? { seen: parseSeen(part('seen')) } : {}),
    ...(fields.has('look') ? { look: parseLook(part('look')) } : {}),
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, value]) => [
        name,
        parseOperation(new RecordFields(value, `${subject}: ${name}`), `${subject}: ${name}`),
      ]),
    ),
  };
}

function serializeSeen(seen: SeenMetadata): JsonObject {
  return {
    'metadata-location': seen.metadataLocation,
    'read-at-ms': seen.readAtMs,
    'next-read-at-ms': seen.nextReadAtMs,
    ...(seen.isEnabled === undefined ? {} : { 'is-enabled': seen.isEnabled }),
  };
}

function parseSeen(fields: RecordFields): SeenMetadata {
  return {
    metadataLocation: fields.text('metadata-location'),
    readAtMs: fields.count('read-at-ms'),
    nextReadAtMs: fields.count('next-read-at-ms'),
    ...(fields.has('is-enabled') ? { isEnabled: fields.boolean('is-enabled') } : {}),
  };
}

function serializeLook({ atMs, reason, failureCount }: LookMark): JsonObject {
  return { 'at-ms': atMs, reason, 'failure-count': failureCount };
}

function parseLook(fields: RecordFields): LookMark {
  return {
    atMs: fields.count('at-ms'),
    reason: fields.text('reason'),
    failureCount: fields.count('failure-count'),
  };
}

function serializeOperation(state: OperationState): JsonObject {
  return {
    ...(state.plan === undefined ? {} : { plan: serializePlan(state.plan) }),
    ...(state.owed === undefined ? {} : { owed: serializeOwed(state.owed) }),
    ...(state.firstDueAtMs === undefined ? {} : { 'first-due-at-ms': state.firstDueAtMs }),
    ...(state.dueAtMs === undefined ? {} : { 'due-at-ms': state.dueAtMs }),
    ...(state.dueReason === undefined ? {} : { 'due-reason': state.dueReason }),
    ...(state.queuedAtMs === undefined ? {} : { 'queued-at-ms': state.queuedAtMs }),
    'round-count': state.roundCount,
    'failure-count': state.failureCount,
  };
}

function parseOperation(fields: RecordFields, subject: string): OperationState {
  return {
    ...(fields.has('plan')
      ? { plan: parsePlan(new RecordFields(fields.object('plan'), `${subject}: plan`)) }
      : {}),
    ...(fields.has('owed')
      ? { owed: parseOwed(new RecordFields(fields.object('owed'), `${subject}: owed`)) }
      : {}),
    ...(fields.has('first-due-at-ms') ? { firstDueAtMs: fields.count('first-due-at-ms') } : {}),
    ...(fields.has('due-at-ms') ? { dueAtMs: fields.count('due-at-ms') } : {}),
    ...(fields.has('due-reason') ? { dueReason: fields.text('due-reason') } : {}),
    ...(fields.has('queued-at-ms') ? { queuedAtMs: fields.count('queued-at-ms') } : {}),
    roundCount: fields.count('round-count'),
    failureCount: fields.count('failure-count'),
  };
}

function serializeOwed({ reason, atMs, sinceMs }: OwedMark): JsonObject {
  return { reason, 'at-ms': atMs, 'since-ms': sinceMs };
}

function parseOwed(fields: RecordFields): OwedMark {
  return {
    reason: fields.text('reason'),
    atMs: fields.count('at-ms'),
    sinceMs: fields.count('since-ms'),
  };
}

function serializePlan(plan: PlanMark): JsonObject {
  return {
    ...(plan.snapshotId === undefined ? {} : { 'snapshot-id': plan.snapshotId }),
    ...(plan.committedSnapshotId === undefined
      ? {}
      : { 'committed-snapshot-id': plan.committedSnapshotId }),
    'at-ms': plan.atMs,
    'until-ms': plan.untilMs,
    mode: plan.mode,
    ...(plan.fullAtMs === undefined ? {} : { 'full-at-ms': plan.fullAtMs }),
    ...(plan.stateLocation === undefined ? {} : { 'state-location': plan.stateLocation }),
  };
}

function parsePlan(fields: RecordFields): PlanMark {
  return {
    ...(fields.has('snapshot-id') ? { snapshotId: fields.int64('snapshot-id') } : {}),
    ...(fields.has('committed-snapshot-id')
      ? { committedSnapshotId: fields.int64('committed-snapshot-id') }
      : {}),
    atMs: fields.count('at-ms'),
    untilMs: fields.count('until-ms'),
    mode: fields.oneOf('mode', ['observe', 'commit']),
    ...(fields.has('full-at-ms') ? { fullAtMs: fields.count('full-at-ms') } : {}),
    ...(fields.has('state-location') ? { stateLocation: fields.text('state-location') } : {}),
  };
}
