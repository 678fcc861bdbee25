import type { Permission } from '../../shared/guards/index.ts';
import type { OperationState, PlanMark, TableState } from '../../shared/ledger/index.ts';
import {
  DEFAULT_ROUTING_SETTINGS,
  type OperationView,
  type RoutingInput,
  routingView,
} from '../../shared/routing/index.ts';
import {
  type ExampleSnapshot,
  type ExampleTable,
  exampleTable,
  NOW_MS,
} from '../guards/guard-fixture.ts';

export const MIB = 1024 * 1024;

export const COMMIT: Permission = {
  mode: 'commit',
  rule: 'table-enabled',
  reason: 'it is allowed',
};
export const OBSERVE: Permission = { mode: 'observe', rule: 'not-allowed', reason: 'it is not' };

/** A commit of small files, so long ago. */
export function smallCommit(
  id: number,
  agoMs: number,
  {
    files = 1,
    bytes = files * MIB,
    summary = {},
  }: {
    readonly files?: number;
    readonly bytes?: number;
    readonly summary?: Readonly<Record<string, string>>;
  } = {},
): ExampleSnapshot {
  return {
    id,
    agoMs,
    ...(id === 1 ? {} : { parent: id - 1 }),
    summary: {
      'added-data-files': String(files),
      'added-files-size': String(bytes),
      'total-files-size': String(1024 * 1024 * MIB),
      ...summary,
    },
  };
}

export function planOf(snapshotId: number, agoMs: number, more: Partial<PlanMark> = {}): PlanMark {
  const atMs = NOW_MS - agoMs;
  return { snapshotId: BigInt(snapshotId), atMs, untilMs: atMs, mode: 'commit', ...more };
}

export function stateWith(operation: Partial<OperationState>): TableState {
  const state = { roundCount: 0, failureCount: 0, ...operation };
  return { table: 'db.t', operations: { 'rewrite-data-files': state } };
}

/** How compaction stands. Files need no age where the settings are not given. */
export function standing(
  table: ExampleTable,
  operation: Partial<OperationState> | undefined,
  input: Partial<Omit<RoutingInput, 'metadata' | 'state'>> = {},
): OperationView {
  const view = routingView({
    metadata: exampleTable(table),
    state: operation === undefined ? undefined : stateWith(operation),
    permission: COMMIT,
    guards: { ...DEFAULT_ROUTING_SETTINGS.guards, minFileAgeMsFloor: 0, minFileAgeMsDerivedMax: 0 },
    nowMs: NOW_MS,
    ...input,
  });
  const [compaction] = view.operations;
  if (compaction === undefined) throw new TypeError('compaction has no row');
  return compaction;
}
