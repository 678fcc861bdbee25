import { AsyncLocalStorage } from 'node:async_hooks';
import { serializeJson } from '../../shared/base/index.ts';
import type { Catalog } from '../../shared/catalog/index.ts';
import type { DueQuery, Item, ItemKey, ItemQuery, ItemStore } from '../../shared/ledger/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';

/** Requests of all invocations of one function. */
export interface FunctionUsage {
  invocationCount: number;
  durationMs: number;
  catalogReadCount: number;
  catalogWriteCount: number;
  ledgerReadCount: number;
  ledgerWriteCount: number;
  metadataReadCount: number;
  s3GetCount: number;
  s3PutCount: number;
  /** As DynamoDB bills them, those of the catalog included. */
  readUnits: number;
  writeUnits: number;
}

/** Sees requests as they are made, with the function that makes them. */
export interface FleetWatcher {
  onTableRead(functionName: string, table: string): void;
  onMetadataRead(functionName: string, location: string): void;
  onItemWrite(item: Item, before: Item | undefined): void;
}

/** Attributes requests to functions: an invocation is whatever is called from within `around`. */
export class FleetMeter {
  readonly usage = new Map<string, FunctionUsage>();
  readonly #invocation = new AsyncLocalStorage<string>();
  readonly #watcher: FleetWatcher;

  constructor(watcher: FleetWatcher) {
    this.#watcher = watcher;
  }

  around<Result>(functionName: string, call: () => Promise<Result>): Promise<Result> {
    return this.#invocation.run(functionName, call);
  }

  usageOf(functionName: string): FunctionUsage {
    const usage = this.usage.get(functionName) ?? newUsage();
    this.usage.set(functionName, usage);
    return usage;
  }

  catalog(catalog: Catalog): Catalog {
    return {
      loadTable: (identifier) => {
        const { name, usage } = this.#current();
        usage.catalogReadCount++;
        usage.readUnits++;
        this.#watcher.onTableRead(name, [...identifier.namespace, identifier.name].join('.'));
        return catalog.loadTable(identifier);
      },
      listTables: (namespace) => {
        const { usage } = this.#current();
        usage.catalogReadCount++;
        usage.readUnits += LIST_UNITS;
        return catalog.listTables(namespace);
      },
      registerTable: (identifier, location) => catalog.registerTable(identifier, location),
      commitTable: (update) => {
        this.#countCatalogWrite();
        return catalog.commitTable(update);
      },
      fenceTable: (fence) => {
        this.#countCatalogWrite();
        return catalog.fenceTable(fence);
      },
    };
  }

  store(store: ObjectStore): ObjectStore {
    const get = (): void => void this.#current().usage.s3GetCount++;
    const put = (): void => void this.#current().usage.s3PutCount++;
    return {
      head: (location) => {
        get();
        return store.head(location);
      },
      read: (location, bytesMax) => {
        get();
        if (location.endsWith('.metadata.json')) {
          const { name, usage } = this.#current();
          usage.metadataReadCount++;
          this.#watcher.onMetadataRead(name, location);
        }
        return store.read(location, bytesMax);
      },
      readRange: (location, offset, lengthBytes) => {
        get();
        return store.readRange(location, offset, lengthBytes);
      },
      openRanged: (location, fileSizeBytes) => {
        const reader = store.openRanged(location, fileSizeBytes);
        return {
          location,
          fileSizeBytes,
          read: (offset, lengthBytes) => {
            get();
            return reader.read(offset, lengthBytes);
          },
        };
      },
      write: (location, bytes, options) => {
        put();
        return store.write(location, bytes, options);
      },
      openWriter: (location) => {
        put();
        return store.openWriter(location);
      },
      list: (prefix) => {
        put();
        return store.list(prefix);
      },
      delete: (locations) => store.delete(locations),
    };
  }

  items(items: ItemStore): ItemStore {
    const countRead = (some: readonly (Item | undefined)[]): void => {
      const { usage } = this.#current();
      const bytes = some.reduce((sum, item) => sum + itemBytes(item), 0);
      usage.ledgerReadCount++;
      usage.readUnits += Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
    };
    const countWrite = (units: number): void => {
      const { usage } = this.#current();
      usage.ledgerWriteCount++;
      usage.writeUnits += units;
    };
    return {
      read: async (key: ItemKey) => {
        const item = await items.read(key);
        countRead([item]);
        return item;
      },
      query: async (query: ItemQuery) => {
        const found = await items.query(query);
        countRead(found);
        return found;
      },
      queryDue: async (query: DueQuery) => {
        countRead([]);
        return items.queryDue(query);
      },
      write: async (item: Item, baseRevision: string | undefined) => {
        const before = await items.read(item);
        countWrite(Math.ceil(itemBytes(item) / WRITE_UNIT_BYTES) + indexUnits(item, before));
        await items.write(item, baseRevision);
        this.#watcher.onItemWrite(item, before);
      },
      remove: async (key: ItemKey, baseRevision: string) => {
        countWrite(1);
        await items.remove(key, baseRevision);
      },
    };
  }

  #current(): { readonly name: string; readonly usage: FunctionUsage } {
    const name = this.#invocation.getStore() ?? 'nobody';
    return { name, usage: this.usageOf(name) };
  }

  #countCatalogWrite(): void {
    const { usage } = this.#current();
    usage.catalogWriteCount++;
    usage.writeUnits++;
  }
}

function newUsage(): FunctionUsage {
  return {
    invocationCount: 0,
    durationMs: 0,
    catalogReadCount: 0,
    catalogWriteCount: 0,
    ledgerReadCount: 0,
    ledgerWriteCount: 0,
    metadataReadCount: 0,
    s3GetCount: 0,
    s3PutCount: 0,
    readUnits: 0,
    writeUnits: 0,
  };
}

/** A scan of a thousand items of some 700 bytes, eventually consistent. */
const LIST_UNITS = 90;
const READ_UNIT_BYTES = 4096;
const WRITE_UNIT_BYTES = 1024;

/** Keys, revision and the names of attributes, besides the record. */
const ITEM_FRAME_BYTES = 150;

function itemBytes(item: Item | undefined): number {
  return item === undefined ? 0 : serializeJson(item.body).length + ITEM_FRAME_BYTES;
}

/** Of the index `due`: an entry that changes is removed and put. */
function indexUnits(item: Item, before: Item | undefined): number {
  if (item.dueAtMs === before?.dueAtMs) return 0;
  return (item.dueAtMs === undefined ? 0 : 1) + (before?.dueAtMs === undefined ? 0 : 1);
}
