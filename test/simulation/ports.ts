import {
  type Clock,
  isIcebergError,
  type Logger,
  type Random,
  type RangedReader,
  silentLogger,
} from '../../shared/base/index.ts';
import { concatBytes } from '../../shared/bytes/index.ts';
import type {
  Catalog,
  PointerFence,
  PointerUpdate,
  TableIdentifier,
  TablePointer,
  WriteFault,
} from '../../shared/catalog/index.ts';
import { createLedger, type ItemStore, type Ledger } from '../../shared/ledger/index.ts';
import {
  type DeleteOutcome,
  MemoryObjectStore,
  type ObjectEntry,
  type ObjectStore,
  type ObjectWriter,
  type StoreFault,
  type WriteOptions,
} from '../../shared/storage/index.ts';
import { randomOf } from './chance.ts';
import type { FaultKind, FaultPort } from './faults.ts';
import type { Actor } from './scheduler.ts';
import type { World } from './world.ts';

/** The world as one actor has it: each call waits for its turns and may meet a fault. */
export interface ActorPorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts what it is told. */
  readonly logger: Logger;
}

export function actorPorts(actor: Actor, world: World, skewMs: number): ActorPorts {
  const faults = new ActorFaults(actor, world);
  const clock: Clock = {
    nowMs: () => world.clock.nowMs() + skewMs,
    sleepMs: (durationMs) => world.scheduler.sleep(actor, durationMs),
  };
  return {
    catalog: new SimulatedCatalog(actor, world, faults),
    store: new SimulatedStore(actor, world, faults),
    ledger: createLedger({
      items: simulatedItems(actor, world, faults),
      // Nothing here is large enough to get there.
      state: { store: new MemoryObjectStore(), prefix: 's3://firn-state/' },
      clock,
      random: randomOf(world.script.seed, `${actor.name} ledger`),
    }),
    clock,
    random: randomOf(world.script.seed, actor.name),
    logger: {
      ...silentLogger,
      debug: (event) => world.count(event),
      warn: (event, message) => world.count(event === 'commit.settled' ? message : event),
    },
  };
}

/** Counts an actor's calls by port, and looks up which of them meet a fault. */
class ActorFaults {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #callCounts = new Map<FaultPort, number>();

  constructor(actor: Actor, world: World) {
    this.#actor = actor;
    this.#world = world;
  }

  next<Port extends FaultPort>(port: Port): FaultKind<Port> | undefined {
    const nth = this.#callCounts.get(port) ?? 0;
    this.#callCounts.set(port, nth + 1);
    const fault = this.#world.script.faults.find(
      (each) => each.actor === this.#actor.name && each.port === port && each.nth === nth,
    );
    if (fault === undefined) return undefined;
    this.#world.countFault(`${port} ${fault.kind}`, this.#actor.name);
    return fault.kind as FaultKind<Port>;
  }
}

function simulatedItems(actor: Actor, world: World, faults: ActorFaults): ItemStore {
  const { items, scheduler } = world;
  const read = <Answer>(label: string, effect: () => Promise<Answer>): Promise<Answer> =>
    scheduler.call(actor, label, () => {
      world.ledgerFault = faults.next('ledger');
      return effect();
    });
  const change = (label: string, effect: () => Promise<void>): Promise<void> =>
    scheduler.call(actor, label, () => {
      const fault = faults.next('ledger');
      world.ledgerFault = fault;
      const answer = effect();
      if (fault === 'late') {
        const deliver = (): void => items.deliverLateWrites();
        scheduler.later(`late ${label} of ${actor.name}`, world.latenessMs(), deliver);
      }
      return answer;
    });
  return {
    read: (key) => read(`ledger read ${key.sort}`, () => items.read(key)),
    query: (query) => read(`ledger query ${query.sortPrefix}`, () => items.query(query)),
    write: (item, base) => change(`ledger write ${item.sort}`, () => items.write(item, base)),
    remove: (key, base) => change(`ledger remove ${key.sort}`, () => items.remove(key, base)),
  };
}

class SimulatedCatalog implements Catalog {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #faults: ActorFaults;

  constructor(actor: Actor, world: World, faults: ActorFaults) {
    this.#actor = actor;
    this.#world = world;
    this.#faults = faults;
  }

  loadTable(identifier: TableIdentifier): Promise<TablePointer> {
    return this.#call('loadTable', () => {
      this.#world.catalogReadFault = this.#faults.next('catalog');
      return this.#world.catalog.loadTable(identifier);
    });
  }

  listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier> {
    return this.#world.catalog.listTables(namespace);
  }

  registerTable(identifier: TableIdentifier, metadataLocation: string): Promise<TablePointer> {
    return this.#call('registerTable', () =>
      this.#world.pointer.byActor(this.#actor.name, () =>
        this.#world.catalog.registerTable(identifier, metadataLocation),
      ),
    );
  }

  commitTable(update: PointerUpdate): Promise<TablePointer> {
    return this.#write('commitTable', update.version, () => {
      this.#world.pointer.sent.set(this.#actor.name, update);
      return this.#world.catalog.commitTable(update);
    });
  }

  fenceTable(fence: PointerFence): Promise<TablePointer> {
    return this.#write('fenceTable', fence.version, () => this.#world.catalog.fenceTable(fence));
  }

  async #write(
    label: string,
    version: string,
    write: () => Promise<TablePointer>,
  ): Promise<TablePointer> {
    try {
      return await this.#call(label, () => this.#send(label, version, write));
    } catch (error) {
      // That no answer comes is noticed when a timeout is over.
      const waitMs = isIcebergError(error, 'commit-state-unknown') ? this.#world.silenceMs() : 0;
      if (waitMs > 0) await this.#world.scheduler.sleep(this.#actor, waitMs);
      throw error;
    }
  }

  async #send(
    label: string,
    version: string,
    write: () => Promise<TablePointer>,
  ): Promise<TablePointer> {
    const { pointer, scheduler, catalog } = this.#world;
    pointer.expect(version, this.#actor.name);
    const fault = this.#faults.next('pointer');
    if (fault === 'stall') await scheduler.sleep(this.#actor, STALL_MS);
    this.#world.pointerFault =
      fault === 'stall' ? undefined : (fault satisfies WriteFault | undefined);
    const answer = pointer.byActor(this.#actor.name, write);
    if (fault === 'late') {
      const deliver = (): void => pointer.byNetwork(() => catalog.deliverLateWrites());
      scheduler.later(`late ${label} of ${this.#actor.name}`, this.#world.latenessMs(), deliver);
    }
    return answer;
  }

  #call<Answer>(label: string, effect: () => Promise<Answer>): Promise<Answer> {
    return this.#world.scheduler.call(this.#actor, label, effect);
  }
}

const NOT_APPLIED: readonly FaultKind<'store'>[] = ['unavailable-before', 'throttled'];

/** Longer than a lease lasts. */
const STALL_MS = 200_000;

/** Long enough to run into every timeout that an adapter has. */
const TIMEOUT_MS = 30_000;

class SimulatedStore implements ObjectStore {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #faults: ActorFaults;

  constructor(actor: Actor, world: World, faults: ActorFaults) {
    this.#actor = actor;
    this.#world = world;
    this.#faults = faults;
  }

  head(location: string): Promise<ObjectEntry> {
    return this.#call(`head ${shorten(location)}`, (store) => store.head(location));
  }

  read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    return this.#call(`read ${shorten(location)}`, (store) =>
      store.read(location, fileSizeBytesMax),
    );
  }

  readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    return this.#call(`read ${shorten(location)} ${offset}+${lengthBytes}`, (store) =>
      store.readRange(location, offset, lengthBytes),
    );
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return {
      location,
      fileSizeBytes,
      read: (offset, lengthBytes) => this.readRange(location, offset, lengthBytes),
    };
  }

  write(location: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<void> {
    return this.#call(`write ${shorten(location)}`, (store, fault) => {
      const takesEffect = fault === undefined || !NOT_APPLIED.includes(fault);
      if (takesEffect) this.#world.objects.written(location, bytes, this.#actor.name);
      return store.write(location, bytes, options);
    });
  }

  openWriter(location: string): ObjectWriter {
    const chunks: Uint8Array[] = [];
    return {
      write: async (bytes) => {
        chunks.push(bytes);
      },
      close: async () => {
        const bytes = concatBytes(chunks);
        await this.write(location, bytes);
        return bytes.length;
      },
      abort: async () => {},
    };
  }

  list(prefix: string): AsyncIterable<ObjectEntry> {
    return this.#world.store.list(prefix);
  }

  delete(locations: readonly string[]): Promise<DeleteOutcome> {
    return this.#call(`delete ${locations.map(shorten).join(' ')}`, (store) => {
      this.#world.objects.deleted(locations, this.#actor.name);
      return store.delete(locations);
    });
  }

  #call<Answer>(
    label: string,
    effect: (store: ObjectStore, fault: FaultKind<'store'> | undefined) => Promise<Answer>,
  ): Promise<Answer> {
    return this.#world.scheduler.call(this.#actor, label, async () => {
      const fault = this.#faults.next('store');
      if (fault === 'stall') await this.#world.scheduler.sleep(this.#actor, STALL_MS);
      this.#world.storeFault = storeFault(fault);
      return effect(this.#world.store, fault);
    });
  }
}

function storeFault(kind: FaultKind<'store'> | undefined): StoreFault | undefined {
  if (kind === undefined || kind === 'stall') return undefined;
  if (kind === 'timeout') return { failure: 'answer-lost', latencyMs: TIMEOUT_MS };
  return { failure: kind };
}

function shorten(location: string): string {
  return location.slice(location.lastIndexOf('/') + 1);
}
