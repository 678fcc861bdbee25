import type { MemoryCatalog, PointerUpdate, TableIdentifier } from '../../shared/catalog/index.ts';

/** The table's record changed. */
export interface PointerMove {
  /** Whose write it was, however late; `somebody` for one that only a fault stands for. */
  readonly mover: string;
  /** Undefined when there is no such table any more. */
  readonly metadataLocation: string | undefined;
  readonly metadataLocationBefore: string | undefined;
}

const SOMEBODY = 'somebody';

/** Sees every change of one table's record in a catalog, and whose it was. */
export class PointerWatch {
  /** Called with each change. */
  onMove: ((move: PointerMove) => void) | undefined;
  readonly #catalog: MemoryCatalog;
  readonly #identifier: TableIdentifier;
  /** The last commit that each actor sent. */
  readonly sent = new Map<string, PointerUpdate>();
  readonly #moverByVersion = new Map<string, string>();
  #version: string | undefined;
  #metadataLocation: string | undefined;
  #moves: PointerMove[] = [];
  readonly #locations = new Set<string>();

  constructor(catalog: MemoryCatalog, identifier: TableIdentifier) {
    this.#catalog = catalog;
    this.#identifier = identifier;
  }

  get metadataLocation(): string | undefined {
    return this.#metadataLocation;
  }

  /** A conditional write that sets this version is sent. */
  expect(version: string, actor: string): void {
    this.#moverByVersion.set(version, actor);
  }

  /** Who sent conditional writes, each as often as it did. */
  senders(): readonly string[] {
    return [...this.#moverByVersion.values()];
  }

  /** Makes a call of the catalog, whose effect takes place at once. */
  byActor<Answer>(actor: string, write: () => Answer): Answer {
    try {
      return write();
    } finally {
      this.#look(actor);
    }
  }

  /** Late writes have arrived, of this table or others. */
  byNetwork(): void {
    this.#look(SOMEBODY);
  }

  /** Every metadata file that the pointer has led to. */
  everyLocation(): readonly string[] {
    return [...this.#locations];
  }

  /** Changes since the last call, in their order. */
  takeMoves(): readonly PointerMove[] {
    const moves = this.#moves;
    this.#moves = [];
    return moves;
  }

  #look(actor: string): void {
    const record = this.#record();
    const version = record?.['version'] as string | undefined;
    if (version === this.#version) return;
    const metadataLocation = record?.['metadata-location'] as string | undefined;
    // A version that nobody announced was set by a raw call, or by a conflict made up.
    const mover = (version === undefined ? undefined : this.#moverByVersion.get(version)) ?? actor;
    const metadataLocationBefore = this.#metadataLocation;
    const move = { mover, metadataLocation, metadataLocationBefore };
    this.#moves.push(move);
    this.#version = version;
    this.#metadataLocation = metadataLocation;
    this.onMove?.(move);
    if (metadataLocation !== undefined) this.#locations.add(metadataLocation);
  }

  #record() {
    try {
      return this.#catalog.readRecord(this.#identifier);
    } catch {
      // Dropped or renamed.
      return undefined;
    }
  }
}
