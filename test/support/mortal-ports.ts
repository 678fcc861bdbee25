import type { RangedReader } from '../../shared/base/index.ts';
import type {
  Catalog,
  PointerFence,
  PointerUpdate,
  TableIdentifier,
} from '../../shared/catalog/index.ts';
import type { ItemStore } from '../../shared/ledger/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';

/** What a port call throws once the process is dead; no code can mistake it for an operating error. */
export class Crash extends Error {}

/** Ends a process before a call's effect, or after it and before its answer. */
export interface CrashPoint {
  /** From 0. */
  readonly callIndex: number;
  readonly moment: 'before' | 'after';
}

/** A process that dies at one of its port calls; from then on every call of it fails and has no effect. */
export class MortalProcess {
  readonly calls: string[] = [];
  readonly #crash: CrashPoint | undefined;
  #isDead = false;

  constructor(crash?: CrashPoint) {
    this.#crash = crash;
  }

  async call<Answer>(label: string, effect: () => Promise<Answer>): Promise<Answer> {
    if (this.#isDead) throw new Crash(label);
    const isLast = this.#crash?.callIndex === this.calls.push(label) - 1;
    if (isLast && this.#crash?.moment === 'before') this.#die(label);
    const answer = await effect();
    if (isLast) this.#die(label);
    if (this.#isDead) throw new Crash(label);
    return answer;
  }

  catalog(catalog: Catalog): Catalog {
    return {
      loadTable: (identifier: TableIdentifier) =>
        this.call('load pointer', () => catalog.loadTable(identifier)),
      listTables: (namespace) => catalog.listTables(namespace),
      registerTable: (identifier, location) => catalog.registerTable(identifier, location),
      commitTable: (update: PointerUpdate) =>
        this.call('move pointer', () => catalog.commitTable(update)),
      fenceTable: (fence: PointerFence) =>
        this.call('fence pointer', () => catalog.fenceTable(fence)),
    };
  }

  store(store: ObjectStore): ObjectStore {
    return {
      head: (location) => this.call(`head ${location}`, () => store.head(location)),
      read: (location, max) => this.call(`read ${location}`, () => store.read(location, max)),
      readRange: (location, offset, length) =>
        this.call(`read ${location}`, () => store.readRange(location, offset, length)),
      openRanged: (location, fileSizeBytes) =>
        this.#reader(store.openRanged(location, fileSizeBytes)),
      write: (location, bytes, options) =>
        this.call(`write ${location}`, () => store.write(location, bytes, options)),
      openWriter: (location) => {
        const writer = store.openWriter(location);
        return {
          // Nothing is there before it is closed.
          write: (bytes) => writer.write(bytes),
          close: () => this.call(`close ${location}`, () => writer.close()),
          abort: () => this.call(`abort ${location}`, () => writer.abort()),
        };
      },
      list: (prefix) => store.list(prefix),
      delete: (locations) => this.call('delete', () => store.delete(locations)),
    };
  }

  items(items: ItemStore): ItemStore {
    return {
      read: (key) => this.call(`ledger read ${key.sort}`, () => items.read(key)),
      query: (query) => this.call(`ledger query ${query.sortPrefix}`, () => items.query(query)),
      queryDue: (query) => this.call(`ledger query due ${query.sort}`, () => items.queryDue(query)),
      write: (item, base) => this.call(`ledger write ${item.sort}`, () => items.write(item, base)),
      remove: (key, base) => this.call(`ledger remove ${key.sort}`, () => items.remove(key, base)),
    };
  }

  #reader({ location, fileSizeBytes, read }: RangedReader): RangedReader {
    return {
      location,
      fileSizeBytes,
      read: (offset, length) => this.call(`read ${location}`, () => read(offset, length)),
    };
  }

  #die(label: string): never {
    this.#isDead = true;
    throw new Crash(label);
  }
}
