import type { Context } from 'aws-lambda';
import { parseSweepRequest, type SweepRequest } from '../../events/index.ts';
import { type JsonObject, type Logger, serializeJson } from '../../shared/base/index.ts';
import { parseTableIdentifier, type TableIdentifier } from '../../shared/catalog/index.ts';
import {
  type Deployment,
  functionLogger,
  lookPorts,
  openDeployment,
} from '../../shared/deployment/index.ts';
import type { DueTable } from '../../shared/ledger/index.ts';
import {
  addTallies,
  type LookManyPorts,
  type LookTally,
  lookAtTables,
  NO_LOOKS,
} from '../../shared/routing/index.ts';
import { readFunctionConfig } from './config.ts';

/** The part of Lambda's context that the handler needs. */
export type HandlerContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

export type Handler = (event: unknown, context: HandlerContext) => Promise<void>;

/** Tables looked at between two questions whether there is time for more. */
const PAGE_COUNT_MAX = 200;

/**
 * Looks at tables because of the time: those whose time has come, or all of the catalog. README.md has the contract. What a
 * sweep does not get to is found by the next one.
 *
 * @throws unavailable, access-denied, not-found, invalid-config — when there is no list of tables, or no dead letter possible
 */
export function createHandler(deployment: Deployment): Handler {
  return async (event, context) => {
    const correlationId = context.awsRequestId;
    const logger = functionLogger(deployment, { operation: 'routing', requestId: correlationId });
    const parsed = parseSweepRequest(event);
    if (!parsed.isValid) {
      logger.error('event.refused', parsed.reason, { kind: 'invalid-data' });
      const body = serializeJson({ event: event ?? null } as JsonObject);
      const letter = { body, groupId: 'sweep', reason: parsed.reason };
      await deployment.eventDeadLetters.sendToDeadLetters(letter);
      return;
    }
    const { sweep } = parsed.value;
    const startMs = deployment.clock.nowMs();
    const deadline = { remainingMs: () => context.getRemainingTimeInMillis() };
    const ports = { ...lookPorts(deployment), deadline, logger };
    const tally = await sweepPages(sweep, { ports, deployment, correlationId });
    tell(sweep, tally, { logger, durationMs: deployment.clock.nowMs() - startMs });
  };
}

let deployed: Handler | undefined;

/** What Lambda calls. Clients are made once, at the first call, and kept. */
export const handler: Handler = async (event, context) => {
  deployed ??= createHandler(openDeployment(readFunctionConfig()));
  return deployed(event, context);
};

interface Sweep {
  readonly ports: LookManyPorts;
  readonly deployment: Deployment;
  readonly correlationId: string;
}

async function sweepPages(
  sweep: SweepRequest['sweep'],
  { ports, deployment, correlationId }: Sweep,
): Promise<LookTally> {
  const pages = sweep === 'due' ? duePages(deployment) : catalogPages(deployment);
  let tally = NO_LOOKS;
  for await (const identifiers of pages) {
    tally = addTallies(
      tally,
      await lookAtTables(identifiers, { cause: sweep, correlationId }, ports),
    );
    if (tally.skippedTables.length > 0) break;
  }
  return tally;
}

/** Tables that are due by now, the longest first; what becomes due meanwhile is for the next sweep. */
async function* duePages({
  warehouse,
  clock,
}: Deployment): AsyncIterable<readonly TableIdentifier[]> {
  const { states } = warehouse.openLedger();
  const query = { dueAtMsMax: clock.nowMs(), tableCountMax: PAGE_COUNT_MAX };
  let cursor: DueTable | undefined;
  do {
    const page = await states.listDue({ ...query, ...(cursor === undefined ? {} : { cursor }) });
    yield page.tables.map(({ table }) => parseTableIdentifier(table));
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* catalogPages({ warehouse }: Deployment): AsyncIterable<readonly TableIdentifier[]> {
  let page: TableIdentifier[] = [];
  for await (const identifier of warehouse.catalog.listTables()) {
    page.push(identifier);
    if (page.length < PAGE_COUNT_MAX) continue;
    yield page;
    page = [];
  }
  yield page;
}

function tell(
  sweep: SweepRequest['sweep'],
  { counts, sentCount, skippedTables }: LookTally,
  { logger, durationMs }: { readonly logger: Logger; readonly durationMs: number },
): void {
  const tableCount = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const fields = { sweep, tableCount, sentCount, ...counts, durationMs };
  if (skippedTables.length === 0) {
    logger.info('sweep.finished', `${sweep}: ${tableCount} tables`, fields);
    return;
  }
  logger.warn('sweep.unfinished', `${sweep}: no time was left after ${tableCount} tables`, fields);
}
