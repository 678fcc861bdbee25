/** Stable: reports, logs and alarms name them. */
export type GuardName = 'commit-interval' | 'write-audit-publish' | 'foreign-maintainer';

/** A rule that has something to say about a run. */
export interface GuardVerdict {
  readonly guard: GuardName;
  /** `overruled`: the rule applies, but a wait that is over or somebody's decision lets the run go on. */
  readonly state: 'held-back' | 'overruled';
  /** One sentence for people. */
  readonly detail: string;
  /** What it was decided by; times and durations in milliseconds, ids as text. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** When the rule would let the run go on, if nothing else happens. */
  readonly dueAtMs: number;
}

export function isHeldBack({ state }: GuardVerdict): boolean {
  return state === 'held-back';
}

/** When the last of the rules that hold a run back would let it go on; undefined where none does. */
export function heldBackUntilMs(verdicts: readonly GuardVerdict[]): number | undefined {
  const times = verdicts.filter(isHeldBack).map(({ dueAtMs }) => dueAtMs);
  return times.length === 0 ? undefined : Math.max(...times);
}
