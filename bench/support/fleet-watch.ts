import { type Clock, isJsonObject, type JsonValue } from '../../shared/base/index.ts';
import type { Item } from '../../shared/ledger/index.ts';
import type { FleetWatcher } from './fleet-meter.ts';
import { FLEET_LOCATION, FLEET_NAMESPACE } from './fleet-table.ts';

const OPERATION = 'rewrite-data-files';

const ROUTERS: ReadonlySet<string> = new Set(['route-events', 'sweep-tables']);

/** A run that began, and how long it had been due and queued by then. */
export interface FleetWait {
  readonly table: string;
  readonly dueMs: number;
  readonly queuedMs: number;
}

interface Pending {
  readonly dueAtMs: number;
  readonly queuedAtMs: number;
}

/** From the read of a state to the write of the next, that of large metadata in between. */
const LOOK_MS_MAX = 1_000;

/** What processor time may shift a read by, against the time that its look began at. */
const TIMING_MS = 100;

/**
 * Sees from outside what Firn does to each table: whether it reads metadata more than once in an interval, whether two
 * runs are at work at once, and how long what is due waits for its run.
 */
export class FleetWatch implements FleetWatcher {
  readonly waits: FleetWait[] = [];
  /** Work that a message was sent for and that has not begun. */
  readonly pending = new Map<string, Pending>();
  /** When the ledger says that something will be due, where nothing is queued. */
  readonly #markedAtMs = new Map<string, number>();
  readonly runs = new Intervals();
  readonly leases = new Intervals();
  /** Reads of one table's metadata that came after another look was over, and before the interval was. */
  hastyReadCount = 0;
  /** Reads while another look at the table was under way, which neither can know of. */
  simultaneousReadCount = 0;
  readonly #readAtMs = new Map<string, number>();
  readonly #clock: Clock;
  readonly #intervalMs: number;

  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /** What was marked before counts from its mark; what was found due by this look counts from now. */
  onSend(table: string): void {
    if (this.pending.has(table)) return;
    const nowMs = this.#clock.nowMs();
    const dueAtMs = Math.min(nowMs, this.#markedAtMs.get(table) ?? nowMs);
    this.pending.set(table, { dueAtMs, queuedAtMs: nowMs });
  }

  /** The first thing that a run does, and the last one after it: only the first finds something pending. */
  onTableRead(functionName: string, table: string): void {
    if (functionName !== OPERATION) return;
    const pending = this.pending.get(table);
    if (pending === undefined) return;
    this.pending.delete(table);
    const nowMs = this.#clock.nowMs();
    const { dueAtMs, queuedAtMs } = pending;
    this.waits.push({ table, dueMs: nowMs - dueAtMs, queuedMs: nowMs - queuedAtMs });
  }

  /** A run reads metadata as often as it has to, and looks once when it has ended; routers are held to the interval. */
  onMetadataRead(functionName: string, location: string): void {
    if (!ROUTERS.has(functionName)) return;
    const table = tableOf(location);
    const nowMs = this.#clock.nowMs();
    const lastMs = this.#readAtMs.get(table);
    const gapMs = lastMs === undefined ? Number.POSITIVE_INFINITY : nowMs - lastMs;
    if (gapMs < LOOK_MS_MAX) this.simultaneousReadCount++;
    else if (gapMs < this.#intervalMs - TIMING_MS) this.hastyReadCount++;
    this.#readAtMs.set(table, nowMs);
  }

  onItemWrite(item: Item, before: Item | undefined): void {
    const { partition: table, sort } = item;
    if (sort === 'state') this.#noteState(table, item);
    if (sort.startsWith('lease#')) {
      const isHeld = typeof item.body['owner'] === 'string';
      const wasHeldBy = before?.body['owner'];
      if (isHeld && item.body['owner'] !== wasHeldBy) this.leases.begin(table);
      if (!isHeld && typeof wasHeldBy === 'string') this.leases.end(table);
    }
    if (sort.startsWith('run#')) {
      if (before === undefined) this.runs.begin(table);
      else if (isOpen(before) && !isOpen(item)) this.runs.end(table);
    }
  }

  #noteState(table: string, item: Item): void {
    const { 'due-at-ms': dueAtMs, 'queued-at-ms': queuedAtMs } = operationOf(item);
    if (queuedAtMs === undefined && typeof dueAtMs === 'number') {
      this.#markedAtMs.set(table, dueAtMs);
    } else {
      this.#markedAtMs.delete(table);
    }
  }
}

/** How many of something are open at once, by table. */
class Intervals {
  readonly #open = new Map<string, number>();
  #openCount = 0;
  beganCount = 0;
  /** The most of one table, and of all tables. */
  openOfOneMax = 0;
  openMax = 0;

  begin(table: string): void {
    const open = (this.#open.get(table) ?? 0) + 1;
    this.#open.set(table, open);
    this.beganCount++;
    this.#openCount++;
    this.openOfOneMax = Math.max(this.openOfOneMax, open);
    this.openMax = Math.max(this.openMax, this.#openCount);
  }

  end(table: string): void {
    this.#open.set(table, (this.#open.get(table) ?? 0) - 1);
    this.#openCount--;
  }

  get openCount(): number {
    return this.#openCount;
  }
}

function isOpen({ body }: Item): boolean {
  return body['status'] === 'open';
}

function operationOf(item: Item): Readonly<Record<string, JsonValue>> {
  const operations = item.body['operations'];
  const operation = isJsonObject(operations) ? operations[OPERATION] : undefined;
  return isJsonObject(operation) ? operation : {};
}

/** Full name of the table that a location belongs to. */
function tableOf(location: string): string {
  const [name] = location.slice(FLEET_LOCATION.length).split('/');
  return `${FLEET_NAMESPACE}.${name}`;
}
