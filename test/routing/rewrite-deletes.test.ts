import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_GUARD_SETTINGS, LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import type { OperationState } from '../../shared/ledger/index.ts';
import { type RoutingInput, routingView } from '../../shared/routing/index.ts';
import {
  type ExampleSnapshot,
  exampleTable,
  HOUR_MS,
  MINUTE_MS,
  NOW_MS,
} from '../guards/guard-fixture.ts';
import { COMMIT, planOf } from './routing-fixture.ts';

function deleteCommit(
  id: number,
  agoMs: number,
  { positions = 0, equality = 0 }: { readonly positions?: number; readonly equality?: number },
): ExampleSnapshot {
  return {
    id,
    agoMs,
    ...(id === 1 ? {} : { parent: id - 1 }),
    operation: 'delete',
    summary: {
      'added-delete-files': String(positions + equality),
      ...(equality > 0 ? { 'added-equality-delete-files': String(equality) } : {}),
    },
  };
}

function standing(
  snapshots: readonly ExampleSnapshot[],
  operation?: Partial<OperationState>,
  guards: RoutingInput['guards'] = LOWERED_GUARD_SETTINGS,
) {
  const state = { roundCount: 0, failureCount: 0, ...operation };
  const view = routingView({
    metadata: exampleTable({ snapshots }),
    state: { table: 'db.t', operations: { 'rewrite-deletes': state } },
    permission: COMMIT,
    guards,
    nowMs: NOW_MS,
  });
  const found = view.operations.find((each) => each.operation === 'rewrite-deletes');
  assert.ok(found !== undefined);
  return found;
}

describe('rewrite-deletes', () => {
  it('is not due on a table without deletes, planned or not', () => {
    const view = standing([{ id: 1, agoMs: HOUR_MS }]);

    assert.deepEqual([view.standing, view.reason], ['idle', 'few-deletes']);
  });

  it('is due with ten position delete files, or five equality delete files', () => {
    const of = (added: Parameters<typeof deleteCommit>[2]) => {
      const { standing: found, reason } = standing([deleteCommit(1, HOUR_MS, added)]);
      return [found, reason];
    };

    assert.deepEqual(of({ positions: 10 }), ['due', 'delete-file-count']);
    assert.deepEqual(of({ positions: 9, equality: 4 }), ['idle', 'few-deletes']);
    assert.deepEqual(of({ equality: 5 }), ['due', 'equality-delete-file-count']);
  });

  it('waits until what was deleted from is cold', () => {
    const guards = { ...DEFAULT_GUARD_SETTINGS, minFileAgeMsDerivedMax: 15 * MINUTE_MS };

    const view = standing([deleteCommit(1, 10 * MINUTE_MS, { positions: 10 })], {}, guards);

    assert.equal(view.standing, 'waiting');
    assert.equal(view.dueAtMs, NOW_MS + 20 * MINUTE_MS);
  });

  it('counts what came since its own plan', () => {
    const snapshots = [
      deleteCommit(1, 3 * HOUR_MS, { positions: 10 }),
      deleteCommit(2, HOUR_MS, { positions: 9 }),
    ];

    const view = standing(snapshots, { plan: planOf(1, 2 * HOUR_MS) });

    assert.equal(view.standing, 'idle');
    assert.equal(view.triggers[0]?.value, 9);
  });

  it('goes on with what a run left over, whatever the triggers say', () => {
    const owed = { reason: 'held-back', atMs: NOW_MS - 1, sinceMs: NOW_MS - HOUR_MS };

    const view = standing([{ id: 1, agoMs: HOUR_MS }], { owed, plan: planOf(1, HOUR_MS) });

    assert.deepEqual([view.standing, view.reason], ['due', 'held-back']);
  });
});
