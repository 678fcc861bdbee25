import { IcebergError, type RangedReader } from '../base/index.ts';
import { locationScheme } from './location.ts';
import type {
  DeleteOutcome,
  ObjectEntry,
  ObjectStore,
  ObjectWriter,
  WriteOptions,
} from './object-store.ts';

/** Sends each location to the store of its scheme; a plain absolute path counts as `file`. */
export class RoutingObjectStore implements ObjectStore {
  readonly #storeByScheme: ReadonlyMap<string, ObjectStore>;

  /** @param storeByScheme schemes in lower case, without the colon */
  constructor(storeByScheme: Readonly<Record<string, ObjectStore>>) {
    this.#storeByScheme = new Map(Object.entries(storeByScheme));
  }

  async head(location: string): Promise<ObjectEntry> {
    return await this.#storeOf(location).head(location);
  }

  async read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    return await this.#storeOf(location).read(location, fileSizeBytesMax);
  }

  async readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    return await this.#storeOf(location).readRange(location, offset, lengthBytes);
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return this.#storeOf(location).openRanged(location, fileSizeBytes);
  }

  async write(location: string, bytes: Uint8Array, options?: WriteOptions): Promise<void> {
    await this.#storeOf(location).write(location, bytes, options);
  }

  openWriter(location: string): ObjectWriter {
    return this.#storeOf(location).openWriter(location);
  }

  async *list(prefix: string): AsyncIterable<ObjectEntry> {
    yield* this.#storeOf(prefix).list(prefix);
  }

  async delete(locations: readonly string[]): Promise<DeleteOutcome> {
    const locationsByStore = Map.groupBy(locations, (location) => this.#storeOf(location));
    const outcomes: DeleteOutcome[] = [];
    for (const [store, ofStore] of locationsByStore) outcomes.push(await store.delete(ofStore));
    return {
      deleted: outcomes.flatMap(({ deleted }) => deleted),
      failed: outcomes.flatMap(({ failed }) => failed),
    };
  }

  #storeOf(location: string): ObjectStore {
    const scheme = locationScheme(location);
    const store = this.#storeByScheme.get(scheme);
    if (store !== undefined) return store;
    const schemes = [...this.#storeByScheme.keys()].join(', ');
    throw new IcebergError(
      'invalid-config',
      `${location}: scheme ${scheme} is not served, expected ${schemes}`,
      { location },
    );
  }
}
