import type { RangedReader } from '../../shared/base/index.ts';
import { concatBytes } from '../../shared/bytes/index.ts';
import type {
  DeleteOutcome,
  ObjectEntry,
  ObjectStore,
  ObjectWriter,
  StoreFault,
  WriteOptions,
} from '../../shared/storage/index.ts';
import type { ActorFaults } from './actor-faults.ts';
import type { FaultKind } from './faults.ts';
import type { Actor } from './scheduler.ts';
import type { World } from './world.ts';

const NOT_APPLIED: readonly FaultKind<'store'>[] = ['unavailable-before', 'throttled'];

/** Long enough to run into every timeout that an adapter has. */
const TIMEOUT_MS = 30_000;

/** An object store as one actor has it: that of the tables, where nothing may change, or Firn's own. */
export class SimulatedStore implements ObjectStore {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #faults: ActorFaults;
  readonly #kind: 'store' | 'state';

  constructor(
    actor: Actor,
    world: World,
    { faults, kind }: { readonly faults: ActorFaults; readonly kind: 'store' | 'state' },
  ) {
    this.#actor = actor;
    this.#world = world;
    this.#faults = faults;
    this.#kind = kind;
  }

  head(location: string): Promise<ObjectEntry> {
    return this.#call(`head ${shorten(location)}`, (store) => store.head(location));
  }

  read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    return this.#call(`read ${shorten(location)}`, (store) =>
      store.read(location, fileSizeBytesMax),
    );
  }

  readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    return this.#call(`read ${shorten(location)} ${offset}+${lengthBytes}`, (store) =>
      store.readRange(location, offset, lengthBytes),
    );
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return {
      location,
      fileSizeBytes,
      read: (offset, lengthBytes) => this.readRange(location, offset, lengthBytes),
    };
  }

  write(location: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<void> {
    return this.#call(`write ${shorten(location)}`, (store, fault) => {
      if (this.#kind === 'store') this.#see(location, bytes, fault);
      return store.write(location, bytes, options);
    });
  }

  openWriter(location: string): ObjectWriter {
    const chunks: Uint8Array[] = [];
    return {
      write: async (bytes) => {
        chunks.push(bytes);
      },
      close: async () => {
        const bytes = concatBytes(chunks);
        await this.write(location, bytes);
        return bytes.length;
      },
      abort: async () => {},
    };
  }

  list(prefix: string): AsyncIterable<ObjectEntry> {
    return this.#world[this.#kind].list(prefix);
  }

  delete(locations: readonly string[]): Promise<DeleteOutcome> {
    return this.#call(`delete ${locations.map(shorten).join(' ')}`, (store) => {
      this.#world.objects.deleted(locations, this.#actor.name);
      return store.delete(locations);
    });
  }

  #call<Answer>(
    label: string,
    effect: (store: ObjectStore, fault: FaultKind<'store'> | undefined) => Promise<Answer>,
  ): Promise<Answer> {
    return this.#world.scheduler.call(this.#actor, label, async () => {
      const fault = this.#faults.next('store');
      await this.#world.holdUp(this.#actor, fault);
      this.#world.storeFault = storeFault(fault);
      return effect(this.#world[this.#kind], fault);
    });
  }

  #see(location: string, bytes: Uint8Array, fault: FaultKind<'store'> | undefined): void {
    const takesEffect = fault === undefined || !NOT_APPLIED.includes(fault);
    if (takesEffect) this.#world.objects.written(location, bytes, this.#actor.name);
    this.#world.giveCue('output-written', this.#actor.name);
  }
}

function storeFault(kind: FaultKind<'store'> | undefined): StoreFault | undefined {
  if (kind === undefined || kind === 'stall' || kind === 'freeze') return undefined;
  if (kind === 'timeout') return { failure: 'answer-lost', latencyMs: TIMEOUT_MS };
  return { failure: kind };
}

function shorten(location: string): string {
  return location.slice(location.lastIndexOf('/') + 1);
}
