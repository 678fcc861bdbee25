import { open, readdir, stat, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  assert,
  IcebergError,
  isIcebergError,
  mapConcurrent,
  type Random,
  type RangedReader,
  systemRandom,
} from '../base/index.ts';
import { compareUtf8 } from './key-index.ts';
import {
  createTemporary,
  discardTemporary,
  isMissing,
  publishTemporary,
  TEMPORARY_PREFIX,
  type TemporaryFile,
  translateFileErrors,
} from './local-files.ts';
import { parseLocalPath } from './local-path.ts';
import type {
  DeleteFailure,
  DeleteOutcome,
  ObjectEntry,
  ObjectStore,
  ObjectWriter,
  WriteOptions,
} from './object-store.ts';
import { rangedReader, validateRange } from './ranged-reader.ts';
import { noSuchObject, validateSize } from './store-errors.ts';

/** Enough to keep one disk busy. */
const DELETE_CONCURRENCY = 16;

export interface LocalObjectStoreOptions {
  /** Absolute path of the folder to serve; nothing outside of it is touched. */
  readonly root: string;
  /** Names temporary files. */
  readonly random?: Random;
}

/**
 * Objects as files below one folder, under `file:/path`, `file:///path` or the plain absolute path. Folders are
 * made as needed and left in place when they become empty.
 */
export class LocalObjectStore implements ObjectStore {
  readonly #root: string;
  readonly #random: Random;

  constructor({ root, random = systemRandom }: LocalObjectStoreOptions) {
    this.#root = resolve(root);
    this.#random = random;
  }

  async head(location: string): Promise<ObjectEntry> {
    const path = this.#objectPath(location);
    return await translateFileErrors('file:head', location, async () => {
      const stats = await stat(path);
      if (!stats.isFile()) throw noSuchObject(location);
      return { location, fileSizeBytes: stats.size, lastModifiedMs: Math.floor(stats.mtimeMs) };
    });
  }

  async read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    return await this.#readPart(location, (fileSizeBytes) => {
      validateSize({ location, fileSizeBytes, fileSizeBytesMax });
      return { offset: 0, lengthBytes: fileSizeBytes };
    });
  }

  async readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    return await this.#readPart(location, (fileSizeBytes) => {
      validateRange({ location, offset, lengthBytes, fileSizeBytes });
      return { offset, lengthBytes };
    });
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return rangedReader(this, location, fileSizeBytes);
  }

  async write(location: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<void> {
    const path = this.#objectPath(location);
    const mustBeNew = options.mustBeNew ?? false;
    await translateFileErrors('file:write', location, async () => {
      const temporary = await createTemporary(path, this.#random);
      try {
        await temporary.handle.writeFile(bytes);
        await publishTemporary(temporary, { location, path, mustBeNew });
      } catch (error) {
        await discardTemporary(temporary);
        throw error;
      }
    });
  }

  openWriter(location: string): ObjectWriter {
    return new LocalObjectWriter(location, this.#objectPath(location), this.#random);
  }

  async *list(prefix: string): AsyncIterable<ObjectEntry> {
    const { spelling, path } = parseLocalPath(prefix, this.#root);
    const pathPrefix = path === this.#root ? `${path}/` : path;
    const pending = [pathPrefix.slice(0, pathPrefix.lastIndexOf('/') + 1)];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const location = spelling + next;
      if (next.endsWith('/')) {
        const children = await listFolder(location, next);
        // Children come off the end, so the first in order goes on last.
        pending.push(...children.filter((child) => child.startsWith(pathPrefix)).reverse());
      } else {
        const entry = await this.#headIfThere(location);
        if (entry !== undefined) yield entry;
      }
    }
  }

  async delete(locations: readonly string[]): Promise<DeleteOutcome> {
    const paths = new Map(locations.map((location) => [location, this.#objectPath(location)]));
    const deleted: string[] = [];
    const failed: DeleteFailure[] = [];
    await mapConcurrent(
      [...paths],
      { concurrencyMax: DELETE_CONCURRENCY },
      async ([location, path]) => {
        try {
          await translateFileErrors('file:delete', location, () => unlink(path));
          deleted.push(location);
        } catch (error) {
          if (isIcebergError(error, 'not-found')) deleted.push(location);
          else if (isIcebergError(error)) {
            failed.push({ location, kind: error.kind, reason: error.message });
          } else throw error;
        }
      },
    );
    return { deleted, failed };
  }

  async #readPart(
    location: string,
    plan: (fileSizeBytes: number) => { readonly offset: number; readonly lengthBytes: number },
  ): Promise<Uint8Array> {
    const path = this.#objectPath(location);
    return await translateFileErrors('file:read', location, async () => {
      const handle = await open(path, 'r');
      try {
        const stats = await handle.stat();
        if (!stats.isFile()) throw noSuchObject(location);
        const { offset, lengthBytes } = plan(stats.size);
        const bytes = new Uint8Array(lengthBytes);
        for (let filled = 0; filled < lengthBytes; ) {
          const { bytesRead } = await handle.read(bytes, {
            offset: filled,
            position: offset + filled,
          });
          if (bytesRead === 0) throw becameShorter(location, offset + filled);
          filled += bytesRead;
        }
        return bytes;
      } finally {
        await handle.close();
      }
    });
  }

  async #headIfThere(location: string): Promise<ObjectEntry | undefined> {
    try {
      return await this.head(location);
    } catch (error) {
      if (isIcebergError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  #objectPath(location: string): string {
    const { path } = parseLocalPath(location, this.#root);
    if (path.endsWith('/') || path === this.#root) {
      throw new IcebergError('invalid-data', `${location}: location names a folder`, { location });
    }
    return path;
  }
}

/** Paths of the files and (with a closing slash) folders in `folder`, in the order of keys. */
async function listFolder(location: string, folder: string): Promise<string[]> {
  const entries = await translateFileErrors('file:list', location, async () => {
    try {
      return await readdir(folder, { withFileTypes: true });
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  });
  return entries
    .filter((entry) => entry.isDirectory() || entry.isFile())
    .filter((entry) => !entry.name.startsWith(TEMPORARY_PREFIX))
    .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''))
    .sort(compareUtf8);
}

function becameShorter(location: string, fileSizeBytes: number): IcebergError {
  return new IcebergError(
    'unavailable',
    `${location}: file became shorter while it was read, to ${fileSizeBytes} bytes`,
    { location, fileSizeBytes },
  );
}

/** Appends to a temporary file, made at the first write; nothing is held in memory. */
class LocalObjectWriter implements ObjectWriter {
  readonly #location: string;
  readonly #path: string;
  readonly #random: Random;
  #temporary: TemporaryFile | undefined;
  #lengthBytes = 0;
  #isOpen = true;

  constructor(location: string, path: string, random: Random) {
    this.#location = location;
    this.#path = path;
    this.#random = random;
  }

  async write(bytes: Uint8Array): Promise<void> {
    assert(this.#isOpen, `${this.#location}: written to after it was closed`);
    await this.#orAbort(async () => {
      this.#temporary ??= await createTemporary(this.#path, this.#random);
      await this.#temporary.handle.writeFile(bytes);
      this.#lengthBytes += bytes.length;
    });
  }

  async close(): Promise<number> {
    assert(this.#isOpen, `${this.#location}: closed twice`);
    await this.#orAbort(async () => {
      const temporary = this.#temporary ?? (await createTemporary(this.#path, this.#random));
      this.#temporary = temporary;
      await publishTemporary(temporary, {
        location: this.#location,
        path: this.#path,
        mustBeNew: false,
      });
      this.#isOpen = false;
    });
    return this.#lengthBytes;
  }

  async abort(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#temporary !== undefined) await discardTemporary(this.#temporary);
  }

  async #orAbort(step: () => Promise<void>): Promise<void> {
    try {
      await translateFileErrors('file:write', this.#location, step);
    } catch (error) {
      await this.abort();
      throw error;
    }
  }
}
