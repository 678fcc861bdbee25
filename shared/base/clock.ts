import { setTimeout as delay, setImmediate as macrotask } from 'node:timers/promises';

/** Time, passed in so that tests and simulations can own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Resolves after the given time has passed on this clock. */
  sleepMs(durationMs: number): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleepMs: async (durationMs) => {
    await delay(durationMs);
  },
};

/**
 * Resolves once the process has looked after its sockets: whoever computes for long while requests are under way has to let
 * them go on now and then, else nothing is sent or received, and they run into their timeouts.
 */
export async function nextTurn(): Promise<void> {
  await macrotask();
}

/**
 * A clock that only moves when told to: `sleepMs` moves it at once, `advanceMs` by hand.
 * For tests, demos and dry runs with a time of their own.
 */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  advanceMs(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  sleepMs(durationMs: number): Promise<void> {
    this.#nowMs += durationMs;
    return Promise.resolve();
  }
}
