import {
  type MaintenanceOperation,
  type MaintenanceRequest,
  serializeMaintenanceRequest,
} from '../../events/index.ts';
import { type Clock, type IcebergError, isIcebergError, type Random } from '../base/index.ts';
import {
  type Catalog,
  formatTableIdentifier,
  type TableIdentifier,
  type TablePointer,
} from '../catalog/index.ts';
import { permissionFor } from '../guards/index.ts';
import { type TableMetadata, tableProperty } from '../iceberg/index.ts';
import { type Ledger, type SeenMetadata, stateDueAtMs, type TableState } from '../ledger/index.ts';
import type { MessageQueue } from '../queue/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { loadMetadata } from '../table/index.ts';
import { reportReadable, reportUnreadable } from './report-look.ts';
import {
  NEW_OPERATION,
  type OperationView,
  type RoutingView,
  routingView,
} from './routing-view.ts';
import type { RoutingSettings } from './settings.ts';
import {
  ofSameTable,
  queued,
  stateAfterFailure,
  stateAfterLook,
  withLook,
} from './state-after-look.ts';

/** Why somebody looks at a table; looks are counted by it. */
export type LookCause =
  /** A record of the catalog's stream. */
  | 'stream'
  /** The sweep of the ledger, or of the catalog. */
  | 'due'
  | 'catalog'
  /** A run ended; it may look whatever the interval. */
  | 'run-ended';

export interface LookRequest {
  readonly identifier: TableIdentifier;
  readonly cause: LookCause;
  /** Follows what is sent through logs and reports. */
  readonly correlationId: string;
}

export interface LookPorts {
  readonly catalog: Pick<Catalog, 'loadTable'>;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  readonly queues: OperationQueues;
  readonly settings: RoutingSettings;
  readonly clock: Clock;
  readonly random: Random;
}

/** Where the messages for each operation go. */
export type OperationQueues = Readonly<Record<MaintenanceOperation, Pick<MessageQueue, 'send'>>>;

/** What a look came to. */
export type LookOutcome = {
  readonly table: string;
} /** The pointer is where it was, and nothing is due: two reads. */ & (
  | { readonly outcome: 'unchanged' }
  /** The metadata was read less than the interval ago: the table is looked at once it is over. */
  | { readonly outcome: 'rate-limited'; readonly untilMs: number }
  | {
      readonly outcome: 'looked';
      readonly view: RoutingView;
      readonly sent: readonly SentMessage[];
    }
  /** The catalog has no such table (any more): nothing is due. */
  | { readonly outcome: 'dropped' }
  /** Its metadata cannot be read, or a property not be understood: looked at again at `retryAtMs`. */
  | {
      readonly outcome: 'unreadable';
      readonly error: IcebergError;
      readonly retryAtMs: number;
      /** False where it has been reported before. */
      readonly isNews: boolean;
    }
);

export interface SentMessage {
  readonly operation: MaintenanceOperation;
  readonly reason: string;
}

const REASON_CHARS_MAX = 1024;

/**
 * Looks at a table: what is due gets a message, and what will be due a mark in the ledger. A table that nothing happened
 * to costs one read of its pointer and one of its state; another one a GET of its metadata, at most once in an interval, and a
 * write. Messages are sent before the state is written: a second message is harmless, a missing one is not.
 *
 * @throws unavailable, access-denied, not-found, invalid-config — when the catalog, the ledger or a queue demands it: the
 * look has to be repeated; all that concerns the table alone is an outcome
 */
export async function lookAtTable(
  { identifier, cause, correlationId }: LookRequest,
  ports: LookPorts,
): Promise<LookOutcome> {
  const table = formatTableIdentifier(identifier);
  const [pointer, state] = await Promise.all([
    readPointer(identifier, ports),
    ports.ledger.states.read(table),
  ]);
  if (pointer === undefined) return forgetTable(table, state, ports);
  const nowMs = ports.clock.nowMs();
  if (!hasReason(table, { pointer, state, nowMs }, ports)) return { table, outcome: 'unchanged' };
  const nextReadAtMs = state?.seen?.nextReadAtMs ?? 0;
  if (nowMs < nextReadAtMs && cause !== 'run-ended') {
    await ports.ledger.states.change(table, (now) => withLook(now, nextReadAtMs, 'interval'));
    return { table, outcome: 'rate-limited', untilMs: nextReadAtMs };
  }
  return judgeTable({ table, pointer, state, correlationId }, ports);
}

/** Undefined where there is no such table. */
async function readPointer(
  identifier: TableIdentifier,
  { catalog }: LookPorts,
): Promise<TablePointer | undefined> {
  try {
    return await catalog.loadTable(identifier);
  } catch (error) {
    // Without `table`, the catalog itself is not there.
    if (isIcebergError(error, 'not-found') && error.context['table'] !== undefined)
      return undefined;
    throw error;
  }
}

async function forgetTable(
  table: string,
  state: TableState | undefined,
  { ledger }: LookPorts,
): Promise<LookOutcome> {
  if (state !== undefined && stateDueAtMs(state) !== undefined) {
    await ledger.states.change(table, () => ({ table, operations: {} }));
  }
  return { table, outcome: 'dropped' };
}

/** Whether there is anything to see: the pointer has moved, something is due, or the table is allowed since. */
function hasReason(
  table: string,
  {
    pointer,
    state,
    nowMs,
  }: {
    readonly pointer: TablePointer;
    readonly state: TableState | undefined;
    readonly nowMs: number;
  },
  { settings }: LookPorts,
): boolean {
  if (state?.seen?.metadataLocation !== pointer.metadataLocation) return true;
  if ((stateDueAtMs(state) ?? Number.POSITIVE_INFINITY) <= nowMs) return true;
  const wasObserved = Object.values(state.operations).some(({ plan }) => plan?.mode === 'observe');
  if (!wasObserved) return false;
  // The deployment's list may have changed, which moves no pointer.
  const { isEnabled } = state.seen;
  const properties: Record<string, string> =
    isEnabled === undefined ? {} : { 'firn.enabled': String(isEnabled) };
  return permissionFor(table, properties, settings).mode === 'commit';
}

interface Judged {
  readonly table: string;
  readonly pointer: TablePointer;
  readonly state: TableState | undefined;
  readonly correlationId: string;
}

async function judgeTable(judged: Judged, ports: LookPorts): Promise<LookOutcome> {
  const { table, pointer, state } = judged;
  const nowMs = ports.clock.nowMs();
  let read: {
    readonly metadata: TableMetadata;
    readonly view: RoutingView;
    readonly seen: SeenMetadata;
  };
  try {
    const metadata = await loadMetadata(pointer.metadataLocation, ports);
    read = {
      metadata,
      seen: seenMetadata(pointer, metadata, { settings: ports.settings, nowMs }),
      view: viewOf(metadata, state, { table, nowMs, ports }),
    };
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    return failLook(judged, error, ports);
  }
  const due = read.view.operations.filter(({ standing }) => standing === 'due');
  for (const operation of due) await sendMessage(operation, judged, ports);
  await rememberLook(judged, { ...read, sent: new Set(due.map(nameOf)), nowMs }, ports);
  if ((state?.look?.failureCount ?? 0) > 0) await reportReadable(table, ports);
  const sent = due.map(({ operation, reason }) => ({ operation, reason }));
  return { table, outcome: 'looked', view: read.view, sent };
}

function nameOf({ operation }: OperationView): string {
  return operation;
}

function viewOf(
  metadata: TableMetadata,
  state: TableState | undefined,
  {
    table,
    nowMs,
    ports,
  }: { readonly table: string; readonly nowMs: number; readonly ports: LookPorts },
): RoutingView {
  return routingView({
    metadata,
    state: state === undefined ? undefined : ofSameTable(state, metadata),
    permission: permissionFor(table, metadata.properties, ports.settings),
    guards: ports.settings.guards,
    nowMs,
  });
}

function seenMetadata(
  { metadataLocation }: TablePointer,
  { properties }: TableMetadata,
  { settings, nowMs }: { readonly settings: RoutingSettings; readonly nowMs: number },
): SeenMetadata {
  const isEnabled = tableProperty(properties, 'firn.enabled');
  const intervalMs = tableProperty(properties, 'firn.routing.min-interval-ms') ?? 0;
  return {
    metadataLocation,
    readAtMs: nowMs,
    nextReadAtMs: nowMs + Math.max(intervalMs, settings.routingIntervalMsFloor),
    ...(isEnabled === undefined ? {} : { isEnabled }),
  };
}

async function sendMessage(
  { operation, details }: OperationView,
  { table, state, correlationId }: Judged,
  { queues }: LookPorts,
): Promise<void> {
  const request: MaintenanceRequest = {
    operation,
    table,
    reason: details.join('; ').slice(0, REASON_CHARS_MAX),
    correlationId,
    round: (state?.operations[operation] ?? NEW_OPERATION).roundCount,
  };
  await queues[operation].send({ body: serializeMaintenanceRequest(request), groupId: table });
}

async function rememberLook(
  { table, state: base }: Judged,
  look: {
    readonly metadata: TableMetadata;
    readonly seen: SeenMetadata;
    readonly sent: ReadonlySet<string>;
    readonly nowMs: number;
    readonly view: RoutingView;
  },
  ports: LookPorts,
): Promise<void> {
  const { metadata, seen, sent, nowMs } = look;
  await ports.ledger.states.change(table, (current) => {
    const known = ofSameTable(current, metadata);
    if (isSeenSince(current, base)) return overtaken(current, { sent, nowMs });
    // On a state that has changed meanwhile, the same metadata is judged anew.
    const view = viewOf(metadata, known, { table, nowMs, ports });
    return stateAfterLook(known, { tableUuid: metadata.tableUuid, view, seen, sent, nowMs });
  });
}

/** Whether somebody else has read other metadata since this look began: theirs may be the newer. */
function isSeenSince(current: TableState, base: TableState | undefined): boolean {
  return (
    current.seen?.metadataLocation !== base?.seen?.metadataLocation ||
    current.seen?.readAtMs !== base?.seen?.readAtMs
  );
}

function overtaken(
  current: TableState,
  { sent, nowMs }: { readonly sent: ReadonlySet<string>; readonly nowMs: number },
): TableState {
  const operations = Object.fromEntries(
    [...sent].map((name) => {
      const state = current.operations[name] ?? NEW_OPERATION;
      return [name, queued(state, state.dueReason ?? 'overtaken', nowMs)];
    }),
  );
  const marked = { ...current, operations: { ...current.operations, ...operations } };
  return withLook(marked, current.seen?.nextReadAtMs ?? nowMs, 'overtaken');
}

async function failLook(
  { table, pointer }: Judged,
  error: IcebergError,
  ports: LookPorts,
): Promise<LookOutcome> {
  const { ledger, settings, clock } = ports;
  const nowMs = clock.nowMs();
  const { metadataLocation } = pointer;
  const nextReadAtMs = nowMs + settings.routingIntervalMsFloor;
  const seen = { metadataLocation, readAtMs: nowMs, nextReadAtMs };
  const after = await ledger.states.change(table, (current) =>
    stateAfterFailure(current, { seen, reason: error.kind, nowMs }),
  );
  const isNews = (await reportUnreadable(table, { error, metadataLocation }, ports)) === 'written';
  return { table, outcome: 'unreadable', error, retryAtMs: after.look?.atMs ?? nowMs, isNews };
}
