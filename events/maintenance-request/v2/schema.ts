import { z } from 'zod';
import { isIcebergError, type JsonValue, parseJson } from '../../../shared/base/index.ts';
import { type Parsed, parseBy } from '../../parsed.ts';
import { tableName } from '../../table-name.ts';
import { maintenanceRequestSchema as version1 } from '../v1/schema.ts';

/** Operations that have a queue. */
export const MAINTENANCE_OPERATIONS = ['rewrite-data-files', 'rewrite-deletes'] as const;

const version2 = z.strictObject({
  version: z.literal(2),
  operation: z.enum(MAINTENANCE_OPERATIONS),
  table: tableName,
  /** Why the request was made, for reports and logs. */
  reason: z.string().min(1).max(1024),
  /** Follows the request through logs and reports. */
  correlationId: z.string().min(1).max(128),
  /** How many runs in a row before this one left work over; 0 for the first. */
  round: z.int().min(0).max(1_000),
});

const anyVersion = z.discriminatedUnion('version', [version1, version2]);

export type MaintenanceOperation = (typeof MAINTENANCE_OPERATIONS)[number];

/** One request to maintain one table. It is a doorbell: what is done follows from the table's state. */
export type MaintenanceRequest = Omit<z.infer<typeof version2>, 'version'>;

/** The body of a queue message, of this version or the one before, which has no rounds. */
export function parseMaintenanceRequest(body: string): Parsed<MaintenanceRequest> {
  const json = parseText(body);
  if (!json.isValid) return json;
  const parsed = parseBy(anyVersion, json.value, 'maintenance request');
  if (!parsed.isValid) return parsed;
  const { version: _, ...request } = parsed.value;
  return { isValid: true, value: { round: 0, ...request } };
}

/** The body for a queue; the inverse of `parseMaintenanceRequest`. */
export function serializeMaintenanceRequest(request: MaintenanceRequest): string {
  const { operation, table, reason, correlationId, round } = request;
  return JSON.stringify({ version: 2, operation, table, reason, correlationId, round });
}

function parseText(body: string): Parsed<JsonValue> {
  try {
    return { isValid: true, value: parseJson(body, 'maintenance request') };
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    return { isValid: false, reason: error.message };
  }
}
