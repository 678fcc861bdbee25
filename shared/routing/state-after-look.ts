import type { TableMetadata } from '../iceberg/index.ts';
import type { LookMark, OperationState, SeenMetadata, TableState } from '../ledger/index.ts';
import { backoffMs } from './backoff.ts';
import { NEW_OPERATION, type OperationView, type RoutingView } from './routing-view.ts';
import { REQUEUE_MS } from './settings.ts';

/** Why a table is to be looked at again, beside the kinds of errors: stable names. */
type LookReason = 'interval' | 'overtaken' | 'run-ended';

/** What is known of the table that has the name now; of another one before it, nothing. */
export function ofSameTable(state: TableState, { tableUuid }: TableMetadata): TableState {
  if (state.tableUuid === undefined || state.tableUuid === tableUuid) return state;
  return { table: state.table, operations: {} };
}

export interface LookResult {
  readonly tableUuid: string | undefined;
  readonly view: RoutingView;
  readonly seen: SeenMetadata;
  /** Operations that a message was sent for. */
  readonly sent: ReadonlySet<string>;
  readonly nowMs: number;
}

/** The state after metadata was read and judged. Whatever is due, queued or waiting has a time in it. */
export function stateAfterLook(state: TableState, look: LookResult): TableState {
  const { tableUuid, view, seen } = look;
  const viewed = view.operations.map((operation) => [
    operation.operation,
    operationAfterLook(state.operations[operation.operation] ?? NEW_OPERATION, operation, look),
  ]);
  return {
    table: state.table,
    ...(tableUuid === undefined ? {} : { tableUuid }),
    seen,
    operations: { ...state.operations, ...Object.fromEntries(viewed) },
  };
}

function operationAfterLook(
  state: OperationState,
  view: OperationView,
  { sent, nowMs }: Pick<LookResult, 'sent' | 'nowMs'>,
): OperationState {
  if (sent.has(view.operation)) return queued(state, view.reason, nowMs);
  const { dueAtMs: _, dueReason: __, queuedAtMs, firstDueAtMs, owed, ...kept } = state;
  const stillOwed = owed === undefined ? {} : { owed };
  const dueReason = view.reason;
  switch (view.standing) {
    case 'queued':
      return state;
    case 'due':
      // Nobody was told: this was found when another change of the state came in between.
      return {
        ...kept,
        ...stillOwed,
        firstDueAtMs: firstDueAtMs ?? nowMs,
        dueAtMs: nowMs,
        dueReason,
      };
    case 'waiting': {
      const isHeldBack = view.verdicts.length > 0;
      const first = firstDueAtMs ?? (isHeldBack ? nowMs : undefined);
      return {
        ...kept,
        ...stillOwed,
        ...(first === undefined ? {} : { firstDueAtMs: first }),
        ...(view.dueAtMs === undefined ? {} : { dueAtMs: view.dueAtMs }),
        dueReason,
      };
    }
    case 'idle':
    case 'off':
      return kept;
  }
}

/** A message was sent: should nobody answer, another one is. */
export function queued(state: OperationState, dueReason: string, nowMs: number): OperationState {
  return {
    ...state,
    firstDueAtMs: state.firstDueAtMs ?? nowMs,
    dueAtMs: nowMs + REQUEUE_MS,
    dueReason,
    queuedAtMs: nowMs,
  };
}

/** Asks for a look at a time, unless there will be one by then; a state that says so already is returned as it is. */
export function withLook(state: TableState, atMs: number, reason: LookReason): TableState {
  const { look } = state;
  if (look !== undefined && look.atMs <= atMs) return state;
  return { ...state, look: { atMs, reason, failureCount: look?.failureCount ?? 0 } };
}

/**
 * The state after a look that failed. The next one is further away each time, and nothing of the table is due before: a table
 * that nobody can read is not asked for again and again.
 */
export function stateAfterFailure(
  state: TableState,
  { seen, reason, nowMs }: Pick<LookResult, 'seen' | 'nowMs'> & { readonly reason: string },
): TableState {
  const failureCount = (state.look?.failureCount ?? 0) + 1;
  const look: LookMark = { atMs: nowMs + backoffMs(failureCount), reason, failureCount };
  const operations = Object.entries(state.operations).map(([name, operation]) => {
    const { dueAtMs } = operation;
    if (dueAtMs === undefined || dueAtMs >= look.atMs) return [name, operation];
    return [name, { ...operation, dueAtMs: look.atMs }];
  });
  const isEnabled = state.seen?.isEnabled;
  return {
    ...state,
    seen: { ...seen, ...(isEnabled === undefined ? {} : { isEnabled }) },
    look,
    operations: Object.fromEntries(operations),
  };
}
