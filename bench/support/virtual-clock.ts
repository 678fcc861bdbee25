import { setImmediate as macrotask } from 'node:timers/promises';
import { type Clock, IcebergError } from '../../shared/base/index.ts';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** A clock on which sleepers really wait for each other, but nobody waits for time: it jumps to the next of them. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #sleepers: Sleeper[] = [];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  sleepMs(durationMs: number): Promise<void> {
    return new Promise((wake) => {
      const wakeAtMs = this.#nowMs + durationMs;
      const place = this.#sleepers.findLastIndex((other) => other.wakeAtMs <= wakeAtMs) + 1;
      this.#sleepers.splice(place, 0, { wakeAtMs, wake });
    });
  }

  /**
   * Wakes one sleeper after the other until the work is done. In between, all others go on until they sleep.
   *
   * @throws invariant — when the work waits for something that is not time
   * @throws whatever the work throws
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    let isDone = false;
    const result = work().finally(() => {
      isDone = true;
    });
    result.catch(() => {});
    for (;;) {
      // Promises are settled before the next macrotask: then everybody sleeps or has ended.
      await macrotask();
      if (isDone) return result;
      const next = this.#sleepers.shift();
      if (next === undefined) {
        throw new IcebergError('invariant', 'clock: nobody sleeps, and the work is not done');
      }
      this.#nowMs = Math.max(this.#nowMs, next.wakeAtMs);
      next.wake();
    }
  }
}
