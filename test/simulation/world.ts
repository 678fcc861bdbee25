import { ManualClock } from '../../shared/base/index.ts';
import {
  formatTableIdentifier,
  MemoryCatalog,
  type TableIdentifier,
  type WriteFault,
} from '../../shared/catalog/index.ts';
import { type ItemFault, MemoryItemStore } from '../../shared/ledger/index.ts';
import { MemoryObjectStore, type StoreFault } from '../../shared/storage/index.ts';
import { type Chance, chanceOf, randomOf } from './chance.ts';
import { type FaultKind, STALL_MS } from './faults.ts';
import { ObjectWatch } from './object-watch.ts';
import { PointerWatch } from './pointer-watch.ts';
import { type Actor, Scheduler, type TurnChooser } from './scheduler.ts';
import { type ActorScript, type Cue, type Script, tablesOf } from './script.ts';

/** The first table. */
export const IDENTIFIER: TableIdentifier = { namespace: ['db'], name: 'orders' };

/** A table by its number. */
export function identifierOf(table = 0): TableIdentifier {
  return table === 0 ? IDENTIFIER : { namespace: ['db'], name: `other${table}` };
}

/** The actor that runs when all others have ended. */
export const LAST_RUN = 'firn-last';

export const LAST_SCRIPT: ActorScript = {
  name: LAST_RUN,
  kind: 'firn',
  taskCount: 1,
  delayMs: 0,
  skewMs: 0,
};

export function isFirn(actor: string): boolean {
  return actor.startsWith('firn-');
}

const START_MS = Date.UTC(2026, 10, 30);

/** How long a late write may be under way at most: others can do a lot in that time. */
const LATENESS_MS_MAX = 20_000;

/** How often a frozen actor is looked at: less than the work of a run takes. */
const FREEZE_LOOK_MS = 500;

/** An adapter's timeout. */
const SILENCE_MS_MAX = 5000;

/** Stores, catalog and time of one simulation, and everything that is watched in it. */
export class World {
  readonly script: Script;
  readonly clock = new ManualClock(START_MS);
  readonly store: MemoryObjectStore;
  /** Firn's own, for what is too large for the ledger. */
  readonly state: MemoryObjectStore;
  readonly catalog: MemoryCatalog;
  readonly items: MemoryItemStore;
  readonly scheduler: Scheduler;
  /** Of each table, by its full name. */
  readonly #pointers: ReadonlyMap<string, PointerWatch>;
  readonly objects = new ObjectWatch();
  readonly log: string[] = [];
  /** Commits by kind, faults, and what else is worth knowing, by name. */
  readonly counts = new Map<string, number>();
  /** Calls that may meet a fault, by actor and port. */
  readonly callCounts = new Map<string, number>();
  /** Faults that each actor met. */
  readonly faultCounts = new Map<string, number>();
  /** Locations on the tombstone list by item, as the requests that were sent say. */
  readonly tombstones = new Map<string, string>();
  /** What Firn has done so far, for those who wait for it. */
  readonly #cueCounts = new Map<Cue, number>();
  /** Called after each turn, when everybody waits. */
  onTurn: (() => Promise<void>) | undefined;
  /** What the call that is being made meets; each is met once. */
  storeFault: StoreFault | undefined;
  catalogReadFault: 'unavailable' | undefined;
  pointerFault: WriteFault | undefined;
  ledgerFault: ItemFault | undefined;
  readonly #runOwners = new Map<string, string>();
  readonly #chance: Chance;
  #isCalm = false;

  constructor(script: Script, chooser: TurnChooser, afterTurn: () => Promise<void>) {
    this.script = script;
    this.#chance = chanceOf(script.seed, 'world');
    const faults = { next: () => Promise.resolve(this.#takeStoreFault()) };
    this.store = new MemoryObjectStore({ clock: this.clock, faults });
    this.state = new MemoryObjectStore({ clock: this.clock, faults });
    this.catalog = new MemoryCatalog({
      clock: this.clock,
      random: randomOf(script.seed, 'catalog'),
      faults: {
        onRead: () => this.#takeReadFault(),
        onWrite: () => this.#takePointerFault(),
      },
    });
    this.items = new MemoryItemStore({ next: () => Promise.resolve(this.#takeLedgerFault()) });
    this.#pointers = new Map(
      tablesOf(script).map((_, table) => {
        const identifier = identifierOf(table);
        return [formatTableIdentifier(identifier), new PointerWatch(this.catalog, identifier)];
      }),
    );
    this.scheduler = new Scheduler({
      clock: this.clock,
      chooser,
      crashes: script.crashes,
      afterTurn,
      log: (line) => this.note(line),
      onCrash: (actor, name) => this.countFault(name, actor),
    });
  }

  /** Of the first table. */
  get pointer(): PointerWatch {
    return this.pointerOf(IDENTIFIER);
  }

  /** Of a table of the script. */
  pointerOf(identifier: TableIdentifier): PointerWatch {
    const pointer = this.#pointers.get(formatTableIdentifier(identifier));
    if (pointer === undefined) throw new TypeError(`world: nobody watches ${identifier.name}`);
    return pointer;
  }

  /** Lets late writes of pointers arrive, whoever sent them. */
  deliverLatePointers(): void {
    this.catalog.deliverLateWrites();
    for (const pointer of this.#pointers.values()) pointer.byNetwork();
  }

  /** From now on nothing goes wrong. */
  get isCalm(): boolean {
    return this.#isCalm;
  }

  calmDown(): void {
    this.#isCalm = true;
    this.scheduler.endCrashes();
  }

  /** A line of the event log. */
  note(line: string): void {
    this.log.push(`${String(this.clock.nowMs() - START_MS).padStart(7)} ${line}`);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  countFault(name: string, actor: string): void {
    this.count(`fault ${name}`);
    this.faultCounts.set(actor, (this.faultCounts.get(actor) ?? 0) + 1);
  }

  cueCount(cue: Cue): number {
    return this.#cueCounts.get(cue) ?? 0;
  }

  /** Somebody does what others may wait for Firn to do. */
  giveCue(cue: Cue, actor: string): void {
    if (isFirn(actor)) this.#cueCounts.set(cue, this.cueCount(cue) + 1);
  }

  /** Somebody writes a run's record: first the one whose run it is, and maybe others who settle it. */
  noteRunRecord(write: {
    readonly sort: string;
    readonly actor: string;
    readonly status: unknown;
  }): void {
    const owner = this.#runOwners.get(write.sort) ?? write.actor;
    this.#runOwners.set(write.sort, owner);
    if (owner !== write.actor && write.status !== 'open') this.giveCue('run-settled', write.actor);
  }

  /** Holds an actor up, if its fault does; whether it did. */
  async holdUp(actor: Actor, fault: FaultKind | undefined): Promise<boolean> {
    if (fault === 'stall') await this.scheduler.sleep(actor, STALL_MS);
    if (fault === 'freeze') await this.#freeze(actor);
    return fault === 'stall' || fault === 'freeze';
  }

  async #freeze(actor: Actor): Promise<void> {
    const settledCount = this.cueCount('run-settled');
    const endMs = this.clock.nowMs() + STALL_MS;
    while (this.cueCount('run-settled') === settledCount && this.clock.nowMs() < endMs) {
      await this.scheduler.sleep(actor, FREEZE_LOOK_MS);
    }
    await this.scheduler.sleep(actor, this.#chance.below(FREEZE_LOOK_MS));
  }

  /** How long a late write is under way. */
  latenessMs(): number {
    return this.#chance.below(LATENESS_MS_MAX);
  }

  /** How long somebody waits for an answer that does not come. */
  silenceMs(): number {
    return this.#chance.pick([0, SILENCE_MS_MAX, SILENCE_MS_MAX]);
  }

  #takeStoreFault(): StoreFault | undefined {
    const fault = this.storeFault;
    this.storeFault = undefined;
    return fault;
  }

  #takeLedgerFault(): ItemFault | undefined {
    const fault = this.ledgerFault;
    this.ledgerFault = undefined;
    return fault;
  }

  #takeReadFault(): 'unavailable' | undefined {
    const fault = this.catalogReadFault;
    this.catalogReadFault = undefined;
    return fault;
  }

  #takePointerFault(): WriteFault | undefined {
    const fault = this.pointerFault;
    this.pointerFault = undefined;
    return fault;
  }
}
