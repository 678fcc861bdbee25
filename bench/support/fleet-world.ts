import { deployLocally, type LocalDeployment } from '../../local/deployment/index.ts';
import { ItemStream } from '../../local/stream/index.ts';
import {
  isJsonObject,
  parseJson,
  type Random,
  randomFraction,
  seededRandom,
} from '../../shared/base/index.ts';
import {
  type Catalog,
  formatNamespace,
  formatTableIdentifier,
  MemoryCatalog,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import type { FunctionSettings } from '../../shared/deployment/index.ts';
import { DEFAULT_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { createLedger, type Ledger, MemoryItemStore } from '../../shared/ledger/index.ts';
import { DEFAULT_ROUTING_SETTINGS } from '../../shared/routing/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import type { Warehouse } from '../../shared/warehouse/index.ts';
import { EventClock } from './event-clock.ts';
import { FleetMeter } from './fleet-meter.ts';
import type { FleetPorts } from './fleet-table.ts';
import { FleetWatch } from './fleet-watch.ts';
import { slowCatalog, slowItems, slowStore } from './slow-ports.ts';

export const FLEET_LATENCIES = { getMs: 20, putMs: 40, itemMs: 6 } as const;
export const FLEET_CONCURRENCY = 10;
export const FLEET_SHARDS = 4;

/** SQS delivers at least once: of a hundred messages, one comes twice. */
export const FLEET_DOUBLED_FRACTION = 0.01;

/** A sweep that comes while a table must not be read yet leaves it to the next one, five minutes later. */
export const FLEET_OVERDUE_MS_MAX = 11 * 60_000;

/** What a runtime adds before a handler is called, and after it has returned. */
const RUNTIME_MS = 1;

const START_MS = Date.UTC(2026, 10, 30);
const STATE = 's3://firn-state/ledger/';

/** As shipped; what is allowed is said by each table. */
const SETTINGS: FunctionSettings = {
  enabledTables: [],
  isObserving: false,
  guards: DEFAULT_GUARD_SETTINGS,
  routingIntervalMsFloor: DEFAULT_ROUTING_SETTINGS.routingIntervalMsFloor,
  messageVisibilityMs: 180_000,
  logLevel: 'info',
};

/** One function's invocation, from the event to the answer. */
export interface FleetInvocation {
  readonly functionName: string;
  /** Its requests and its processor time, each on a processor of its own. */
  readonly durationMs: number;
  readonly ended: string;
  readonly failedCount: number;
}

/** Firn as it is deployed, over ports in memory whose requests take their time on a clock that jumps. */
export interface FleetWorld {
  readonly clock: EventClock;
  readonly random: Random;
  /** Of the engines that write: their requests take no time. */
  readonly writerPorts: FleetPorts;
  readonly firn: LocalDeployment;
  /** Beside Firn's own, for checks: not counted. */
  readonly ledger: Ledger;
  readonly settings: FunctionSettings;
  readonly meter: FleetMeter;
  readonly watch: FleetWatch;
  readonly invocations: FleetInvocation[];
  /** Log lines by their event, and by outcome where they have one. */
  readonly logCounts: Map<string, number>;
  /** The first lines at `warn` or `error`. */
  readonly complaints: string[];
}

export function openFleetWorld(seed: number): FleetWorld {
  const clock = new EventClock(START_MS);
  const random = seededRandom(seed);
  const stream = new ItemStream({
    tableName: 'iceberg',
    region: 'us-east-1',
    viewType: 'KEYS_ONLY',
    shardCount: FLEET_SHARDS,
    clock,
    random,
  });
  const catalog = withStream(new MemoryCatalog({ clock, random }), stream);
  const store = new MemoryObjectStore({ clock });
  const items = new MemoryItemStore();
  const watch = new FleetWatch(clock, SETTINGS.routingIntervalMsFloor);
  const meter = new FleetMeter(watch);
  const firnStore = slowStore(meter.store(store), clock, FLEET_LATENCIES);
  const firnLedger = createLedger({
    items: slowItems(meter.items(items), clock, FLEET_LATENCIES),
    state: { store: firnStore, prefix: STATE },
    clock,
    random,
  });
  const warehouse: Warehouse = {
    catalogUrl: 'memory:',
    catalog: slowCatalog(meter.catalog(catalog), clock, FLEET_LATENCIES),
    store: firnStore,
    openLedger: () => firnLedger,
  };
  const invocations: FleetInvocation[] = [];
  const logCounts = new Map<string, number>();
  const complaints: string[] = [];
  const firn = deployLocally({
    cloud: { warehouse, clock, random },
    stream,
    settings: SETTINGS,
    rewriteConcurrencyMax: FLEET_CONCURRENCY,
    queueFaults: {
      onSend: ({ groupId }) => {
        watch.onSend(groupId);
        return undefined;
      },
      onDelivery: () => (randomFraction(random) < FLEET_DOUBLED_FRACTION ? 'doubled' : undefined),
    },
    logDestination: { write: (line) => noteLine(line, { logCounts, complaints }) },
    onInvocation: ({ functionName, durationMs, ended, failedCount }) => {
      const usage = meter.usageOf(functionName);
      usage.invocationCount++;
      usage.durationMs += durationMs;
      invocations.push({ functionName, durationMs, ended, failedCount });
    },
    aroundHandler: (functionName, call) =>
      meter.around(functionName, async () => {
        await clock.sleepMs(RUNTIME_MS);
        const answer = await call();
        await clock.sleepMs(RUNTIME_MS);
        return answer;
      }),
  });
  return {
    clock,
    random,
    writerPorts: { catalog, store, clock, random },
    firn,
    ledger: createLedger({ items, state: { store, prefix: STATE }, clock, random }),
    settings: SETTINGS,
    meter,
    watch,
    invocations,
    logCounts,
    complaints,
  };
}

const COMPLAINTS_MAX = 5;

function noteLine(
  line: string,
  { logCounts, complaints }: Pick<FleetWorld, 'logCounts' | 'complaints'>,
): void {
  const fields = parseJson(line, 'log line');
  if (!isJsonObject(fields)) return;
  const { event, outcome, level } = fields;
  const name = outcome === undefined ? String(event) : `${String(event)} ${String(outcome)}`;
  logCounts.set(name, (logCounts.get(name) ?? 0) + 1);
  const isComplaint = level === 'warn' || level === 'error';
  if (isComplaint && complaints.length < COMPLAINTS_MAX) complaints.push(line.trimEnd());
}

/** Writes are followed by records, as those of a table with a stream. */
function withStream(catalog: MemoryCatalog, stream: ItemStream): Catalog {
  const written = <Pointer extends { readonly identifier: TableIdentifier }>(pointer: Pointer) => {
    const { identifier } = pointer;
    const keys = {
      identifier: { S: formatTableIdentifier(identifier) },
      namespace: { S: formatNamespace(identifier.namespace) },
    };
    stream.append({ tableName: 'iceberg', keys, newImage: keys });
    return pointer;
  };
  return {
    loadTable: (identifier) => catalog.loadTable(identifier),
    listTables: (namespace) => catalog.listTables(namespace),
    // Tables are older than the deployment, and its stream.
    registerTable: (identifier, location) => catalog.registerTable(identifier, location),
    commitTable: async (update) => written(await catalog.commitTable(update)),
    fenceTable: async (fence) => written(await catalog.fenceTable(fence)),
  };
}
