import type { InvocationEnd } from './hosted-function.ts';

/** Where events of a function come from. */
export interface EventSource {
  /** Begins an invocation for what has come, as far as concurrency allows; each ends by itself. */
  dispatch(): readonly Promise<InvocationReport>[];
  /** When something will be there to dispatch, maybe in the past; undefined when nothing is coming. */
  nextDueAtMs(): number | undefined;
}

/** How one invocation went, after its source has drawn its conclusions. */
export interface InvocationReport {
  readonly functionName: string;
  readonly durationMs: number;
  readonly ended: InvocationEnd['ended'];
  /** What the handler threw, and nothing else did. */
  readonly error?: unknown;
  /** Messages or records; 1 for a schedule. */
  readonly eventCount: number;
  /** Of those, what will be delivered again or was given up. */
  readonly failedCount: number;
}

/**
 * Which of the items of a batch failed, by an answer with partial failures: all of them where the function did not
 * return, or names an item that was not in the batch.
 *
 * @see AWS Lambda, "Reporting batch item failures"
 */
export function failedIds(end: InvocationEnd, ids: readonly string[]): ReadonlySet<string> {
  if (end.ended !== 'returned') return new Set(ids);
  const failures = failuresOf(end.answer);
  const isUnderstood = failures?.every((id) => ids.includes(id)) ?? false;
  return new Set(isUnderstood ? failures : ids);
}

/** Undefined when the answer is malformed; an answer without the list is a success. */
function failuresOf(answer: unknown): readonly string[] | undefined {
  if (answer === undefined || answer === null) return [];
  if (typeof answer !== 'object') return undefined;
  if (!('batchItemFailures' in answer) || answer.batchItemFailures === null) return [];
  if (!Array.isArray(answer.batchItemFailures)) return undefined;
  const ids = answer.batchItemFailures.map((failure: { readonly itemIdentifier?: unknown }) =>
    typeof failure?.itemIdentifier === 'string' ? failure.itemIdentifier : '',
  );
  return ids.includes('') ? undefined : ids;
}

export function reportOf(
  end: InvocationEnd,
  report: Omit<InvocationReport, 'ended' | 'error'>,
): InvocationReport {
  return {
    ...report,
    ended: end.ended,
    ...(end.ended === 'threw' ? { error: end.error } : {}),
  };
}
