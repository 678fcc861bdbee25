import { createHash } from 'node:crypto';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { ExitCode } from '../../cli/exit-codes.ts';
import type { Session } from '../../cli/session.ts';
import { readFunctionConfig } from '../../functions/rewrite-data-files/config.ts';
import { createHandler } from '../../functions/rewrite-data-files/handler.ts';
import { TableWriter } from '../../local/table-writer/index.ts';
import { type JsonObject, ManualClock, parseJson, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog, parseTableIdentifier } from '../../shared/catalog/index.ts';
import { type Ledger, MemoryItemStore } from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import type { Warehouse } from '../../shared/warehouse/index.ts';
import { LEAST_ENVIRONMENT, memoryQueues } from '../support/memory-deployment.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { createTables } from './fixture-tables.ts';

/** The fixtures were written in the last hours of the day before. */
const WRITTEN_MS = Date.UTC(2026, 11, 1);
const BUCKETS = ['warehouse', 'firn-demo', 'own'];

/** What was printed by a command of the `firn` program. */
export interface Printed {
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly document: JsonObject | undefined;
}

/** Everything that Firn is, on one warehouse of every table that tests have, with nothing configured. */
export interface ShippedDeployment {
  readonly clock: ManualClock;
  readonly tableNames: readonly string[];
  readonly ledger: Ledger;
  readonly items: MemoryItemStore;
  /** Somebody else's access to a table. */
  writerOf(table: string): TableWriter;
  /** Every object of every table with a hash of its bytes, and every record of the catalog. */
  photograph(): Promise<unknown>;
  /** One message for each table; what the function logged of each. */
  wakeForAll(): Promise<{
    readonly answer: SQSBatchResponse;
    readonly lines: readonly JsonObject[];
  }>;
  firn(command: (session: Session) => Promise<ExitCode>, isJson?: boolean): Promise<Printed>;
}

export async function createShippedDeployment(): Promise<ShippedDeployment> {
  const clock = new ManualClock(WRITTEN_MS);
  const random = seededRandom(41);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random });
  const tableNames = await createTables({ catalog, store, clock, random });
  const items = new MemoryItemStore();
  const ledger = memoryLedger({ clock, items });
  const config = readFunctionConfig(LEAST_ENVIRONMENT);
  const warehouse: Warehouse = {
    catalogUrl: config.catalogUrl,
    catalog,
    store,
    openLedger: () => ledger,
  };
  return {
    clock,
    tableNames,
    ledger,
    items,
    writerOf: (table) =>
      new TableWriter(parseTableIdentifier(table), { catalog, store, clock, random }),
    photograph: () => photograph({ store, catalog, tableNames }),
    wakeForAll: async () => {
      const lines: JsonObject[] = [];
      const logDestination = {
        write: (line: string) => lines.push(parseJson(line, 'log line') as JsonObject),
      };
      const handler = createHandler({
        settings: config,
        warehouse,
        ...memoryQueues({ clock, random }),
        clock,
        random,
        logDestination,
      });
      const event: SQSEvent = {
        Records: tableNames.map((table) => messageFor(table, clock.nowMs())),
      };
      const answer = await handler(event, {
        awsRequestId: 'request-1',
        getRemainingTimeInMillis: () => 900_000,
      });
      return { answer, lines };
    },
    firn: async (command, isJson = false) => {
      const lines: string[] = [];
      let document: JsonObject | undefined;
      const exitCode = await command({
        warehouse,
        initLedger: async () => ({ kind: 'file' }),
        clock,
        random,
        isJson,
        widthMax: undefined,
        progress: { update: () => {}, clear: () => {} },
        print: (printed) => lines.push(...printed),
        printJson: (value) => {
          document = value as JsonObject;
        },
      });
      return { exitCode, text: lines.join('\n'), document };
    },
  };
}

async function photograph({
  store,
  catalog,
  tableNames,
}: {
  readonly store: MemoryObjectStore;
  readonly catalog: MemoryCatalog;
  readonly tableNames: readonly string[];
}): Promise<unknown> {
  const objects: unknown[] = [];
  for (const bucket of BUCKETS) {
    for await (const { location, fileSizeBytes, lastModifiedMs } of store.list(`s3://${bucket}/`)) {
      const bytes = await store.read(location, fileSizeBytes);
      const hash = createHash('sha256').update(bytes).digest('hex');
      objects.push({ location, lastModifiedMs, hash });
    }
  }
  const records = tableNames.map((name) => catalog.readRecord(parseTableIdentifier(name)));
  return structuredClone({ objects, records });
}

function messageFor(table: string, sentAtMs: number) {
  return {
    messageId: table,
    receiptHandle: table,
    body: JSON.stringify({
      version: 1,
      operation: 'rewrite-data-files',
      table,
      reason: 'a test of the defaults',
      correlationId: table,
    }),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: String(sentAtMs),
      SenderId: 'test',
      ApproximateFirstReceiveTimestamp: String(sentAtMs),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:rewrite-data-files',
    awsRegion: 'us-east-1',
  };
}
