import { z } from 'zod';
import { type Parsed, parseBy } from '../../parsed.ts';
import { tableName } from '../../table-name.ts';

/** The detail type of the events that people and pipelines put on the bus. */
export const FIRN_REQUEST_DETAIL_TYPE = 'firn.request';

const detailSchema = z.strictObject({
  version: z.literal(1),
  /** `compact` now; `stats` after a backfill; `expire` snapshots now. */
  operation: z.enum(['compact', 'stats', 'expire']),
  table: tableName,
  /** Why, for reports and logs. */
  reason: z.string().min(1).max(1024),
});

/** The envelope is EventBridge's: what it adds some day is no business of ours. */
const eventSchema = z.object({
  'detail-type': z.literal(FIRN_REQUEST_DETAIL_TYPE),
  id: z.string().min(1).max(128),
  source: z.string().min(1),
  detail: detailSchema,
});

export interface FirnRequest extends Omit<z.infer<typeof detailSchema>, 'version'> {
  /** The event's id, which follows the request through logs and reports. */
  readonly correlationId: string;
  /** Who put it on the bus. */
  readonly source: string;
}

/** An event of EventBridge with the detail type `firn.request`. It is a doorbell, and never permission. */
export function parseFirnRequest(event: unknown): Parsed<FirnRequest> {
  const parsed = parseBy(eventSchema, event, FIRN_REQUEST_DETAIL_TYPE);
  if (!parsed.isValid) return parsed;
  const { id, source, detail } = parsed.value;
  const { operation, table, reason } = detail;
  return { isValid: true, value: { operation, table, reason, correlationId: id, source } };
}
