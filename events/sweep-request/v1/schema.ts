import { z } from 'zod';
import { type Parsed, parseBy } from '../../parsed.ts';

/** The input of a schedule of EventBridge Scheduler; the whole event. */
const sweepRequestSchema = z.strictObject({
  version: z.literal(1),
  /** `due`: tables whose time has come, by the ledger; `catalog`: every pointer of the catalog against the ledger. */
  sweep: z.enum(['due', 'catalog']),
});

export type SweepRequest = z.infer<typeof sweepRequestSchema>;

/** The event of a schedule. */
export function parseSweepRequest(event: unknown): Parsed<SweepRequest> {
  return parseBy(sweepRequestSchema, event, 'sweep request');
}
