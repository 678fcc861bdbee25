import type { Clock } from '../../shared/base/index.ts';
import type { Catalog } from '../../shared/catalog/index.ts';
import type { ItemStore } from '../../shared/ledger/index.ts';
import type { ObjectStore, ObjectWriter } from '../../shared/storage/index.ts';

/** What each request takes, in milliseconds of the clock. */
export interface Latencies {
  readonly getMs: number;
  /** Of a range of a Parquet file, where that takes longer than others, as if there were more of it. */
  readonly dataGetMs?: number;
  readonly putMs: number;
  /** Of an item: a read, and a conditional write. */
  readonly itemMs: number;
}

/** A store whose reads and writes take their time, and then happen at once. */
export function slowStore(store: ObjectStore, clock: Clock, latencies: Latencies): ObjectStore {
  const { getMs, putMs, dataGetMs = getMs } = latencies;
  const after = async <Result>(ms: number, request: () => Promise<Result>): Promise<Result> => {
    await clock.sleepMs(ms);
    return request();
  };
  const rangeMs = (location: string): number => (location.endsWith('.parquet') ? dataGetMs : getMs);
  return {
    head: (location) => after(getMs, () => store.head(location)),
    read: (location, bytesMax) => after(getMs, () => store.read(location, bytesMax)),
    readRange: (location, offset, lengthBytes) =>
      after(rangeMs(location), () => store.readRange(location, offset, lengthBytes)),
    openRanged: (location, fileSizeBytes) => {
      const reader = store.openRanged(location, fileSizeBytes);
      return {
        location,
        fileSizeBytes,
        read: (offset, lengthBytes) =>
          after(rangeMs(location), () => reader.read(offset, lengthBytes)),
      };
    },
    write: (location, bytes, options) => after(putMs, () => store.write(location, bytes, options)),
    openWriter: (location): ObjectWriter => {
      const writer = store.openWriter(location);
      return {
        write: (bytes) => writer.write(bytes),
        close: () => after(putMs, () => writer.close()),
        abort: () => writer.abort(),
      };
    },
    list: (prefix) => store.list(prefix),
    delete: (locations) => store.delete(locations),
  };
}

/** A catalog whose pointer is half as far away as an answer takes: what it reads or writes, it does on arrival. */
export function slowCatalog(catalog: Catalog, clock: Clock, { itemMs }: Latencies): Catalog {
  const within = halfway(clock, itemMs);
  return {
    loadTable: (identifier) => within(() => catalog.loadTable(identifier)),
    listTables: (namespace) => catalog.listTables(namespace),
    registerTable: (identifier, metadataLocation) =>
      within(() => catalog.registerTable(identifier, metadataLocation)),
    commitTable: (update) => within(() => catalog.commitTable(update)),
    fenceTable: (fence) => within(() => catalog.fenceTable(fence)),
  };
}

/** The ledger's items, as far away as the pointer. */
export function slowItems(items: ItemStore, clock: Clock, { itemMs }: Latencies): ItemStore {
  const within = halfway(clock, itemMs);
  return {
    read: (key) => within(() => items.read(key)),
    query: (query) => within(() => items.query(query)),
    queryDue: (query) => within(() => items.queryDue(query)),
    write: (item, baseRevision) => within(() => items.write(item, baseRevision)),
    remove: (key, baseRevision) => within(() => items.remove(key, baseRevision)),
  };
}

type Within = <Result>(request: () => Promise<Result>) => Promise<Result>;

function halfway(clock: Clock, latencyMs: number): Within {
  return async (request) => {
    await clock.sleepMs(latencyMs / 2);
    try {
      return await request();
    } finally {
      await clock.sleepMs(latencyMs / 2);
    }
  };
}
