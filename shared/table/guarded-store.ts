import { assert } from '../base/index.ts';
import type { ObjectStore, ObjectWriter } from '../storage/index.ts';

/** Asked before each request; what it throws keeps the request from being sent. */
export interface StoreGuard {
  beforeRead(): Promise<void>;
  beforeWrite(location: string): Promise<void>;
}

/** A store whose reads and writes need leave, and that deletes nothing: committing code has no business to. */
export function guardedStore(store: ObjectStore, guard: StoreGuard): ObjectStore {
  return {
    head: async (location) => {
      await guard.beforeRead();
      return store.head(location);
    },
    read: async (location, fileSizeBytesMax) => {
      await guard.beforeRead();
      return store.read(location, fileSizeBytesMax);
    },
    readRange: async (location, offset, lengthBytes) => {
      await guard.beforeRead();
      return store.readRange(location, offset, lengthBytes);
    },
    openRanged: (location, fileSizeBytes) => {
      const reader = store.openRanged(location, fileSizeBytes);
      const read = async (offset: number, lengthBytes: number): Promise<Uint8Array> => {
        await guard.beforeRead();
        return reader.read(offset, lengthBytes);
      };
      return { location, fileSizeBytes, read };
    },
    write: async (location, bytes, options) => {
      await guard.beforeWrite(location);
      return store.write(location, bytes, options);
    },
    openWriter: (location) => guardedWriter(store.openWriter(location), location, guard),
    list: (prefix) => store.list(prefix),
    delete: async (locations) => {
      assert(locations.length === 0, `${locations[0]}: a run that commits deletes nothing`);
      return { deleted: [], failed: [] };
    },
  };
}

function guardedWriter(writer: ObjectWriter, location: string, guard: StoreGuard): ObjectWriter {
  return {
    write: async (bytes) => {
      await guard.beforeWrite(location);
      return writer.write(bytes);
    },
    close: async () => {
      await guard.beforeWrite(location);
      return writer.close();
    },
    // Giving up leaves nothing behind, and is right without leave.
    abort: () => writer.abort(),
  };
}
