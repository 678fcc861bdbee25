import type { ObjectStore, ObjectWriter } from './object-store.ts';
import { rangedReader } from './ranged-reader.ts';

/** Calls by kind since the store was wrapped; a call that failed counts too. */
export interface RequestCounts {
  head: number;
  read: number;
  /** Ranges, also those read through `openRanged`. */
  readRange: number;
  write: number;
  /** Writers opened. */
  openWriter: number;
  /** Listings begun. */
  list: number;
  /** Calls of `delete`. */
  delete: number;
  /** Locations given to `delete`. */
  deletedCount: number;
  bytesRead: number;
  bytesWritten: number;
}

export interface CountingStore extends ObjectStore {
  /** Live: it goes on counting. */
  readonly requestCounts: Readonly<RequestCounts>;
}

/** Wraps a store so that tests and benches can say what a piece of work costs. */
export function countingStore(store: ObjectStore): CountingStore {
  const counts: RequestCounts = {
    head: 0,
    read: 0,
    readRange: 0,
    write: 0,
    openWriter: 0,
    list: 0,
    delete: 0,
    deletedCount: 0,
    bytesRead: 0,
    bytesWritten: 0,
  };
  const countRead = async (answer: Promise<Uint8Array>): Promise<Uint8Array> => {
    const bytes = await answer;
    counts.bytesRead += bytes.length;
    return bytes;
  };
  const counting: CountingStore = {
    requestCounts: counts,
    head: (location) => {
      counts.head++;
      return store.head(location);
    },
    read: (location, fileSizeBytesMax) => {
      counts.read++;
      return countRead(store.read(location, fileSizeBytesMax));
    },
    readRange: (location, offset, lengthBytes) => {
      counts.readRange++;
      return countRead(store.readRange(location, offset, lengthBytes));
    },
    openRanged: (location, fileSizeBytes) => rangedReader(counting, location, fileSizeBytes),
    write: (location, bytes, options) => {
      counts.write++;
      counts.bytesWritten += bytes.length;
      return store.write(location, bytes, options);
    },
    openWriter: (location) => {
      counts.openWriter++;
      return countWriter(store.openWriter(location), counts);
    },
    list: (prefix) => {
      counts.list++;
      return store.list(prefix);
    },
    delete: (locations) => {
      counts.delete++;
      counts.deletedCount += locations.length;
      return store.delete(locations);
    },
  };
  return counting;
}

function countWriter(writer: ObjectWriter, counts: RequestCounts): ObjectWriter {
  return {
    write: (bytes) => {
      counts.bytesWritten += bytes.length;
      return writer.write(bytes);
    },
    close: () => writer.close(),
    abort: () => writer.abort(),
  };
}
