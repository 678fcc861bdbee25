import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  type MaintenanceRequest,
  maintenanceRequestSchema,
} from '../../events/maintenance-request/v1/schema.ts';
import {
  type Clock,
  type Deadline,
  IcebergError,
  isIcebergError,
  type LogFields,
  type Logger,
  parseJson,
  type Random,
  randomUuid,
  systemClock,
  systemRandom,
} from '../../shared/base/index.ts';
import { formatTableIdentifier, parseTableIdentifier } from '../../shared/catalog/index.ts';
import { permissionFor } from '../../shared/guards/index.ts';
import { createJsonLogger, errorFields, errorMessage } from '../../shared/logging/index.ts';
import {
  type OptionTexts,
  type RewriteDataFilesOutcome,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { openWarehouse, type Warehouse } from '../../shared/warehouse/index.ts';
import { type FunctionConfig, readFunctionConfig } from './config.ts';
import { type Ending, endingOfError, endingOfOutcome } from './ending.ts';
import { outcomeFields } from './outcome-fields.ts';

const OPERATION = 'rewrite-data-files';

/** A finished batch of groups is kept when time or a later group runs out. */
const OPTIONS: OptionTexts = { 'partial-progress.enabled': 'true' };

/** A message after the first is not begun with less: planning, one small group and a commit take about as long. */
const NEXT_MESSAGE_RESERVE_MS = 60_000;

export type Handler = (event: SQSEvent, context: HandlerContext) => Promise<SQSBatchResponse>;

/** The part of Lambda's context that the handler needs. */
export type HandlerContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

export interface HandlerPorts {
  readonly config: FunctionConfig;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly random: Random;
  /** Where log lines go; standard output if absent. */
  readonly logDestination?: { write(line: string): void };
  /** Called with each outcome, for hosts that show it. */
  readonly onOutcome?: (table: string, outcome: RewriteDataFilesOutcome) => void;
}

/**
 * Compacts the tables that a batch of queue messages names, one after the other. README.md has the contract: which
 * messages are handed back, and which are done. No message ends another one's handling, a mistake in Firn included:
 * rethrowing it would make the queue count a receive against messages that have nothing to do with it.
 *
 * @throws invalid-data — for an event that does not come from a queue
 */
export function createHandler(ports: HandlerPorts): Handler {
  return async (event, context) => {
    if (!Array.isArray(event?.Records)) {
      throw new IcebergError('invalid-data', 'event: has no Records, expected messages of a queue');
    }
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const [index, record] of event.Records.entries()) {
      const isDone = await runRecord(record, { context, ports, isFirst: index === 0 });
      if (!isDone) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };
  };
}

/** What Lambda calls. Clients are made once, at the first call, and kept. */
export const handler: Handler = async (event, context) => {
  deployed ??= createHandler(deployedPorts());
  return deployed(event, context);
};

let deployed: Handler | undefined;

function deployedPorts(): HandlerPorts {
  const config = readFunctionConfig();
  const clock = systemClock;
  const random = systemRandom;
  const { catalogUrl, s3Endpoint, ledgerTable, stateLocation } = config;
  const warehouse = openWarehouse({
    catalogUrl,
    ...(s3Endpoint === undefined ? {} : { s3Endpoint }),
    ...(ledgerTable === undefined ? {} : { ledgerTable }),
    ...(stateLocation === undefined ? {} : { stateLocation }),
    clock,
    random,
  });
  // Refused at start, and not at the first table.
  warehouse.openLedger();
  return {
    config,
    warehouse,
    clock,
    random,
  };
}

/** Handles one message to its end, with one summary line; the return value says whether the message is done. */
async function runRecord(
  record: SQSRecord,
  {
    context,
    ports,
    isFirst,
  }: {
    readonly context: HandlerContext;
    readonly ports: HandlerPorts;
    readonly isFirst: boolean;
  },
): Promise<boolean> {
  const startMs = ports.clock.nowMs();
  const durationMs = (): number => ports.clock.nowMs() - startMs;
  let logger = loggerFor(ports, messageFields(record, context));
  try {
    const request = parseRequest(record);
    const { table, correlationId } = request;
    logger = loggerFor(ports, { ...messageFields(record, context), table, correlationId });
    const remainingMs = context.getRemainingTimeInMillis();
    if (!isFirst && remainingMs < NEXT_MESSAGE_RESERVE_MS) {
      logger.info('run.postponed', `${remainingMs} ms are left`, { remainingMs });
      return false;
    }
    const { outcome, permission } = await compactTable(request, logger, {
      ...ports,
      deadline: { remainingMs: () => context.getRemainingTimeInMillis() },
    });
    const { message, fields } = outcomeFields(outcome);
    const ending = endingOfOutcome(outcome);
    const summary = { ...fields, reason: request.reason, permission, durationMs: durationMs() };
    logger[ending.level]('run.finished', message, summary);
    ports.onOutcome?.(table, outcome);
    return ending.isAcknowledged;
  } catch (error) {
    const ending = endingOfError(error);
    reportError(error, ending, { logger, durationMs: durationMs() });
    return ending.isAcknowledged;
  }
}

const ERROR_EVENTS: Readonly<Record<Ending['outcome'], string>> = {
  done: 'run.finished',
  partial: 'run.finished',
  skipped: 'run.skipped',
  failed: 'run.failed',
};

function reportError(
  error: unknown,
  { level, outcome }: Ending,
  { logger, durationMs }: { readonly logger: Logger; readonly durationMs: number },
): void {
  // Only a mistake in Firn needs the place where it happened.
  const stack = isIcebergError(error) || !(error instanceof Error) ? undefined : error.stack;
  const fields = { ...errorFields(error), outcome, durationMs, stack };
  logger[level](ERROR_EVENTS[outcome], errorMessage(error), fields);
}

/** @throws invalid-data — when the body is not a request of this function's operation */
function parseRequest(record: SQSRecord): MaintenanceRequest {
  const body = parseJson(record.body, `message ${record.messageId}`);
  const parsed = maintenanceRequestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  throw new IcebergError('invalid-data', `message ${record.messageId}: ${problems.join('; ')}`);
}

async function compactTable(
  request: MaintenanceRequest,
  logger: Logger,
  ports: HandlerPorts & { readonly deadline: Deadline },
): Promise<{ readonly outcome: RewriteDataFilesOutcome; readonly permission: string }> {
  const { warehouse, clock, random, deadline, config } = ports;
  const identifier = parseTableIdentifier(request.table);
  const table = await loadTable(identifier, { ...warehouse, clock });
  const permission = permissionFor(
    formatTableIdentifier(identifier),
    table.metadata.properties,
    config,
  );
  const outcome = await rewriteDataFiles(
    {
      table,
      options: OPTIONS,
      mode: permission.mode,
      guards: config.guards,
      runId: randomUuid(random),
      trigger: request.reason,
      onProgress: (progress) => {
        if (progress.step !== 'committed') return;
        const { snapshotId, groupCount } = progress;
        logger.info('commit.succeeded', `${groupCount} groups`, {
          snapshotId: String(snapshotId),
          groupCount,
        });
      },
    },
    { ...warehouse, ledger: warehouse.openLedger(), clock, random, deadline, logger },
  );
  return { outcome, permission: permission.reason };
}

function messageFields(record: SQSRecord, { awsRequestId }: HandlerContext): LogFields {
  return {
    operation: OPERATION,
    requestId: awsRequestId,
    messageId: record.messageId,
    attempt: Number(record.attributes.ApproximateReceiveCount),
  };
}

function loggerFor(ports: HandlerPorts, fields: LogFields): Logger {
  return createJsonLogger({
    level: ports.config.logLevel,
    fields,
    ...(ports.logDestination === undefined ? {} : { destination: ports.logDestination }),
  });
}
