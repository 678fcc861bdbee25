import type { Clock } from './clock.ts';
import { IcebergError } from './errors.ts';

/** The point in time by which work must be over. It travels with the work. */
export interface Deadline {
  /** Milliseconds left; negative once the deadline has passed. */
  remainingMs(): number;
}

/** A deadline `durationMs` from now on `clock`. */
export function deadlineAfter(clock: Clock, durationMs: number): Deadline {
  const endMs = clock.nowMs() + durationMs;
  return { remainingMs: () => endMs - clock.nowMs() };
}

/** For work started by a person, who can stop it by hand. */
export const NO_DEADLINE: Deadline = { remainingMs: () => Number.MAX_SAFE_INTEGER };

/**
 * Refuses to start a step that would not fit.
 *
 * @throws deadline — when less than `neededMs` is left
 */
export function requireTime(deadline: Deadline, neededMs: number, step: string): void {
  const remainingMs = deadline.remainingMs();
  if (remainingMs >= neededMs) return;
  throw new IcebergError('deadline', `${step}: needs ${neededMs} ms, ${remainingMs} ms are left`);
}
