import { createHash } from 'node:crypto';
import { toHex } from '../bytes/index.ts';
import type { StateStore } from './state-store.ts';

/** What a sidecar is of; the same gives the same location, so that each write takes the place of the one before. */
export interface SidecarName {
  /** The table's full name. */
  readonly table: string;
  /** Such as `rewrite-data-files.plan`. */
  readonly name: string;
}

const SIDECAR_BYTES_MAX = 64 * 1024 * 1024;

/** Bulky bytes about a table, one object for each name. Their owner gives them a format version, and can do without them. */
export class Sidecars {
  readonly #state: StateStore;

  constructor(state: StateStore) {
    this.#state = state;
  }

  /** Writes the object, over the one before, and returns its location. One PUT. */
  async write({ table, name }: SidecarName, bytes: Uint8Array): Promise<string> {
    const hash = toHex(createHash('sha256').update(table, 'utf8').digest());
    const location = `${this.#state.prefix}tables/${hash}/${name}`;
    await this.#state.store.write(location, bytes);
    return location;
  }

  /** One GET. @throws not-found; unsupported — beyond 64 MiB */
  read(location: string): Promise<Uint8Array> {
    return this.#state.store.read(location, SIDECAR_BYTES_MAX);
  }
}
