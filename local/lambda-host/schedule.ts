import { assert, type Clock } from '../../shared/base/index.ts';
import { type EventSource, type InvocationReport, reportOf } from './event-source.ts';
import type { HostedFunction } from './hosted-function.ts';

export interface ScheduleOptions {
  readonly target: HostedFunction;
  /** The input, as the function gets it. */
  readonly event: unknown;
  readonly everyMs: number;
  readonly clock: Clock;
}

/**
 * Invokes a function at regular times, the first one interval from now. Times that passed unseen are not made up for,
 * and a failure is not repeated: the next time is the repetition.
 */
export class Schedule implements EventSource {
  readonly #options: ScheduleOptions;
  #nextAtMs: number;

  constructor(options: ScheduleOptions) {
    const { everyMs, clock } = options;
    assert(everyMs > 0, `schedule: interval ${everyMs} ms is not positive`);
    this.#options = options;
    this.#nextAtMs = clock.nowMs() + everyMs;
  }

  dispatch(): readonly Promise<InvocationReport>[] {
    const { target, everyMs, clock } = this.#options;
    const lateMs = clock.nowMs() - this.#nextAtMs;
    if (lateMs < 0 || !target.hasCapacity()) return [];
    this.#nextAtMs += everyMs * (Math.floor(lateMs / everyMs) + 1);
    return [this.#invoke()];
  }

  nextDueAtMs(): number {
    return this.#nextAtMs;
  }

  async #invoke(): Promise<InvocationReport> {
    const { target, event, clock } = this.#options;
    const startMs = clock.nowMs();
    const end = await target.invoke(event);
    return reportOf(end, {
      functionName: target.name,
      durationMs: clock.nowMs() - startMs,
      eventCount: 1,
      failedCount: end.ended === 'returned' ? 0 : 1,
    });
  }
}
