import type { Context } from 'aws-lambda';
import { assert, type Clock, type Random, randomUuid } from '../../shared/base/index.ts';

/** The part of Lambda's context that handlers here look at. */
export type LambdaContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

/** A function as it is deployed. */
export interface LambdaFunction {
  readonly name: string;
  /** After this time an invocation counts as failed, whatever comes of it. */
  readonly timeoutMs: number;
  /** Reserved concurrency. */
  readonly concurrencyMax: number;
  readonly handler: (event: never, context: LambdaContext) => Promise<unknown>;
}

export type InvocationEnd =
  | { readonly ended: 'returned'; readonly answer: unknown }
  | { readonly ended: 'threw'; readonly error: unknown }
  | { readonly ended: 'timed-out' };

interface Invocation {
  readonly deadlineMs: number;
  readonly end: (end: InvocationEnd) => void;
}

/**
 * A function and its invocations under way. One that is past its deadline is given up: what it returns later is
 * discarded. It cannot be killed in one process, so it goes on as the last breath of a killed one might.
 */
export class HostedFunction {
  readonly name: string;
  readonly #function: LambdaFunction;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #invocations = new Set<Invocation>();

  constructor(lambda: LambdaFunction, { clock, random }: { clock: Clock; random: Random }) {
    assert(lambda.timeoutMs > 0, `${lambda.name}: timeout ${lambda.timeoutMs} ms is not positive`);
    assert(lambda.concurrencyMax >= 1, `${lambda.name}: concurrencyMax is below 1`);
    this.name = lambda.name;
    this.#function = lambda;
    this.#clock = clock;
    this.#random = random;
  }

  hasCapacity(): boolean {
    return this.#invocations.size < this.#function.concurrencyMax;
  }

  /** Calls the handler with a copy of the event as it would come over the wire; never rejects. */
  invoke(event: unknown): Promise<InvocationEnd> {
    const deadlineMs = this.#clock.nowMs() + this.#function.timeoutMs;
    const context: LambdaContext = {
      awsRequestId: randomUuid(this.#random),
      getRemainingTimeInMillis: () => deadlineMs - this.#clock.nowMs(),
    };
    return new Promise((resolve) => {
      const invocation: Invocation = {
        deadlineMs,
        end: (end) => {
          this.#invocations.delete(invocation);
          resolve(end);
        },
      };
      this.#invocations.add(invocation);
      void this.#call(event, context).then((end) =>
        invocation.end(this.#clock.nowMs() > deadlineMs ? { ended: 'timed-out' } : end),
      );
    });
  }

  /** Gives up what is past its deadline. */
  expireOverdue(): void {
    const nowMs = this.#clock.nowMs();
    for (const { deadlineMs, end } of [...this.#invocations]) {
      if (nowMs > deadlineMs) end({ ended: 'timed-out' });
    }
  }

  /** When the first invocation under way is to be given up; undefined when none is under way. */
  nextDeadlineMs(): number | undefined {
    const deadlines = [...this.#invocations].map(({ deadlineMs }) => deadlineMs);
    return deadlines.length === 0 ? undefined : Math.min(...deadlines) + 1;
  }

  async #call(event: unknown, context: LambdaContext): Promise<InvocationEnd> {
    try {
      const answer = await this.#function.handler(structuredClone(event) as never, context);
      return { ended: 'returned', answer };
    } catch (error) {
      return { ended: 'threw', error };
    }
  }
}
