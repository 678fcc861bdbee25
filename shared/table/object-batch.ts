import { mapConcurrent } from '../base/index.ts';
import type { CommitPorts } from './commit-ports.ts';

const WRITES_CONCURRENT = 16;

/**
 * Objects that were made in memory, to be named in one request of the ledger and then written side by side: their
 * contents depend on each other's locations and sizes, never on one being written before the other.
 */
export class ObjectBatch {
  readonly #ports: Pick<CommitPorts, 'store' | 'run'>;
  readonly #unwritten = new Map<string, Uint8Array>();

  constructor(ports: Pick<CommitPorts, 'store' | 'run'>) {
    this.#ports = ports;
  }

  add(location: string, bytes: Uint8Array): void {
    this.#unwritten.set(location, bytes);
  }

  /** Writes what was added since the last call. */
  async write(): Promise<void> {
    const objects = [...this.#unwritten];
    this.#unwritten.clear();
    if (objects.length === 0) return;
    const { store, run } = this.#ports;
    await run.nameObjects(
      objects.map(([location]) => location),
      'attempt-lost',
    );
    await mapConcurrent(objects, { concurrencyMax: WRITES_CONCURRENT }, ([location, bytes]) =>
      store.write(location, bytes),
    );
  }
}
