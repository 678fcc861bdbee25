import type { Handler as RouteHandler } from '../../functions/route-events/handler.ts';
import { TableWriter } from '../../local/table-writer/index.ts';
import { ManualClock, parseJson, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog, parseTableIdentifier } from '../../shared/catalog/index.ts';
import type { Deployment, FunctionSettings } from '../../shared/deployment/index.ts';
import { MemoryItemStore } from '../../shared/ledger/index.ts';
import type { QueueFaults } from '../../shared/queue/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { memoryQueues } from '../support/memory-deployment.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { SETTINGS } from './rewrite-data-files/handler-fixture.ts';

const FIELDS = [{ fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } }] as const;

export type LogLine = Readonly<Record<string, unknown>>;

/** A deployment on memory ports, with tables. */
export function createFleet(
  options: {
    readonly settings?: Partial<FunctionSettings>;
    readonly queueFaults?: QueueFaults;
    /** Tables that the catalog has no answer for. */
    readonly unavailable?: Set<string>;
  } = {},
) {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(13);
  const catalog = new MemoryCatalog({
    clock,
    random,
    faults: {
      onRead: ({ name }) => (options.unavailable?.has(`db.${name}`) ? 'unavailable' : undefined),
    },
  });
  const store = new MemoryObjectStore({ clock });
  const items = new MemoryItemStore();
  const ledger = memoryLedger({ clock, items });
  const queues = memoryQueues({ clock, random }, options.queueFaults);
  const lines: LogLine[] = [];
  const deployment: Deployment = {
    settings: { ...SETTINGS, ...options.settings },
    warehouse: { catalogUrl: 'memory:', catalog, store, openLedger: () => ledger },
    queues: queues.queues,
    eventDeadLetters: queues.eventDeadLetters,
    clock,
    random,
    logDestination: { write: (line) => lines.push(parseJson(line, 'log line') as LogLine) },
  };
  return {
    clock,
    catalog,
    ledger,
    deployment,
    queue: queues.rewriteQueue,
    lines,
    letters: () => queues.eventQueue.deadLetters(),
    /** Tables that have a message waiting, which is taken. */
    rung: (): readonly string[] =>
      queues.rewriteQueue.receive({ countMax: 1000 }).map(({ groupId }) => groupId),
    invoke: (
      handler: RouteHandler | ((event: unknown, context: Context) => Promise<void>),
      event: unknown,
      remainingMs: () => number = () => 60_000,
    ) => handler(event, { awsRequestId: 'request-1', getRemainingTimeInMillis: remainingMs }),
    createTable: async (name: string, properties: Readonly<Record<string, string>> = {}) => {
      const identifier = parseTableIdentifier(name);
      const writer = await TableWriter.create(
        {
          identifier,
          location: `s3://bucket/${name}`,
          formatVersion: 2,
          fields: FIELDS,
          properties,
        },
        { catalog, store, clock, random },
      );
      await writer.append([{ rows: [{ 1: 1n }] }]);
      return writer;
    },
  };
}

type Context = Parameters<RouteHandler>[1];

/** A record of the catalog's stream. */
export function streamRecord(table: string, sequenceNumber: number, more: object = {}) {
  return {
    eventSource: 'aws:dynamodb',
    eventName: 'MODIFY',
    dynamodb: {
      Keys: {
        identifier: { S: table },
        namespace: { S: table.split('.').slice(0, -1).join('.') },
      },
      SequenceNumber: String(sequenceNumber),
    },
    ...more,
  };
}
