import type { Clock } from '../base/index.ts';

/** The requests of a store that a fault can meet; `write` stands for a PUT and for closing a writer. */
export type StoreOperation = 'head' | 'read' | 'readRange' | 'write' | 'list' | 'delete';

export const STORE_FAILURES = {
  /** The store answers 5xx, and nothing has happened. */
  'unavailable-before': { takesEffect: false, kind: 'unavailable' },
  /** The request took effect, and then the store answered 5xx. */
  'unavailable-after': { takesEffect: true, kind: 'unavailable' },
  /** The request took effect, and the connection broke before the answer came. */
  'answer-lost': { takesEffect: true, kind: 'unavailable' },
  /** The store asks for a lower rate, and nothing has happened. */
  throttled: { takesEffect: false, kind: 'unavailable' },
  /** The right for this request is missing. */
  'access-denied': { takesEffect: false, kind: 'access-denied' },
} as const;

/** One thing that goes wrong with one request. */
export interface StoreFault {
  /** Passes on the store's clock before anything happens. */
  readonly latencyMs?: number;
  readonly failure?: keyof typeof STORE_FAILURES;
}

/**
 * Decides what goes wrong. It is asked before each request (for `list` before each page with the prefix, for
 * `delete` before each location) and may hold the request for as long as it likes before it answers, so that a
 * simulation can choose who goes next.
 */
export interface FaultInjector {
  next(operation: StoreOperation, location: string): Promise<StoreFault | undefined>;
}

/** Nothing ever goes wrong. */
export const NO_FAULTS: FaultInjector = { next: () => Promise.resolve(undefined) };

/** Asks for the fault of one request and lets its latency pass. */
export async function meetFault(
  { faults, clock }: { readonly faults: FaultInjector; readonly clock: Clock },
  operation: StoreOperation,
  location: string,
): Promise<StoreFault['failure']> {
  const fault = await faults.next(operation, location);
  if (fault?.latencyMs !== undefined) await clock.sleepMs(fault.latencyMs);
  return fault?.failure;
}
