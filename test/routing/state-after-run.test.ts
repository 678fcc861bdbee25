import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OperationState, PlanMark } from '../../shared/ledger/index.ts';
import { ROUNDS_MAX, type RunEnding, stateAfterRun } from '../../shared/routing/index.ts';
import { MINUTE_MS, NOW_MS } from '../guards/guard-fixture.ts';
import { stateWith } from './routing-fixture.ts';

const STARTED_MS = NOW_MS - 5 * MINUTE_MS;
const PLAN: PlanMark = { snapshotId: 7n, atMs: STARTED_MS, untilMs: 1, mode: 'commit' };

function after(before: Partial<OperationState>, ending: RunEnding): OperationState {
  const run = { operation: 'rewrite-data-files', ending, startedAtMs: STARTED_MS } as const;
  const state = stateAfterRun(stateWith(before), { ...run, nowMs: NOW_MS });
  assert.deepEqual(state.look, { atMs: NOW_MS, reason: 'run-ended', failureCount: 0 });
  return state.operations['rewrite-data-files'] ?? { roundCount: -1, failureCount: -1 };
}

const QUEUED = {
  queuedAtMs: STARTED_MS - 1,
  dueAtMs: NOW_MS + 1,
  dueReason: 'commit-count',
  firstDueAtMs: STARTED_MS - 9,
} as const;

describe('a run that ended', () => {
  it('planned answers the message, whatever it was for', () => {
    const owed = { reason: 'request', atMs: 1, sinceMs: STARTED_MS };
    const state = after({ ...QUEUED, owed, failureCount: 3 }, { ending: 'planned', plan: PLAN });

    assert.deepEqual(state, { plan: PLAN, roundCount: 0, failureCount: 0 });
  });

  it('planned does not answer what was asked for while it was running', () => {
    const owed = { reason: 'request', atMs: STARTED_MS + 1, sinceMs: STARTED_MS + 1 };

    for (const ending of [{ ending: 'planned', plan: PLAN }, { ending: 'nothing' }] as const) {
      const state = after({ ...QUEUED, owed }, ending);

      assert.deepEqual([state.owed, state.dueAtMs], [owed, STARTED_MS + 1]);
    }
  });

  it('planned keeps what only full plans and their state say', () => {
    const plan = { ...PLAN, snapshotId: 6n, fullAtMs: 3, stateLocation: 's3://state/p.json' };

    const state = after({ plan }, { ending: 'planned', plan: PLAN });

    assert.deepEqual(state.plan, { ...plan, ...PLAN });
  });

  it('with work left is due at once, sixteen times in a row, and then in an hour', () => {
    let state: OperationState = { roundCount: 0, failureCount: 0 };
    const work = { ending: 'planned', plan: PLAN, left: 'work' } as const;
    for (let round = 1; round < ROUNDS_MAX; round++) {
      state = after(state, round % 2 ? work : { ending: 'out-of-time' });
      assert.deepEqual(
        [state.roundCount, state.dueAtMs, state.dueReason],
        [round, NOW_MS, 'continuation'],
      );
    }

    state = after(state, work);

    assert.deepEqual([state.roundCount, state.dueAtMs], [0, NOW_MS + 60 * MINUTE_MS]);
  });

  it('with failures is tried again later and later, and at last once a day', () => {
    const waitsOf = (ending: RunEnding): readonly (number | undefined)[] => {
      let state: OperationState = { roundCount: 4, failureCount: 0 };
      return Array.from({ length: 13 }, () => {
        state = after(state, ending);
        return state.dueAtMs === undefined ? undefined : (state.dueAtMs - NOW_MS) / MINUTE_MS;
      });
    };
    const waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440];

    assert.deepEqual(waitsOf({ ending: 'failed' }), waits);
    assert.deepEqual(waitsOf({ ending: 'planned', plan: PLAN, left: 'failures' }), waits);
  });

  it('held back is due when the rules let it go on, and remembers since when', () => {
    const untilMs = NOW_MS + 9;
    const known = after(QUEUED, { ending: 'held-back', untilMs });
    const unknown = after({}, { ending: 'held-back', untilMs });

    assert.deepEqual([known.dueAtMs, known.firstDueAtMs], [untilMs, QUEUED.firstDueAtMs]);
    assert.deepEqual([unknown.dueAtMs, unknown.firstDueAtMs], [untilMs, STARTED_MS]);
    assert.equal(known.queuedAtMs, undefined);
  });

  it('busy is due when the other one is over, at the earliest now', () => {
    assert.equal(after(QUEUED, { ending: 'busy', untilMs: NOW_MS + 3 }).dueAtMs, NOW_MS + 3);
    assert.equal(after(QUEUED, { ending: 'busy', untilMs: NOW_MS - 3 }).dueAtMs, NOW_MS);
  });
});
