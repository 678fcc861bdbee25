import { z } from 'zod';
import { type Parsed, parseBy } from '../../parsed.ts';
import { tableName } from '../../table-name.ts';

/**
 * The input of a state machine's execution: one plan that is too large for one invocation, run in batches, each a
 * map over file groups and then one commit. The plan itself is too large for an input of 256 KiB.
 */
const rewriteExecutionSchema = z.strictObject({
  version: z.literal(1),
  operation: z.enum(['rewrite-data-files']),
  table: tableName,
  /** The run whose lease, record and report the execution continues; also its name, so that it starts once. */
  runId: z.uuid(),
  /** Where the plan lies in the state bucket. */
  planLocation: z.string().regex(/^s3:\/\/[^/]+\/.+/, 'must be s3://BUCKET/KEY'),
  groupCount: z.int().min(1).max(1_000_000),
  reason: z.string().min(1).max(1024),
  correlationId: z.string().min(1).max(128),
});

export type RewriteExecution = z.infer<typeof rewriteExecutionSchema>;

/** The input of an execution. */
export function parseRewriteExecution(input: unknown): Parsed<RewriteExecution> {
  return parseBy(rewriteExecutionSchema, input, 'rewrite execution');
}
