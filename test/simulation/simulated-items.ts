import type { Item, ItemKey, ItemQuery, ItemStore } from '../../shared/ledger/index.ts';
import type { ActorFaults } from './actor-faults.ts';
import type { Actor } from './scheduler.ts';
import type { World } from './world.ts';

/** The items of the ledger as one actor has them. */
export class SimulatedItems implements ItemStore {
  readonly #actor: Actor;
  readonly #world: World;
  readonly #faults: ActorFaults;

  constructor(actor: Actor, world: World, faults: ActorFaults) {
    this.#actor = actor;
    this.#world = world;
    this.#faults = faults;
  }

  read(key: ItemKey): Promise<Item | undefined> {
    return this.#call(`read item ${key.sort}`, () => this.#world.items.read(key));
  }

  query(query: ItemQuery): Promise<readonly Item[]> {
    return this.#call(`query items ${query.sortPrefix}`, () => this.#world.items.query(query));
  }

  write(item: Item, baseRevision: string | undefined): Promise<void> {
    return this.#call(`write item ${item.sort}`, () => this.#world.items.write(item, baseRevision));
  }

  remove(key: ItemKey, baseRevision: string): Promise<void> {
    return this.#call(`remove item ${key.sort}`, () => this.#world.items.remove(key, baseRevision));
  }

  #call<Answer>(label: string, effect: () => Promise<Answer>): Promise<Answer> {
    const { scheduler, items } = this.#world;
    return scheduler.call(this.#actor, label, () => {
      const fault = this.#faults.next('ledger');
      this.#world.ledgerFault = fault;
      if (fault === 'late') {
        const deliver = (): void => items.deliverLateWrites();
        scheduler.later(`late ${label} of ${this.#actor.name}`, this.#world.latenessMs(), deliver);
      }
      return effect();
    });
  }
}
