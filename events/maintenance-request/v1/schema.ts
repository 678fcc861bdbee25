import { z } from 'zod';

/** Names without a dot inside a level, at least one namespace level. */
const TABLE_NAME = /^[^.\s]+(?:\.[^.\s]+)+$/;

/**
 * One request to maintain one table, as the body of a queue message.
 * It is a doorbell: what is done follows from the table's state, not from the message.
 */
export const maintenanceRequestSchema = z.strictObject({
  version: z.literal(1),
  operation: z.enum(['rewrite-data-files']),
  /** `namespace.table`, with as many namespace levels as the catalog has. */
  table: z.string().max(1024).regex(TABLE_NAME, 'must be namespace.table'),
  /** Why the request was made, for reports and logs. */
  reason: z.string().min(1).max(1024),
  /** Follows the request through logs and reports. */
  correlationId: z.string().min(1).max(128),
});

export type MaintenanceRequest = z.infer<typeof maintenanceRequestSchema>;
