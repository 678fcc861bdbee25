import type { JsonObject } from '../../shared/base/index.ts';
import { formatInstant, printable } from '../../shared/display/index.ts';
import {
  DEFAULT_GUARD_SETTINGS,
  type Permission,
  permissionFor,
} from '../../shared/guards/index.ts';
import type { TableMetadata } from '../../shared/iceberg/index.ts';
import { stateDueAtMs, type TableState } from '../../shared/ledger/index.ts';
import {
  type OperationView,
  ofSameTable,
  type RoutingView,
  routingView,
  triggerText,
} from '../../shared/routing/index.ts';
import { indentedTable } from './indented-table.ts';

/** How a deployment sees the table, and when the next one will look. */
export interface RoutingAnswer {
  readonly view: RoutingView;
  readonly nextLookAtMs: number | undefined;
}

/**
 * The view that the deployment's router has, as far as a command can know its settings: guards as shipped, and allowed what
 * the table says or, where it says nothing, what was allowed when it was planned last.
 *
 * @throws invalid-config — when a property that counts is malformed
 */
export function routingAnswer(
  name: string,
  {
    metadata,
    state,
    nowMs,
  }: {
    readonly metadata: TableMetadata;
    readonly state: TableState | undefined;
    readonly nowMs: number;
  },
): RoutingAnswer {
  const known = state === undefined ? undefined : ofSameTable(state, metadata);
  const permission = permissionSeen(name, metadata, known);
  const guards = DEFAULT_GUARD_SETTINGS;
  const view = routingView({ metadata, state: known, permission, guards, nowMs });
  return { view, nextLookAtMs: state === undefined ? undefined : stateDueAtMs(state) };
}

function permissionSeen(
  name: string,
  { properties }: TableMetadata,
  state: TableState | undefined,
): Permission {
  const own = permissionFor(name, properties, { enabledTables: [], isObserving: false });
  if (own.rule !== 'not-allowed') return own;
  const wasAllowed = Object.values(state?.operations ?? {}).some(
    ({ plan }) => plan?.mode === 'commit',
  );
  if (!wasAllowed) return own;
  return { mode: 'commit', rule: 'deployment-list', reason: 'it was allowed at the last plan' };
}

export function routingToJson({ view, nextLookAtMs }: RoutingAnswer): JsonObject {
  return {
    nextLookAtMs: nextLookAtMs ?? null,
    operations: view.operations.map(operationToJson),
  };
}

function operationToJson(view: OperationView): JsonObject {
  const { operation, standing, reason, details, triggers, backfillSnapshotIds, dueAtMs } = view;
  return {
    operation,
    standing,
    reason,
    details: [...details],
    dueAtMs: dueAtMs ?? null,
    triggers: triggers.map((trigger) => ({ ...trigger })),
    verdicts: view.verdicts.map(({ guard, state, detail }) => ({ guard, state, detail })),
    backfillSnapshotIds: backfillSnapshotIds.map(String),
  };
}

export function describeRouting(
  { view, nextLookAtMs }: RoutingAnswer,
  { hasState, widthMax }: { readonly hasState: boolean; readonly widthMax: number | undefined },
): string[] {
  const operations = view.operations.flatMap((operation) => describeOperation(operation, widthMax));
  return [...operations, nextLookText(hasState, nextLookAtMs)];
}

function describeOperation(view: OperationView, widthMax: number | undefined): string[] {
  const { operation, standing, reason, dueAtMs, details, triggers, backfillSnapshotIds } = view;
  const until = standing === 'waiting' && dueAtMs !== undefined;
  const head = `${operation}: ${standing}${until ? ` until ${formatInstant(dueAtMs)}` : ''} (${reason})`;
  const rows = triggers.map((trigger) => [
    triggerText(trigger),
    trigger.metAtMs === undefined ? 'not met' : metText(trigger.isMet, trigger.metAtMs),
    trigger.property,
  ]);
  const backfills = backfillSnapshotIds.map((id) => `  snapshot ${id} is a backfill`);
  return [
    head,
    ...details.map((detail) => `  ${printable(detail)}`),
    ...(rows.length === 0 ? [] : indentedTable(rows, { widthMax })),
    ...backfills,
  ];
}

function metText(isMet: boolean, metAtMs: number): string {
  return isMet ? 'met' : `met at ${formatInstant(metAtMs)}`;
}

function nextLookText(hasState: boolean, nextLookAtMs: number | undefined): string {
  if (!hasState) return 'no deployment has looked at the table yet';
  if (nextLookAtMs === undefined) return 'next look: with the next commit';
  return `next look: with the next commit, or from ${formatInstant(nextLookAtMs)} on`;
}
