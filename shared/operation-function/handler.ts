import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  type MaintenanceOperation,
  type MaintenanceRequest,
  parseMaintenanceRequest,
  parseRewriteExecution,
} from '../../events/index.ts';
import { type Deadline, IcebergError, isIcebergError, type LogFields } from '../base/index.ts';
import { type Deployment, functionLogger } from '../deployment/index.ts';
import { errorFields, errorMessage } from '../logging/index.ts';
import { Heartbeat } from '../queue/index.ts';
import { beatingStore } from './beating-store.ts';
import type { EndedOperation } from './ending.ts';
import { type EndedTableRun, type OperationJob, runTable } from './run-table.ts';

/** A message after the first is not begun with less: planning, one small group and a commit take about as long. */
const NEXT_MESSAGE_RESERVE_MS = 60_000;

/** The input of a state machine, still to be parsed. */
export type ExecutionEvent = Readonly<Record<string, unknown>> & { readonly Records?: never };

/** To a queue: which messages are handed back. To a state machine: how the run ended. */
export type OperationAnswer = SQSBatchResponse | ExecutionAnswer;

export interface ExecutionAnswer {
  readonly outcome: EndedOperation['outcome'];
  /** Whether another run would find something to do now. */
  readonly isWorkLeft: boolean;
}

/** The part of Lambda's context that the handler needs. */
export type HandlerContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

export interface HandlerPorts<Outcome extends EndedOperation> extends Deployment {
  /** Called with each outcome, for hosts that show it. */
  readonly onOutcome?: (table: string, outcome: Outcome) => void;
}

export interface Handler {
  (event: SQSEvent, context: HandlerContext): Promise<SQSBatchResponse>;
  (event: ExecutionEvent, context: HandlerContext): Promise<ExecutionAnswer>;
  (event: SQSEvent | ExecutionEvent, context: HandlerContext): Promise<OperationAnswer>;
}

/**
 * Maintains the tables that a batch of queue messages names, one after the other, or the one of a state machine's
 * input. The function's README has the contract: which messages are handed back, and which are done. No message ends another one's
 * handling, a mistake in Firn included: rethrowing it would make the queue count a receive against messages that have
 * nothing to do with it.
 *
 * @throws invalid-data — for an event that is neither
 * @throws as the run — for a state machine's input: it decides whether to repeat it
 */
export function createOperationHandler<Outcome extends EndedOperation>(
  job: OperationJob<Outcome>,
  ports: HandlerPorts<Outcome>,
): Handler {
  function handle(event: SQSEvent, context: HandlerContext): Promise<SQSBatchResponse>;
  function handle(event: ExecutionEvent, context: HandlerContext): Promise<ExecutionAnswer>;
  function handle(
    event: SQSEvent | ExecutionEvent,
    context: HandlerContext,
  ): Promise<OperationAnswer>;
  async function handle(
    event: SQSEvent | ExecutionEvent,
    context: HandlerContext,
  ): Promise<OperationAnswer> {
    const invocation = { context, ports: { ...ports, job } };
    return isQueueEvent(event) ? runMessages(event, invocation) : runExecution(event, invocation);
  }
  return handle;
}

interface Invocation<Outcome extends EndedOperation> {
  readonly context: HandlerContext;
  readonly ports: HandlerPorts<Outcome> & { readonly job: OperationJob<Outcome> };
}

/** The part that knows which operation it is. */
type PortsOfOperation = Deployment & {
  readonly job: { readonly operation: MaintenanceOperation };
};

function isQueueEvent(event: SQSEvent | ExecutionEvent): event is SQSEvent {
  return Array.isArray(event?.Records);
}

async function runMessages<Outcome extends EndedOperation>(
  { Records }: SQSEvent,
  invocation: Invocation<Outcome>,
): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const [index, record] of Records.entries()) {
    const isDone = await runMessage(record, { ...invocation, isFirst: index === 0 });
    if (!isDone) batchItemFailures.push({ itemIdentifier: record.messageId });
  }
  return { batchItemFailures };
}

/** Handles one message to its end; whether it is done. */
async function runMessage<Outcome extends EndedOperation>(
  record: SQSRecord,
  { context, ports, isFirst }: Invocation<Outcome> & { readonly isFirst: boolean },
): Promise<boolean> {
  const fields = messageFields(record, { context, ports });
  const logger = functionLogger(ports, fields);
  try {
    const parsed = parseMaintenanceRequest(record.body);
    if (!parsed.isValid || parsed.value.operation !== ports.job.operation) {
      const problem = parsed.isValid ? `is for ${parsed.value.operation}` : parsed.reason;
      const reason = `message ${record.messageId}: ${problem}`;
      logger.error('message.refused', reason, { kind: 'invalid-data' });
      await bury(record, reason, ports);
      return true;
    }
    const remainingMs = context.getRemainingTimeInMillis();
    if (!isFirst && remainingMs < NEXT_MESSAGE_RESERVE_MS) {
      logger.info('run.postponed', `${remainingMs} ms are left`, { remainingMs });
      return false;
    }
    return await answerMessage(record, parsed.value, { context, ports });
  } catch (error) {
    // The ledger or the dead letters did not take it: the queue has to remember.
    const level = isIcebergError(error, 'unavailable') ? 'warn' : 'error';
    const stack = isIcebergError(error) || !(error instanceof Error) ? undefined : error.stack;
    logger[level]('message.returned', errorMessage(error), { ...errorFields(error), stack });
    return false;
  }
}

async function answerMessage<Outcome extends EndedOperation>(
  record: SQSRecord,
  request: MaintenanceRequest,
  { context, ports }: Invocation<Outcome>,
): Promise<boolean> {
  const { table, correlationId, round } = request;
  const fields = { ...messageFields(record, { context, ports }), table, correlationId, round };
  const logger = functionLogger(ports, fields);
  if (await isAnswered(record, table, ports)) {
    logger.info('run.answered', 'the table was planned after this message was sent');
    return true;
  }
  const { warehouse, queues, settings, clock } = ports;
  const heartbeat = new Heartbeat({
    queue: queues[ports.job.operation],
    receiptHandle: record.receiptHandle,
    visibilityMs: settings.messageVisibilityMs,
    clock,
  });
  const store = beatingStore(warehouse.store, heartbeat);
  const ended = await runTable(request, { ...ports, store, deadline: deadlineOf(context), logger });
  if (isLetter(ended)) await bury(record, `${table}: ${ended.failure}`, ports);
  return true;
}

/** A message that was sent before the table was last planned has been answered, unless something is owed still. */
async function isAnswered(
  { attributes }: SQSRecord,
  table: string,
  { warehouse, job: { operation } }: PortsOfOperation,
): Promise<boolean> {
  const state = await warehouse.openLedger().states.read(table);
  const { plan, owed } = state?.operations[operation] ?? {};
  return plan !== undefined && owed === undefined && Number(attributes.SentTimestamp) < plan.atMs;
}

/** Of failures in a row the first becomes a letter: the ledger repeats the run, and the letter is for a person. */
function isLetter({
  ending,
  hasFailedBefore,
}: Pick<EndedTableRun<EndedOperation>, 'ending' | 'hasFailedBefore'>): boolean {
  return ending.isLetter && !hasFailedBefore;
}

function bury(
  { body, attributes }: SQSRecord,
  reason: string,
  { queues, job: { operation } }: PortsOfOperation,
): Promise<void> {
  const groupId = attributes.MessageGroupId ?? operation;
  return queues[operation].sendToDeadLetters({ body, groupId, reason });
}

async function runExecution<Outcome extends EndedOperation>(
  event: ExecutionEvent,
  { context, ports }: Invocation<Outcome>,
): Promise<ExecutionAnswer> {
  const parsed = parseRewriteExecution(event);
  if (!parsed.isValid) throw new IcebergError('invalid-data', `event: ${parsed.reason}`);
  if (parsed.value.operation !== ports.job.operation) {
    throw new IcebergError('invalid-data', `event: is for ${parsed.value.operation}`);
  }
  const { table, correlationId } = parsed.value;
  const { awsRequestId } = context;
  const { operation } = ports.job;
  const fields = { operation, requestId: awsRequestId, table, correlationId };
  const logger = functionLogger(ports, fields);
  const { store } = ports.warehouse;
  const deadline = deadlineOf(context);
  const { outcome, error, ending } = await runTable(parsed.value, {
    ...ports,
    store,
    deadline,
    logger,
  });
  if (outcome === undefined) throw error;
  const isWorkLeft = ending.run?.ending === 'planned' && ending.run.left === 'work';
  return { outcome, isWorkLeft };
}

function deadlineOf(context: HandlerContext): Deadline {
  return { remainingMs: () => context.getRemainingTimeInMillis() };
}

function messageFields(
  record: SQSRecord,
  {
    context: { awsRequestId },
    ports,
  }: { readonly context: HandlerContext; readonly ports: PortsOfOperation },
): LogFields {
  return {
    operation: ports.job.operation,
    requestId: awsRequestId,
    messageId: record.messageId,
    attempt: Number(record.attributes.ApproximateReceiveCount),
  };
}
