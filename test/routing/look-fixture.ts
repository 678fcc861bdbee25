import { TableWriter } from '../../local/table-writer/index.ts';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog, parseTableIdentifier } from '../../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import type { OperationState, TableState } from '../../shared/ledger/index.ts';
import { MemoryItemStore } from '../../shared/ledger/index.ts';
import { MemoryQueue, type SendFault } from '../../shared/queue/index.ts';
import {
  type LookCause,
  type LookOutcome,
  lookAtTable,
  type RequestOutcome,
  type RoutingSettings,
  requestOperation,
  stateAfterRun,
} from '../../shared/routing/index.ts';
import { countingStore, MemoryObjectStore } from '../../shared/storage/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const FIELDS = [{ fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } }] as const;

/** Of two rows each. */
export function smallFiles(fileCount: number) {
  return Array.from({ length: fileCount }, (_, index) => ({
    rows: [{ 1: BigInt(2 * index) }, { 1: BigInt(2 * index + 1) }],
  }));
}

export interface RequestTotals {
  readonly catalogReads: number;
  readonly ledgerReads: number;
  readonly ledgerWrites: number;
  readonly objectReads: number;
}

/** Tables on memory ports, and somebody who looks at them. */
export function createFleet(settings: Partial<RoutingSettings> = {}) {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(11);
  let catalogFault: 'unavailable' | undefined;
  let isCrashing = false;
  let interruption: (() => Promise<unknown>) | undefined;
  let queueFault: SendFault | undefined;
  const catalog = new MemoryCatalog({
    clock,
    random,
    faults: { onRead: () => catalogFault },
  });
  let catalogReads = 0;
  const store = new MemoryObjectStore({ clock });
  const items = new MemoryItemStore({
    next: async ({ operation, sort }) => {
      if (operation !== 'write' || sort !== 'state') return undefined;
      const interrupt = interruption;
      interruption = undefined;
      await interrupt?.();
      if (isCrashing) {
        isCrashing = false;
        throw new TypeError('crash');
      }
      return undefined;
    },
  });
  const ledger = memoryLedger({ clock, items });
  const queue = new MemoryQueue({
    name: 'rewrite-data-files',
    visibilityTimeoutMs: 60_000,
    receiveCountMax: 3,
    clock,
    random,
    faults: {
      onSend: () => {
        const fault = queueFault;
        queueFault = undefined;
        return fault;
      },
    },
  });
  const bodies: string[] = [];
  const countedCatalog = {
    loadTable: (identifier: Parameters<MemoryCatalog['loadTable']>[0]) => {
      catalogReads++;
      return catalog.loadTable(identifier);
    },
  };
  const counted = countingStore(store);
  const deploy = (deployed: Partial<RoutingSettings>) => {
    const ports = {
      catalog: countedCatalog,
      store: counted,
      ledger,
      queues: {
        'rewrite-deletes': { send: async () => {} },
        'rewrite-data-files': {
          send: async (message: { readonly body: string; readonly groupId: string }) => {
            await queue.send(message);
            bodies.push(message.body);
          },
        },
      },
      settings: {
        enabledTables: ['db.t'],
        isObserving: false,
        guards: LOWERED_GUARD_SETTINGS,
        routingIntervalMsFloor: 60_000,
        ...deployed,
      },
      clock,
      random,
    };
    const lookFully = (table: string, cause: LookCause = 'stream'): Promise<LookOutcome> =>
      lookAtTable({ identifier: parseTableIdentifier(table), cause, correlationId: 'c-1' }, ports);
    return {
      lookFully,
      /** What it came to, without the view. */
      look: async (table: string, cause: LookCause = 'stream') => {
        const outcome = await lookFully(table, cause);
        if (outcome.outcome !== 'looked') return { outcome: outcome.outcome };
        return { outcome: outcome.outcome, sent: outcome.sent };
      },
      request: (table: string): Promise<RequestOutcome> =>
        requestOperation(
          {
            identifier: parseTableIdentifier(table),
            operation: 'rewrite-data-files',
            reason: 'because',
            correlationId: 'c-2',
          },
          ports,
        ),
    };
  };
  const requests = (): RequestTotals => ({
    catalogReads,
    objectReads: counted.requestCounts.read,
    ledgerReads: ledger.requestCounts.readCount,
    ledgerWrites: ledger.requestCounts.writeCount,
  });
  const writerPorts = { catalog, store, clock, random };
  const state = (table: string): Promise<TableState | undefined> => ledger.states.read(table);
  return {
    clock,
    store,
    ledger,
    ...deploy(settings),
    deployedAgain: deploy,
    bodies: () => bodies,
    requests,
    requestsSince: (before: RequestTotals): RequestTotals => {
      const now = requests();
      return {
        catalogReads: now.catalogReads - before.catalogReads,
        ledgerReads: now.ledgerReads - before.ledgerReads,
        ledgerWrites: now.ledgerWrites - before.ledgerWrites,
        objectReads: now.objectReads - before.objectReads,
      };
    },
    state,
    compaction: async (table: string): Promise<OperationState | undefined> =>
      (await state(table))?.operations['rewrite-data-files'],
    /** Tables that are due, or will be within the time. */
    due: async (withinMs = 0): Promise<readonly string[]> => {
      const query = { dueAtMsMax: clock.nowMs() + withinMs, tableCountMax: 100 };
      return (await ledger.states.listDue(query)).tables.map(({ table }) => table);
    },
    reportReasons: async (table: string): Promise<readonly string[]> =>
      (await ledger.reports.list({ table, reportCountMax: 9 })).reports.map(({ reason }) => reason),
    createTable: async (name: string, properties: Readonly<Record<string, string>> = {}) => {
      const identifier = parseTableIdentifier(name);
      const location = `s3://bucket/${name}-${clock.nowMs()}`;
      const writer = await TableWriter.create(
        { identifier, location, formatVersion: 2, fields: FIELDS, properties },
        writerPorts,
      );
      await writer.append(smallFiles(2));
      return writer;
    },
    drop: async (name: string): Promise<void> => {
      catalog.dropTable(parseTableIdentifier(name));
    },
    /** A run planned the table's head, just now or begun at a time, and left nothing over. */
    planned: async (
      table: string,
      mode: 'observe' | 'commit' = 'commit',
      startedAtMs = clock.nowMs(),
    ): Promise<void> => {
      const { metadata } = await loadTable(parseTableIdentifier(table), writerPorts);
      const snapshotId = metadata.currentSnapshotId ?? -1n;
      const plan = { snapshotId, atMs: startedAtMs, untilMs: startedAtMs, mode };
      const ended = {
        operation: 'rewrite-data-files',
        ending: { ending: 'planned', plan },
        startedAtMs,
        nowMs: clock.nowMs(),
      } as const;
      await ledger.states.change(table, (before) => stateAfterRun(before, ended));
    },
    crashNextWrite: (): void => {
      isCrashing = true;
    },
    beforeNextWrite: (step: () => Promise<unknown>): void => {
      interruption = step;
    },
    queueFault: (fault: SendFault): void => {
      queueFault = fault;
    },
    catalogFault: (fault: 'unavailable'): void => {
      catalogFault = fault;
    },
  };
}
