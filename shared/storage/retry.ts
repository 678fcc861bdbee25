import { type Clock, isIcebergError, type Random, randomFraction } from '../base/index.ts';

/** When to try a request again after `unavailable`. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attemptCountMax: number;
  /** Upper end of the first wait; each further one doubles it. */
  readonly waitMsMin: number;
  /** No wait is longer. */
  readonly waitMsMax: number;
  /** No attempt starts later than this after the first began. */
  readonly totalMsMax: number;
}

/**
 * S3 asks for back-off when a prefix is heated up, which takes it seconds to minutes. Eight attempts wait
 * 6 s on average and 13 s at most, within the time a Lambda keeps for a commit.
 */
export const S3_RETRY_POLICY: RetryPolicy = {
  attemptCountMax: 8,
  waitMsMin: 100,
  waitMsMax: 10_000,
  totalMsMax: 60_000,
};

export interface RetryContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: RetryPolicy;
}

/**
 * Calls `fn` until it ends otherwise than with `unavailable`, waiting a random time between nothing and an
 * exponentially growing limit, so that clients turned away together do not come back together.
 *
 * @param fn receives the attempt, counted from 1; above 1 an earlier attempt may have taken effect
 * @throws unavailable — the last one, when the policy allows no further attempt; other kinds at once
 */
export async function withRetries<Result>(
  { clock, random, policy }: RetryContext,
  fn: (attempt: number) => Promise<Result>,
): Promise<Result> {
  const startMs = clock.nowMs();
  for (let attempt = 1; ; attempt++) {
    try {
      return await fn(attempt);
    } catch (error) {
      if (!isIcebergError(error, 'unavailable') || attempt >= policy.attemptCountMax) throw error;
      const waitMsLimit = Math.min(policy.waitMsMax, policy.waitMsMin * 2 ** (attempt - 1));
      const waitMs = Math.floor(randomFraction(random) * waitMsLimit);
      if (clock.nowMs() + waitMs - startMs > policy.totalMsMax) throw error;
      await clock.sleepMs(waitMs);
    }
  }
}
