import type { MaintenanceOperation } from '../../events/index.ts';
import {
  fileAgeRule,
  type GuardSettings,
  type GuardVerdict,
  heldBackUntilMs,
  isHeldBack,
  judgeRun,
  type Permission,
} from '../guards/index.ts';
import { MAIN_BRANCH, snapshotOfRef, type TableMetadata } from '../iceberg/index.ts';
import type { OperationState, TableState } from '../ledger/index.ts';
import { historySince } from './commit-facts.ts';
import { OPERATION_ROUTES, type OperationRoute } from './routes.ts';
import { REQUEUE_MS } from './settings.ts';
import {
  isBackfill,
  measureTriggers,
  type TriggerFacts,
  type TriggerView,
  triggerText,
} from './triggers.ts';

export interface RoutingInput {
  readonly metadata: TableMetadata;
  /** What the ledger remembers of the table; undefined where it has not been looked at. */
  readonly state: TableState | undefined;
  readonly permission: Permission;
  readonly guards: GuardSettings;
  readonly nowMs: number;
}

/**
 * - `due`: to be run now;
 * - `queued`: a message is on its way, or a run under way;
 * - `waiting`: due later, if nothing else happens, at `dueAtMs`;
 * - `idle`: nothing will be due without another commit;
 * - `off`: never run on this table.
 */
export type OperationStanding = 'due' | 'queued' | 'waiting' | 'idle' | 'off';

/** One operation on one table. */
export interface OperationView {
  readonly operation: MaintenanceOperation;
  readonly standing: OperationStanding;
  /** Why it stands so, or what it will be due for: a stable name, see README.md. */
  readonly reason: string;
  /** One sentence for each thing that counts, for people. */
  readonly details: readonly string[];
  readonly triggers: readonly TriggerView[];
  /** What the rules that spare writers say of a run now; asked only where one might commit. */
  readonly verdicts: readonly GuardVerdict[];
  /** Snapshots since the last plan that each added more than a share of the table. */
  readonly backfillSnapshotIds: readonly bigint[];
  /** When it is due, or to be looked at again; absent where it is idle or off. */
  readonly dueAtMs?: number;
}

/** What is due on a table, what is not, and why: the same for the router, the command and whoever shows it. */
export interface RoutingView {
  readonly permission: Permission;
  readonly operations: readonly OperationView[];
}

/** Says so of an operation that nobody has looked at yet. */
export const NEW_OPERATION: OperationState = { roundCount: 0, failureCount: 0 };

/**
 * What is due on a table: a pure function of its metadata, of what the ledger remembers of it, of what the deployment
 * demands, and of the time. Costs a walk over the snapshots since the last plan; reads nothing.
 *
 * @throws invalid-config — when a property that counts is malformed
 */
export function routingView(input: RoutingInput): RoutingView {
  const operations = OPERATION_ROUTES.map((route) => {
    const state = input.state?.operations[route.operation] ?? NEW_OPERATION;
    return { operation: route.operation, ...viewOperation(route, state, input) };
  });
  return { permission: input.permission, operations };
}

type Standing = Omit<OperationView, 'operation'>;

function viewOperation(
  route: OperationRoute,
  state: OperationState,
  { metadata, permission, guards, nowMs }: RoutingInput,
): Standing {
  if (permission.rule === 'table-disabled') {
    return still('off', 'table-disabled', [permission.reason]);
  }
  const head = snapshotOfRef(metadata, MAIN_BRANCH);
  if (head === undefined) return still('idle', 'no-snapshot', ['the table has no snapshot']);
  const refusal = route.refusal(metadata, head);
  if (refusal !== undefined) return still('off', refusal.reason, [refusal.detail]);
  const known = measure(route, state, { metadata, guards, nowMs });
  const calls = callsFor(state, known, { permission, route });
  const first = earliest(calls);
  const { triggers, backfillSnapshotIds } = known;
  const seen = { triggers, backfillSnapshotIds };
  const { idle } = route;
  if (first === undefined) return { ...still('idle', idle.reason, [idle.detail]), ...seen };
  const details = calls.filter(({ atMs }) => atMs <= nowMs || atMs === first.atMs).map(sentence);
  const view = { reason: first.reason, details, verdicts: [], ...seen };
  const requeueAtMs = (state.queuedAtMs ?? Number.NEGATIVE_INFINITY) + REQUEUE_MS;
  if (nowMs < requeueAtMs) return { ...view, standing: 'queued', dueAtMs: requeueAtMs };
  if (first.atMs > nowMs) return { ...view, standing: 'waiting', dueAtMs: first.atMs };
  // A run that only observes disturbs nobody.
  if (permission.mode === 'observe') return { ...view, standing: 'due', dueAtMs: nowMs };
  const verdicts = judgeRun({
    metadata,
    branch: MAIN_BRANCH,
    operation: route.operation,
    settings: guards,
    nowMs,
    firstDueAtMs: state.firstDueAtMs ?? nowMs,
  });
  const heldUntilMs = heldBackUntilMs(verdicts);
  if (heldUntilMs === undefined) return { ...view, verdicts, standing: 'due', dueAtMs: nowMs };
  const held = verdicts.filter(isHeldBack).map(({ detail }) => detail);
  const heldDetails = [...details, ...held];
  return { ...view, verdicts, details: heldDetails, standing: 'waiting', dueAtMs: heldUntilMs };
}

function still(standing: 'idle' | 'off', reason: string, details: readonly string[]): Standing {
  return { standing, reason, details, triggers: [], verdicts: [], backfillSnapshotIds: [] };
}

interface Known {
  readonly triggers: readonly TriggerView[];
  readonly backfillSnapshotIds: readonly bigint[];
  /** False where the planned snapshot is gone. */
  readonly isKnown: boolean;
  /** When the oldest files that may not have been planned are old enough. */
  readonly oldEnoughAtMs: number;
}

function measure(
  route: OperationRoute,
  { plan }: OperationState,
  rules: {
    readonly metadata: TableMetadata;
    readonly guards: GuardSettings;
    readonly nowMs: number;
  },
): Known {
  const { metadata, guards, nowMs } = rules;
  const { minFileAgeMs } = fileAgeRule({ metadata, settings: guards, nowMs });
  const { commits, ownCommits, isKnown, oldestMs } = historySince(metadata, plan);
  const facts: TriggerFacts = {
    commits,
    ownCommits,
    minFileAgeMs,
    fileSizeBytesMin: route.fileSizeBytesMin(metadata),
    plannedAtMs: plan?.atMs,
    nowMs,
  };
  const triggers = measureTriggers(route.triggers, facts, metadata.properties);
  const backfill = triggers.find(({ name }) => name === 'backfill');
  const backfills = commits.filter((commit) => isBackfill(commit, backfill?.threshold ?? 1));
  return {
    triggers,
    backfillSnapshotIds: backfills.map(({ snapshotId }) => snapshotId),
    isKnown,
    oldEnoughAtMs: (plan?.atMs ?? oldestMs ?? nowMs) + minFileAgeMs,
  };
}

/** Something that calls for a run, from a time on. */
interface Call {
  readonly reason: string;
  readonly atMs: number;
  readonly trigger?: TriggerView;
}

/** Marks before whose time a run would end as the last one did, whatever the triggers say. */
const HOLDING_REASONS: readonly string[] = ['retry', 'busy', 'continuation', 'held-back'];

function callsFor(
  state: OperationState,
  known: Known,
  {
    permission,
    route: { plansUnseen },
  }: { readonly permission: Permission; readonly route: OperationRoute },
): readonly Call[] {
  const { plan, owed } = state;
  if (owed !== undefined && HOLDING_REASONS.includes(owed.reason)) return [owed];
  const calls: Call[] = owed === undefined ? [] : [owed];
  const unseen =
    plan === undefined ? 'never-planned' : known.isKnown ? undefined : 'history-unknown';
  if (unseen !== undefined && plansUnseen) {
    calls.push({ reason: unseen, atMs: known.oldEnoughAtMs });
  }
  if (plan?.mode === 'observe' && permission.mode === 'commit') {
    calls.push({ reason: 'allowed-since', atMs: plan.atMs });
  }
  for (const trigger of known.triggers) {
    const { name, metAtMs } = trigger;
    if (metAtMs !== undefined) calls.push({ reason: name, atMs: metAtMs, trigger });
  }
  return calls;
}

function earliest(calls: readonly Call[]): Call | undefined {
  return calls.toSorted((one, other) => one.atMs - other.atMs)[0];
}

const SENTENCES: Readonly<Record<string, string>> = {
  'never-planned': 'the table has not been planned yet',
  'history-unknown':
    'the snapshot that was planned last is gone, so nobody knows what was added since',
  'allowed-since': 'the last plan was only observed, and the table is allowed now',
  request: 'somebody asked for it',
  busy: 'another run was working on the table',
  continuation: 'the last run left work over',
  'failed-groups': 'some file groups of the last run failed',
  'held-back': 'the last run had to wait',
  retry: 'the last run failed',
};

function sentence({ reason, trigger }: Call): string {
  return trigger === undefined ? (SENTENCES[reason] ?? reason) : triggerText(trigger);
}
