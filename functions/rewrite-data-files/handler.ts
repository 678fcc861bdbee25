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
  type Logger,
  parseJson,
  type Random,
  randomUuid,
  systemClock,
  systemRandom,
} from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { createJsonLogger, errorFields, errorMessage } from '../../shared/logging/index.ts';
import {
  type OptionTexts,
  type RewriteDataFilesOutcome,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { openWarehouse, type Warehouse } from '../../shared/warehouse/index.ts';
import { type FunctionConfig, readFunctionConfig } from './config.ts';
import { outcomeFields } from './outcome-fields.ts';
import { permissionFor } from './permission.ts';

const OPERATION = 'rewrite-data-files';

/** A finished batch of groups is kept when time or a later group runs out. */
const OPTIONS: OptionTexts = { 'partial-progress.enabled': 'true' };

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
 * Compacts the tables that a batch of queue messages names, one after the other. A message whose work may succeed
 * later is handed back to the queue; one that cannot succeed is handed back, too, and ends in the dead-letter queue
 * after the queue's own count of receives.
 */
export function createHandler(ports: HandlerPorts): Handler {
  return async (event, context) => {
    const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
    for (const record of event.Records) {
      const isDone = await runRecord(record, context, ports);
      if (!isDone) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };
  };
}

/** What Lambda calls. Clients are made once, at the first call, and kept. */
export const handler: Handler = (event, context) => {
  deployed ??= createHandler(deployedPorts());
  return deployed(event, context);
};

let deployed: Handler | undefined;

function deployedPorts(): HandlerPorts {
  const config = readFunctionConfig();
  const clock = systemClock;
  const random = systemRandom;
  const { catalogUrl, s3Endpoint } = config;
  return {
    config,
    warehouse: openWarehouse({
      catalogUrl,
      ...(s3Endpoint === undefined ? {} : { s3Endpoint }),
      clock,
      random,
    }),
    clock,
    random,
  };
}

/** Handles one message to its end. Errors are logged here, once; the return value says whether it is done. */
async function runRecord(
  record: SQSRecord,
  context: HandlerContext,
  ports: HandlerPorts,
): Promise<boolean> {
  let logger = loggerFor(ports, { requestId: context.awsRequestId });
  try {
    const request = parseRequest(record);
    logger = loggerFor(ports, {
      requestId: context.awsRequestId,
      table: request.table,
      correlationId: request.correlationId,
    });
    await compactTable(request, logger, { ...ports, deadline: deadlineOf(context) });
    return true;
  } catch (error) {
    if (isIcebergError(error, 'unsupported')) {
      logger.warn('run.skipped', errorMessage(error), {
        ...errorFields(error),
        outcome: 'skipped',
      });
      return true;
    }
    logger.error('run.failed', errorMessage(error), errorFields(error));
    if (!isIcebergError(error)) throw error;
    return false;
  }
}

/** @throws invalid-data — when the body is not a request of this function's operation */
function parseRequest(record: SQSRecord): MaintenanceRequest {
  const body = parseJson(record.body, `message ${record.messageId}`);
  const parsed = maintenanceRequestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new IcebergError('invalid-data', `message ${record.messageId}: ${problems.join('; ')}`);
}

async function compactTable(
  request: MaintenanceRequest,
  logger: Logger,
  ports: HandlerPorts & { readonly deadline: Deadline },
): Promise<void> {
  const { warehouse, clock, random, deadline, config } = ports;
  const startMs = clock.nowMs();
  const identifier = parseTableIdentifier(request.table);
  const table = await loadTable(identifier, { ...warehouse, clock });
  const permission = permissionFor(identifier, table.metadata.properties, config);
  const outcome = await rewriteDataFiles(
    { table, options: OPTIONS, mode: permission.mode, runId: randomUuid(random) },
    { ...warehouse, clock, random, deadline, logger },
  );
  const { message, fields } = outcomeFields(outcome);
  logger.info('run.finished', message, {
    ...fields,
    reason: request.reason,
    permission: permission.reason,
    durationMs: clock.nowMs() - startMs,
  });
  ports.onOutcome?.(request.table, outcome);
}

function deadlineOf(context: HandlerContext): Deadline {
  return { remainingMs: () => context.getRemainingTimeInMillis() };
}

function loggerFor(ports: HandlerPorts, fields: Readonly<Record<string, string>>): Logger {
  return createJsonLogger({
    level: ports.config.logLevel,
    fields: { operation: OPERATION, ...fields },
    ...(ports.logDestination === undefined ? {} : { destination: ports.logDestination }),
  });
}
