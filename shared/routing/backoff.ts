/** Attempts that fail are this far apart at least, and a day at most: 1, 2, 4, ... minutes. */
const BACKOFF_MS_FIRST = 60_000;
const BACKOFF_MS_MAX = 24 * 60 * 60_000;

/** How long to wait after so many failures in a row, from 1. */
export function backoffMs(failureCount: number): number {
  return Math.min(BACKOFF_MS_MAX, BACKOFF_MS_FIRST * 2 ** (failureCount - 1));
}
