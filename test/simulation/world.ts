import { ManualClock } from '../../shared/base/index.ts';
import {
  MemoryCatalog,
  type TableIdentifier,
  type WriteFault,
} from '../../shared/catalog/index.ts';
import { type ItemFault, MemoryItemStore } from '../../shared/ledger/index.ts';
import { MemoryObjectStore, type StoreFault } from '../../shared/storage/index.ts';
import { type Chance, chanceOf, randomOf } from './chance.ts';
import { ObjectWatch } from './object-watch.ts';
import { PointerWatch } from './pointer-watch.ts';
import { Scheduler, type TurnChooser } from './scheduler.ts';
import type { Script } from './script.ts';

export const IDENTIFIER: TableIdentifier = { namespace: ['db'], name: 'orders' };

const START_MS = Date.UTC(2026, 10, 30);

/** How long a late write may be under way at most: others can do a lot in that time. */
const LATENESS_MS_MAX = 20_000;

/** An adapter's timeout. */
const SILENCE_MS_MAX = 5000;

/** Stores, catalog and time of one simulation, and everything that is watched in it. */
export class World {
  readonly script: Script;
  readonly clock = new ManualClock(START_MS);
  readonly store: MemoryObjectStore;
  readonly catalog: MemoryCatalog;
  readonly items: MemoryItemStore;
  readonly scheduler: Scheduler;
  readonly pointer: PointerWatch;
  readonly objects = new ObjectWatch();
  readonly log: string[] = [];
  /** Commits by kind, faults, and what else is worth knowing, by name. */
  readonly counts = new Map<string, number>();
  /** Faults that each actor met. */
  readonly faultCounts = new Map<string, number>();
  /** What the call that is being made meets; each is met once. */
  storeFault: StoreFault | undefined;
  catalogReadFault: 'unavailable' | undefined;
  pointerFault: WriteFault | undefined;
  ledgerFault: ItemFault | undefined;
  readonly #chance: Chance;

  constructor(script: Script, chooser: TurnChooser, afterTurn: () => Promise<void>) {
    this.script = script;
    this.#chance = chanceOf(script.seed, 'world');
    this.store = new MemoryObjectStore({
      clock: this.clock,
      faults: { next: () => Promise.resolve(this.#takeStoreFault()) },
    });
    this.catalog = new MemoryCatalog({
      clock: this.clock,
      random: randomOf(script.seed, 'catalog'),
      faults: {
        onRead: () => this.#takeReadFault(),
        onWrite: () => this.#takePointerFault(),
      },
    });
    this.items = new MemoryItemStore({ next: () => Promise.resolve(this.#takeLedgerFault()) });
    this.pointer = new PointerWatch(this.catalog, IDENTIFIER);
    this.scheduler = new Scheduler({
      clock: this.clock,
      chooser,
      crashes: script.crashes,
      afterTurn,
      log: (line) => this.note(line),
      onCrash: (actor, name) => this.countFault(name, actor),
    });
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

  /** How long a late write is under way. */
  latenessMs(): number {
    return this.#chance.below(LATENESS_MS_MAX);
  }

  /** How long somebody waits for an answer that does not come. */
  silenceMs(): number {
    return this.#chance.pick([0, SILENCE_MS_MAX]);
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
