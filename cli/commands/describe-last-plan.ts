import type { JsonObject } from '../../shared/base/index.ts';
import { formatInstant } from '../../shared/display/index.ts';
import type { PlanMark, TableState } from '../../shared/ledger/index.ts';

const OPERATION = 'rewrite-data-files';

/** What a deployment planned last, when it last planned the whole table, and what its next plan begins with. */
export function describeLastPlan(state: TableState | undefined): string[] {
  const plan = state?.operations[OPERATION]?.plan;
  if (plan === undefined) return [];
  const { atMs, fullAtMs, snapshotId, stateLocation } = plan;
  const whole = fullAtMs === undefined ? 'never' : formatInstant(fullAtMs);
  const next =
    stateLocation === undefined
      ? 'the next plan will be of the whole table'
      : 'the next plan goes on from what it kept';
  return [
    `planned last: ${formatInstant(atMs)}${snapshotId === undefined ? '' : `, snapshot ${snapshotId}`}; ` +
      `the whole table: ${whole}; ${next}`,
  ];
}

export function lastPlanToJson(state: TableState | undefined): JsonObject | null {
  const plan: PlanMark | undefined = state?.operations[OPERATION]?.plan;
  if (plan === undefined) return null;
  const { atMs, fullAtMs, snapshotId, stateLocation } = plan;
  return {
    atMs,
    snapshotId: snapshotId === undefined ? null : String(snapshotId),
    fullAtMs: fullAtMs ?? null,
    stateLocation: stateLocation ?? null,
  };
}
