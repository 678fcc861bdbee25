import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createHandler } from '../../../functions/rewrite-data-files/handler.ts';
import { type NewTable, TableWriter } from '../../../local/table-writer/index.ts';
import { ManualClock, parseJson, seededRandom } from '../../../shared/base/index.ts';
import {
  type CatalogFaults,
  MemoryCatalog,
  parseTableIdentifier,
} from '../../../shared/catalog/index.ts';
import type { FunctionSettings } from '../../../shared/deployment/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import type { Ledger, MemoryItemStore } from '../../../shared/ledger/index.ts';
import type { ExecutionEvent, HandlerPorts } from '../../../shared/operation-function/index.ts';
import type { RewriteDataFilesOutcome } from '../../../shared/operations/rewrite-data-files/index.ts';
import type { MemoryQueue, QueueFaults } from '../../../shared/queue/index.ts';
import { type FaultInjector, MemoryObjectStore } from '../../../shared/storage/index.ts';
import { memoryQueues } from '../../support/memory-deployment.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';

export const SETTINGS: FunctionSettings = {
  enabledTables: ['db.orders'],
  isObserving: false,
  guards: LOWERED_GUARD_SETTINGS,
  routingIntervalMsFloor: 60_000,
  messageVisibilityMs: 180_000,
  logLevel: 'info',
};

const FIELDS = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: false, type: { kind: 'string' } },
] as const;

const BY_REGION = [
  { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
] as const;

export type LogLine = Readonly<Record<string, unknown>>;

/** The function on memory ports, and what it said. */
export interface Deployment {
  readonly clock: ManualClock;
  readonly catalog: MemoryCatalog;
  readonly store: MemoryObjectStore;
  readonly ledger: Ledger;
  readonly queue: MemoryQueue;
  readonly lines: readonly LogLine[];
  readonly outcomes: readonly RewriteDataFilesOutcome['outcome'][];
  /** Delivers bodies as the messages `m0`, `m1`, ... of one batch. */
  deliver(bodies: readonly string[], options?: DeliverOptions): Promise<SQSBatchResponse>;
  /** Invokes it with the input of a state machine. */
  execute(input: object): Promise<unknown>;
  /** A table of small files: by default six in each of two partitions. */
  createTable(name: string, table?: Partial<NewTable>, fileCount?: number): Promise<TableWriter>;
}

export interface DeliverOptions {
  /** 15 minutes where it is not given; called for each question. */
  readonly remainingMs?: () => number;
  readonly receiveCount?: number;
  /** Now where it is not given. */
  readonly sentAtMs?: number;
  readonly receiptHandle?: string;
}

export function createDeployment(
  options: {
    readonly settings?: Partial<FunctionSettings>;
    readonly catalogFaults?: CatalogFaults;
    readonly storeFaults?: FaultInjector;
    readonly queueFaults?: QueueFaults;
    readonly items?: MemoryItemStore;
    readonly onOutcome?: HandlerPorts<RewriteDataFilesOutcome>['onOutcome'];
  } = {},
): Deployment {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(3);
  const catalog = new MemoryCatalog({ clock, random, faults: options.catalogFaults ?? {} });
  const store = new MemoryObjectStore({
    clock,
    ...(options.storeFaults === undefined ? {} : { faults: options.storeFaults }),
  });
  const ledger = memoryLedger({
    clock,
    ...(options.items === undefined ? {} : { items: options.items }),
  });
  const settings = { ...SETTINGS, ...options.settings };
  const queues = memoryQueues({ clock, random }, options.queueFaults);
  const lines: LogLine[] = [];
  const outcomes: RewriteDataFilesOutcome['outcome'][] = [];
  const handler = createHandler({
    settings,
    warehouse: { catalogUrl: 'memory:', catalog, store, openLedger: () => ledger },
    ...queues,
    clock,
    random,
    logDestination: { write: (line) => lines.push(parseJson(line, 'log line') as LogLine) },
    onOutcome: (table, outcome) => {
      outcomes.push(outcome.outcome);
      options.onOutcome?.(table, outcome);
    },
  });
  return {
    clock,
    catalog,
    store,
    ledger,
    queue: queues.rewriteQueue,
    lines,
    outcomes,
    execute: (input) =>
      handler(input as ExecutionEvent, {
        awsRequestId: 'request-1',
        getRemainingTimeInMillis: () => 900_000,
      }),
    deliver: (
      bodies,
      {
        remainingMs = () => 900_000,
        receiveCount = 1,
        sentAtMs = clock.nowMs(),
        receiptHandle = 'r',
      } = {},
    ) =>
      handler(queueEvent(bodies, { receiveCount, sentAtMs, receiptHandle }), {
        awsRequestId: 'request-1',
        getRemainingTimeInMillis: remainingMs,
      }),
    createTable: async (name, table = {}, fileCount = 12) => {
      const writer = await TableWriter.create(
        {
          identifier: parseTableIdentifier(name),
          location: `s3://bucket/${name}`,
          formatVersion: 2,
          fields: FIELDS,
          partitionFields: BY_REGION,
          ...table,
          properties: { 'firn.verify': 'rows', ...table.properties },
        },
        { catalog, store, clock, random },
      );
      const regions = Array.from({ length: fileCount }, (_, index) => (index % 2 ? 'eu' : 'us'));
      if (fileCount > 0) await writer.append(regions.map(smallFile));
      return writer;
    },
  };
}

function smallFile(region: string, index: number) {
  return {
    rows: [
      { 1: BigInt(index * 2), 2: region },
      { 1: BigInt(index * 2 + 1), 2: region },
    ],
    partition: [region],
  };
}

/** The body of a message for a table. */
export function requestFor(table: string): string {
  return JSON.stringify({
    version: 1,
    operation: 'rewrite-data-files',
    table,
    reason: 'a test',
    correlationId: `c-${table}`,
  });
}

function queueEvent(
  bodies: readonly string[],
  {
    receiveCount,
    sentAtMs,
    receiptHandle,
  }: {
    readonly receiveCount: number;
    readonly sentAtMs: number;
    readonly receiptHandle: string;
  },
): SQSEvent {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `m${index}`,
      receiptHandle,
      body,
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: String(sentAtMs),
        SenderId: 'test',
        ApproximateFirstReceiveTimestamp: '1796063976084',
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:rewrite-data-files',
      awsRegion: 'us-east-1',
    })),
  };
}

/** Ids of the messages that were handed back. */
export function returned(response: SQSBatchResponse): readonly string[] {
  return response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}
