import type { MaintenanceOperation } from '../../events/index.ts';
import type { OperationState, OwedMark, PlanMark, TableState } from '../ledger/index.ts';
import { backoffMs } from './backoff.ts';
import { NEW_OPERATION } from './routing-view.ts';
import { withLook } from './state-after-look.ts';

/** How a run of an operation ended, as far as what is due next depends on it. */
export type RunEnding =
  /** The table was planned, and what was planned was done as far as it could be, or only observed. */
  | {
      readonly ending: 'planned';
      readonly plan: PlanMark;
      /** `work`: there was more than the run had time or budget for; `failures`: some of it failed by itself. */
      readonly left?: 'work' | 'failures';
    }
  /** There was nothing to plan, whatever the reason; the next look says. */
  | { readonly ending: 'nothing' }
  | { readonly ending: 'held-back'; readonly untilMs: number }
  /** Another run has the table. */
  | { readonly ending: 'busy'; readonly untilMs: number }
  /** It stopped before it could say what it planned, since time ran out. */
  | { readonly ending: 'out-of-time' }
  | { readonly ending: 'failed' };

export interface EndedRun {
  readonly operation: MaintenanceOperation;
  readonly ending: RunEnding;
  /** What was marked after that was not known to the run. */
  readonly startedAtMs: number;
  readonly nowMs: number;
}

/** So many runs in a row that leave work over are followed by a pause: either it never ends, or it makes no progress. */
export const ROUNDS_MAX = 16;
const ROUNDS_PAUSE_MS = 60 * 60_000;

/**
 * The state after a run, before the table is looked at again. The one place that marks what was planned. The mark for that look
 * is part of it: should the process end in between, the sweep looks.
 */
export function stateAfterRun(state: TableState, run: EndedRun): TableState {
  const { operation, nowMs } = run;
  const before = state.operations[operation] ?? NEW_OPERATION;
  const after = operationAfterRun(before, run);
  const operations = { ...state.operations, [operation]: after };
  return withLook({ ...state, operations }, nowMs, 'run-ended');
}

function operationAfterRun(
  state: OperationState,
  { ending: run, startedAtMs, nowMs }: EndedRun,
): OperationState {
  const { owed, queuedAtMs, dueAtMs, dueReason, firstDueAtMs, ...kept } = state;
  const isOwedStill = owed !== undefined && owed.sinceMs > startedAtMs;
  const mark = (reason: string, inMs: number): OwedMark => ({
    reason,
    atMs: nowMs + Math.max(0, inMs),
    sinceMs: nowMs,
  });
  const first = firstDueAtMs === undefined ? {} : { firstDueAtMs };
  switch (run.ending) {
    case 'nothing':
      return { ...settled(kept, isOwedStill ? owed : undefined), roundCount: 0, failureCount: 0 };
    case 'held-back':
      return {
        ...settled(kept, mark('held-back', run.untilMs - nowMs)),
        firstDueAtMs: firstDueAtMs ?? startedAtMs,
      };
    case 'busy':
      // The run that has the table may have begun too early to see what this one was to do.
      return { ...settled(kept, mark('busy', run.untilMs - nowMs)), ...first };
    case 'failed': {
      const failureCount = state.failureCount + 1;
      const retry = mark('retry', backoffMs(failureCount));
      return { ...settled(kept, retry), ...first, failureCount };
    }
    case 'out-of-time':
      return { ...nextRound(kept, mark), ...first };
    case 'planned': {
      const planned = { ...kept, plan: planAfter(state.plan, run.plan) };
      if (run.left === 'work') return { ...nextRound(planned, mark), failureCount: 0 };
      if (run.left === undefined) {
        const left = settled(planned, isOwedStill ? owed : undefined);
        return { ...left, roundCount: 0, failureCount: 0 };
      }
      const failureCount = state.failureCount + 1;
      const failed = mark('failed-groups', backoffMs(failureCount));
      return { ...settled(planned, failed), roundCount: 0, failureCount };
    }
  }
}

/** What the run does not say stays, but for what the one before committed. */
function planAfter(before: PlanMark | undefined, plan: PlanMark): PlanMark {
  const { committedSnapshotId: _, ...kept } = before ?? {};
  return { ...kept, ...plan };
}

/** Again at once, until there were too many rounds in a row. */
function nextRound(
  state: UnmarkedState,
  mark: (reason: string, inMs: number) => OwedMark,
): OperationState {
  const roundCount = state.roundCount + 1;
  if (roundCount < ROUNDS_MAX) return { ...settled(state, mark('continuation', 0)), roundCount };
  return { ...settled(state, mark('continuation', ROUNDS_PAUSE_MS)), roundCount: 0 };
}

type UnmarkedState = Omit<OperationState, 'owed' | 'dueAtMs' | 'queuedAtMs'>;

function settled(state: UnmarkedState, owed: OwedMark | undefined): OperationState {
  return owed === undefined
    ? state
    : { ...state, owed, dueAtMs: owed.atMs, dueReason: owed.reason };
}
