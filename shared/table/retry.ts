import { type Random, randomFraction } from '../base/index.ts';
import { type Properties, tableProperty } from '../iceberg/index.ts';

/** When a commit that lost against another one is tried again. */
export interface CommitRetry {
  /**
   * The wait before the next attempt, or undefined when there shall be none.
   *
   * @param attempt the one that just failed, from 1
   * @param elapsedMs since the first one began
   */
  waitMs(attempt: number, elapsedMs: number, random: Random): number | undefined;
}

/** Up to a tenth is added to each wait, so that two losers do not meet again. */
const JITTER_RATIO = 0.1;

/**
 * The table's `commit.retry.*`: waits double from the minimum to the maximum; attempts end after the second one when the
 * total time is over, and with their number where the table sets it. Java's default of four retries is made for jobs
 * that somebody starts again; where it is not set, the deadline is what ends ours.
 *
 * @throws invalid-config — when a property is malformed
 * @see Iceberg Java, `SnapshotProducer.commit` and `Tasks`
 */
export function commitRetry(properties: Properties): CommitRetry {
  const retriesKey = 'commit.retry.num-retries';
  const retriesMax =
    properties[retriesKey] === undefined
      ? Number.POSITIVE_INFINITY
      : tableProperty(properties, retriesKey);
  const waitMsMin = tableProperty(properties, 'commit.retry.min-wait-ms');
  const waitMsMax = tableProperty(properties, 'commit.retry.max-wait-ms');
  const totalMsMax = tableProperty(properties, 'commit.retry.total-timeout-ms');
  return {
    waitMs(attempt, elapsedMs, random) {
      if (attempt > retriesMax) return undefined;
      if (attempt >= 2 && elapsedMs > totalMsMax) return undefined;
      const baseMs = Math.min(waitMsMin * 2 ** (attempt - 1), waitMsMax);
      return Math.trunc(baseMs * (1 + JITTER_RATIO * randomFraction(random)));
    },
  };
}
