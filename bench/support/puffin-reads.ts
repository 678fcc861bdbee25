import type { ObjectStore } from '../../shared/storage/index.ts';

/** A request for a range of a Puffin file. */
export interface PuffinRead {
  readonly location: string;
  readonly offset: number;
  readonly lengthBytes: number;
}

/** Notes every range that is asked for of a Puffin file, one for each request that the store sends. */
export function recordPuffinReads(store: ObjectStore): {
  readonly store: ObjectStore;
  /** Live. */
  readonly puffinReads: readonly PuffinRead[];
} {
  const puffinReads: PuffinRead[] = [];
  const record = (location: string, offset: number, lengthBytes: number): void => {
    if (location.endsWith('.puffin')) puffinReads.push({ location, offset, lengthBytes });
  };
  return {
    puffinReads,
    store: {
      head: (location) => store.head(location),
      readRange: (location, offset, lengthBytes) => {
        record(location, offset, lengthBytes);
        return store.readRange(location, offset, lengthBytes);
      },
      read: (location, bytesMax) => {
        record(location, 0, bytesMax);
        return store.read(location, bytesMax);
      },
      openRanged: (location, fileSizeBytes) => {
        const reader = store.openRanged(location, fileSizeBytes);
        return {
          location,
          fileSizeBytes,
          read: (offset, lengthBytes) => {
            record(location, offset, lengthBytes);
            return reader.read(offset, lengthBytes);
          },
        };
      },
      write: (location, bytes, options) => store.write(location, bytes, options),
      openWriter: (location) => store.openWriter(location),
      list: (prefix) => store.list(prefix),
      delete: (locations) => store.delete(locations),
    },
  };
}
