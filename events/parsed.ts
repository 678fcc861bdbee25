import type { z } from 'zod';

/** What came of an event: its value, or why it is none. `reason` is one line for a person. */
export type Parsed<Value> =
  | { readonly isValid: true; readonly value: Value }
  | { readonly isValid: false; readonly reason: string };

/** More problems are counted, not listed: the reason travels with a dead letter. */
const PROBLEMS_MAX = 5;

/** The value by `schema`, or every problem with its place. */
export function parseBy<Schema extends z.ZodType>(
  schema: Schema,
  event: unknown,
  subject: string,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(event);
  if (parsed.success) return { isValid: true, value: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return { isValid: false, reason: `${subject}: ${shorten(problems)}` };
}

function shorten(problems: readonly string[]): string {
  const shown = problems.slice(0, PROBLEMS_MAX).join('; ');
  const hiddenCount = problems.length - PROBLEMS_MAX;
  return hiddenCount > 0 ? `${shown}; and ${hiddenCount} more` : shown;
}
