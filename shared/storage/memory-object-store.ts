/**
 * Objects in memory, with faults, for tests and simulations.
 *
 * The faults that a caller of a store must survive, and that `FaultInjector` can raise here:
 * - the store is unavailable before a request took effect, or after it took effect;
 * - the answer is lost after the request took effect (a PUT, a conditional PUT, a closed writer, a delete);
 * - throttling;
 * - a missing right;
 * - latency, on a clock that the test owns;
 * - a slow listing: each page shows the state of its own moment, so objects written or deleted during the
 *   listing show or do not show;
 * - some of the locations of one delete fail, the others do not.
 * The store does not retry: a fault here is what is left after an adapter's own retries.
 */
import { assert, type Clock, IcebergError, ManualClock, type RangedReader } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';
import {
  type FaultInjector,
  meetFault,
  NO_FAULTS,
  STORE_FAILURES,
  type StoreFault,
  type StoreOperation,
} from './faults.ts';
import { KeyIndex } from './key-index.ts';
import { parseS3Object, parseS3Prefix } from './location.ts';
import type {
  DeleteFailure,
  DeleteOutcome,
  ObjectEntry,
  ObjectStore,
  ObjectWriter,
  WriteOptions,
} from './object-store.ts';
import { rangedReader, validateRange } from './ranged-reader.ts';
import { alreadyThere, noSuchObject, validateSize } from './store-errors.ts';

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly lastModifiedMs: number;
}

export interface MemoryObjectStoreOptions {
  /** Gives modification times and lets latency pass; by default a clock standing at zero. */
  readonly clock?: Clock;
  readonly faults?: FaultInjector;
  /** Objects on one page of a listing; S3's by default. */
  readonly pageCountMax?: number;
}

const PAGE_COUNT_MAX = 1000;

/** Serves s3, s3a and s3n locations; the three schemes name the same objects. */
export class MemoryObjectStore implements ObjectStore {
  /** By `bucket/key`. */
  readonly #objects = new KeyIndex<StoredObject>();
  readonly #clock: Clock;
  readonly #faults: FaultInjector;
  readonly #pageCountMax: number;

  constructor(options: MemoryObjectStoreOptions = {}) {
    this.#clock = options.clock ?? new ManualClock(0);
    this.#faults = options.faults ?? NO_FAULTS;
    this.#pageCountMax = options.pageCountMax ?? PAGE_COUNT_MAX;
  }

  async head(location: string): Promise<ObjectEntry> {
    const { bytes, lastModifiedMs } = await this.#request('head', location, () =>
      this.#stored(location),
    );
    return { location, fileSizeBytes: bytes.length, lastModifiedMs };
  }

  async read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    return await this.#request('read', location, () => {
      const { bytes } = this.#stored(location);
      validateSize({ location, fileSizeBytes: bytes.length, fileSizeBytesMax });
      return bytes.slice();
    });
  }

  async readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    return await this.#request('readRange', location, () => {
      const { bytes } = this.#stored(location);
      validateRange({ location, offset, lengthBytes, fileSizeBytes: bytes.length });
      return bytes.slice(offset, offset + lengthBytes);
    });
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return rangedReader(this, location, fileSizeBytes);
  }

  async write(location: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<void> {
    await this.#request('write', location, () => {
      const path = objectPath(location);
      if (options.mustBeNew === true && this.#objects.get(path) !== undefined) {
        throw alreadyThere(location);
      }
      this.#objects.set(path, { bytes: bytes.slice(), lastModifiedMs: this.#clock.nowMs() });
    });
  }

  openWriter(location: string): ObjectWriter {
    objectPath(location);
    let chunks: Uint8Array[] | undefined = [];
    return {
      write: (bytes) => {
        assert(chunks !== undefined, `${location}: written to after it was closed`);
        chunks.push(bytes);
        return Promise.resolve();
      },
      close: async () => {
        assert(chunks !== undefined, `${location}: closed twice`);
        const bytes = concatBytes(chunks);
        chunks = undefined;
        await this.write(location, bytes);
        return bytes.length;
      },
      abort: () => {
        chunks = undefined;
        return Promise.resolve();
      },
    };
  }

  async *list(prefix: string): AsyncIterable<ObjectEntry> {
    const { root, bucket, key } = parseS3Prefix(prefix);
    let keyAfter: string | undefined;
    for (;;) {
      const page = await this.#request('list', prefix, () =>
        this.#objects
          .page(`${bucket}/${key}`, keyAfter, this.#pageCountMax)
          .map((path) => ({ path, stored: this.#objects.get(path)! })),
      );
      for (const { path, stored } of page) {
        yield {
          location: root + path.slice(bucket.length + 1),
          fileSizeBytes: stored.bytes.length,
          lastModifiedMs: stored.lastModifiedMs,
        };
      }
      if (page.length < this.#pageCountMax) return;
      keyAfter = page.at(-1)!.path;
    }
  }

  async delete(locations: readonly string[]): Promise<DeleteOutcome> {
    const paths = new Map(locations.map((location) => [location, objectPath(location)]));
    const deleted: string[] = [];
    const failed: DeleteFailure[] = [];
    for (const [location, path] of paths) {
      const failure = await this.#meetFault('delete', location);
      if (failure === undefined || STORE_FAILURES[failure].takesEffect) this.#objects.delete(path);
      if (failure === undefined) deleted.push(location);
      else {
        const { kind, message } = faultError('delete', location, failure);
        failed.push({ location, kind, reason: message });
      }
    }
    return { deleted, failed };
  }

  /** Lets one request meet its fault; `apply` runs in one step, so that requests are atomic. */
  async #request<Result>(
    operation: StoreOperation,
    location: string,
    apply: () => Result,
  ): Promise<Result> {
    const failure = await this.#meetFault(operation, location);
    if (failure === undefined) return apply();
    if (STORE_FAILURES[failure].takesEffect) {
      try {
        apply();
      } catch {
        // A refusal is an answer too, and it is the answer that gets lost.
      }
    }
    throw faultError(operation, location, failure);
  }

  async #meetFault(operation: StoreOperation, location: string): Promise<StoreFault['failure']> {
    return await meetFault({ faults: this.#faults, clock: this.#clock }, operation, location);
  }

  #stored(location: string): StoredObject {
    const stored = this.#objects.get(objectPath(location));
    if (stored === undefined) throw noSuchObject(location);
    return stored;
  }
}

function objectPath(location: string): string {
  const { bucket, key } = parseS3Object(location);
  return `${bucket}/${key}`;
}

function faultError(
  operation: StoreOperation,
  location: string,
  failure: keyof typeof STORE_FAILURES,
): IcebergError {
  const message = `${operation} ${location}: ${failure}`;
  return new IcebergError(STORE_FAILURES[failure].kind, message, { location, operation });
}
