import { isIcebergError, type RangedReader } from '../../shared/base/index.ts';
import {
  type DeleteOutcome,
  MemoryObjectStore,
  type ObjectEntry,
  type ObjectStore,
  type ObjectWriter,
  type WriteOptions,
} from '../../shared/storage/index.ts';

/** Copy on write over a store that many cases share; notes what maintenance must never do. */
export class OverlayStore implements ObjectStore {
  readonly #base: ObjectStore;
  readonly #front = new MemoryObjectStore();
  /** Deletions, and writes over objects that were there. */
  readonly violations: string[] = [];

  constructor(base: ObjectStore) {
    this.#base = base;
  }

  /** Replaces an object as a corruption does, unnoticed. */
  async corrupt(location: string, bytes: Uint8Array): Promise<void> {
    await this.#front.write(location, bytes);
  }

  head(location: string): Promise<ObjectEntry> {
    return this.#either((store) => store.head(location));
  }

  read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    return this.#either((store) => store.read(location, fileSizeBytesMax));
  }

  readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    return this.#either((store) => store.readRange(location, offset, lengthBytes));
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return {
      location,
      fileSizeBytes,
      read: (offset, lengthBytes) => this.readRange(location, offset, lengthBytes),
    };
  }

  async write(location: string, bytes: Uint8Array, options?: WriteOptions): Promise<void> {
    await this.#refuseOverwriting(location);
    await this.#front.write(location, bytes, options);
  }

  openWriter(location: string): ObjectWriter {
    const writer = this.#front.openWriter(location);
    return {
      write: (bytes) => writer.write(bytes),
      close: async () => {
        await this.#refuseOverwriting(location);
        return writer.close();
      },
      abort: () => writer.abort(),
    };
  }

  list(prefix: string): AsyncIterable<ObjectEntry> {
    return this.#base.list(prefix);
  }

  delete(locations: readonly string[]): Promise<DeleteOutcome> {
    this.violations.push(`deleted ${locations.join(', ')}`);
    return Promise.resolve({ deleted: locations, failed: [] });
  }

  async #refuseOverwriting(location: string): Promise<void> {
    try {
      await this.head(location);
      this.violations.push(`wrote over ${location}`);
    } catch (error) {
      if (!isIcebergError(error, 'not-found')) throw error;
    }
  }

  async #either<Answer>(ask: (store: ObjectStore) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(this.#front);
    } catch (error) {
      if (!isIcebergError(error, 'not-found')) throw error;
      return ask(this.#base);
    }
  }
}
