import { isIcebergError } from '../../shared/base/index.ts';
import type {
  Catalog,
  PointerFence,
  PointerUpdate,
  TableIdentifier,
  TablePointer,
  WriteFault,
} from '../../shared/catalog/index.ts';
import type { ActorFaults } from './actor-faults.ts';
import type { Actor } from './scheduler.ts';
import type { World } from './world.ts';

/** The catalog as one actor has it. */
export class SimulatedCatalog implements Catalog {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #faults: ActorFaults;

  constructor(actor: Actor, world: World, faults: ActorFaults) {
    this.#actor = actor;
    this.#world = world;
    this.#faults = faults;
  }

  loadTable(identifier: TableIdentifier): Promise<TablePointer> {
    return this.#call('loadTable', () => {
      this.#world.catalogReadFault = this.#faults.next('catalog');
      return this.#world.catalog.loadTable(identifier);
    });
  }

  listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier> {
    return this.#world.catalog.listTables(namespace);
  }

  registerTable(identifier: TableIdentifier, metadataLocation: string): Promise<TablePointer> {
    return this.#call('registerTable', () =>
      this.#world
        .pointerOf(identifier)
        .byActor(this.#actor.name, () =>
          this.#world.catalog.registerTable(identifier, metadataLocation),
        ),
    );
  }

  commitTable(update: PointerUpdate): Promise<TablePointer> {
    return this.#write('commitTable', update, () => {
      this.#world.pointerOf(update.base.identifier).sent.set(this.#actor.name, update);
      return this.#world.catalog.commitTable(update);
    });
  }

  fenceTable(fence: PointerFence): Promise<TablePointer> {
    return this.#write('fenceTable', fence, () => this.#world.catalog.fenceTable(fence));
  }

  async #write(
    label: string,
    change: PointerFence,
    write: () => Promise<TablePointer>,
  ): Promise<TablePointer> {
    try {
      return await this.#call(label, () => this.#send(label, change, write));
    } catch (error) {
      // That no answer comes is noticed when a timeout is over.
      const waitMs = isIcebergError(error, 'commit-state-unknown') ? this.#world.silenceMs() : 0;
      if (waitMs > 0) await this.#world.scheduler.sleep(this.#actor, waitMs);
      throw error;
    }
  }

  async #send(
    label: string,
    { base, version }: PointerFence,
    write: () => Promise<TablePointer>,
  ): Promise<TablePointer> {
    const { scheduler } = this.#world;
    const pointer = this.#world.pointerOf(base.identifier);
    pointer.expect(version, this.#actor.name);
    this.#world.giveCue('pointer-sent', this.#actor.name);
    const fault = this.#faults.next('pointer');
    const isHeldUp = await this.#world.holdUp(this.#actor, fault);
    this.#world.pointerFault = isHeldUp ? undefined : (fault as WriteFault | undefined);
    const answer = pointer.byActor(this.#actor.name, write);
    if (fault === 'late') {
      const deliver = (): void => this.#world.deliverLatePointers();
      scheduler.later(`late ${label} of ${this.#actor.name}`, this.#world.latenessMs(), deliver);
    }
    return answer;
  }

  #call<Answer>(label: string, effect: () => Promise<Answer>): Promise<Answer> {
    return this.#world.scheduler.call(this.#actor, label, effect);
  }
}
