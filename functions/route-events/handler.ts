import type { Context } from 'aws-lambda';
import { type JsonObject, serializeJson } from '../../shared/base/index.ts';
import { type Deployment, functionLogger, openDeployment } from '../../shared/deployment/index.ts';
import { readFunctionConfig } from './config.ts';
import type { Invocation } from './invocation.ts';
import { routeRequest } from './route-request.ts';
import { routeStream, type StreamAnswer } from './route-stream.ts';

/** The part of Lambda's context that the handler needs. */
export type HandlerContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

/** Records of the catalog's stream, or an event of EventBridge: undefined is all that one is told. */
export type Handler = (
  event: unknown,
  context: HandlerContext,
) => Promise<StreamAnswer | undefined>;

/**
 * Looks at each table that an event rings for, once however often, and sends messages for what is due. README.md has the
 * contract: which records are handed back, and which become dead letters.
 *
 * @throws unavailable — when a request, or a dead letter, cannot be passed on: the event has to be delivered again
 * @throws access-denied, not-found, invalid-config — when a queue or the ledger demands it
 */
export function createHandler(deployment: Deployment): Handler {
  return async (event, context) => {
    const fields = { operation: 'routing', requestId: context.awsRequestId };
    const invocation: Invocation = {
      deployment,
      correlationId: context.awsRequestId,
      deadline: { remainingMs: () => context.getRemainingTimeInMillis() },
      logger: functionLogger(deployment, fields),
    };
    if (hasKey(event, 'Records')) return routeStream(event, invocation);
    if (hasKey(event, 'detail-type')) return routeRequest(event, invocation);
    return refuse(event, invocation);
  };
}

let deployed: Handler | undefined;

/** What Lambda calls. Clients are made once, at the first call, and kept. */
export const handler: Handler = async (event, context) => {
  deployed ??= createHandler(openDeployment(readFunctionConfig()));
  return deployed(event, context);
};

function hasKey(event: unknown, key: string): boolean {
  return typeof event === 'object' && event !== null && Object.hasOwn(event, key);
}

async function refuse(event: unknown, { deployment, logger }: Invocation): Promise<undefined> {
  const reason = 'event: neither records of a stream nor an event of a bus';
  logger.error('event.refused', reason, { kind: 'invalid-data' });
  const body = serializeJson({ event: event ?? null } as JsonObject);
  await deployment.eventDeadLetters.sendToDeadLetters({ body, groupId: 'events', reason });
  return undefined;
}
