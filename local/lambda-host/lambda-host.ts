import { type Clock, IcebergError, type Random } from '../../shared/base/index.ts';
import type { EventSource, InvocationReport } from './event-source.ts';
import { HostedFunction, type LambdaFunction } from './hosted-function.ts';

export interface LambdaHostOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Called after each invocation. */
  readonly onInvocation?: (report: InvocationReport) => void;
}

/** More rounds at one point in time mean that functions keep each other busy for ever. */
const ROUNDS_MAX = 1_000;

/**
 * Functions in this process and what invokes them. It has no timers: whoever owns the clock says when to look, so
 * that the same host runs on the machine's clock, on one that jumps, and in tests.
 */
export class LambdaHost {
  readonly #options: LambdaHostOptions;
  readonly #functions: HostedFunction[] = [];
  readonly #sources: EventSource[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: LambdaHostOptions) {
    this.#options = options;
  }

  addFunction(lambda: LambdaFunction): HostedFunction {
    const hosted = new HostedFunction(lambda, this.#options);
    this.#functions.push(hosted);
    return hosted;
  }

  addSource(source: EventSource): void {
    this.#sources.push(source);
  }

  /**
   * Begins everything that is due and gives up what is past its deadline, without waiting for any of it.
   *
   * @returns how many invocations were begun
   */
  dispatch(): number {
    if (this.#failure !== undefined) throw this.#failure.error;
    for (const hosted of this.#functions) hosted.expireOverdue();
    const begun = this.#sources.flatMap((source) => source.dispatch());
    for (const report of begun) this.#track(report);
    return begun.length;
  }

  /** Waits for everything under way. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Dispatches and waits until nothing is due at this point in time. */
  async runDue(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (this.dispatch() === 0 && this.#underWay.size === 0) return;
      await this.settle();
    }
    throw new IcebergError('unsupported', `local host: still busy after ${ROUNDS_MAX} rounds`);
  }

  /** When to look again, maybe in the past; undefined when nothing is coming. */
  nextDueAtMs(): number | undefined {
    const times = [
      ...this.#sources.map((source) => source.nextDueAtMs()),
      ...this.#functions.map((hosted) => hosted.nextDeadlineMs()),
    ].filter((timeMs) => timeMs !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  underWayCount(): number {
    return this.#underWay.size;
  }

  #track(invocation: Promise<InvocationReport>): void {
    const tracked = invocation
      .then((report) => this.#options.onInvocation?.(report))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }
}
