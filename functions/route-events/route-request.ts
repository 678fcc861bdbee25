import {
  type FirnRequest,
  type MaintenanceOperation,
  parseFirnRequest,
} from '../../events/index.ts';
import { type JsonValue, serializeJson } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { lookPorts } from '../../shared/deployment/index.ts';
import { requestOperation } from '../../shared/routing/index.ts';
import type { Invocation } from './invocation.ts';

/** Operations of Firn by what people call them; what is not offered yet is refused. */
const OPERATIONS: Readonly<Record<FirnRequest['operation'], MaintenanceOperation | undefined>> = {
  compact: 'rewrite-data-files',
  stats: undefined,
  expire: undefined,
};

const REASON_CHARS_MAX = 1024;

/** Passes on what somebody asked for; one that cannot be understood, or is not offered, becomes a dead letter. */
export async function routeRequest(
  event: unknown,
  { deployment, logger }: Invocation,
): Promise<undefined> {
  const parsed = parseFirnRequest(event);
  const operation = parsed.isValid ? OPERATIONS[parsed.value.operation] : undefined;
  if (!parsed.isValid || operation === undefined) {
    const reason = parsed.isValid
      ? `firn.request: ${parsed.value.operation} is not offered yet`
      : parsed.reason;
    logger.error('event.refused', reason, { kind: 'invalid-data' });
    const body = serializeJson(event as JsonValue);
    await deployment.eventDeadLetters.sendToDeadLetters({ body, groupId: 'firn.request', reason });
    return undefined;
  }
  const { table, reason, source, correlationId } = parsed.value;
  const request = {
    identifier: parseTableIdentifier(table),
    operation,
    reason: `${source}: ${reason}`.slice(0, REASON_CHARS_MAX),
    correlationId,
  };
  const { outcome } = await requestOperation(request, lookPorts(deployment));
  const fields = { table, operation, correlationId, source, reason, outcome };
  logger.info('request.routed', `${operation} for ${table}: ${outcome}`, fields);
  return undefined;
}
