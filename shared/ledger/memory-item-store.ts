/**
 * Items in memory, with faults, for tests and simulations.
 *
 * What may go wrong with one write or removal, and `ItemFaults` can raise here:
 * - `conflict`: turned away although the condition holds, as when another write is under way;
 * - `throttled`: turned away, not applied;
 * - `lost-before`: no answer, never applied;
 * - `lost-after`: applied, no answer;
 * - `late`: no answer, still under way: applied, or turned away, by `deliverLateWrites`.
 * A read or query may be `unavailable`. Any call may be held, or thrown at, before anything happens.
 */
import { IcebergError } from '../base/index.ts';
import { KeyIndex } from '../storage/index.ts';
import type { DueItem, DueQuery, Item, ItemKey, ItemQuery, ItemStore } from './item-store.ts';
import { pickDue } from './pick-due.ts';
import { pickSorts } from './pick-sorts.ts';

export interface ItemCall {
  readonly operation: 'read' | 'query' | 'queryDue' | 'write' | 'remove';
  /** Empty where all partitions are queried. */
  readonly partition: string;
  /** The sort key, or the prefix that is queried. */
  readonly sort: string;
}

export type ItemFault =
  | 'unavailable'
  | 'conflict'
  | 'throttled'
  | 'lost-before'
  | 'lost-after'
  | 'late';

/**
 * Decides what goes wrong. It is asked before each call, and may hold it for as long as it likes, so that a
 * simulation can choose who goes next; what it throws, the call throws, as a crash would.
 */
export interface ItemFaults {
  next(call: ItemCall): Promise<ItemFault | undefined>;
}

const NO_FAULTS: ItemFaults = { next: () => Promise.resolve(undefined) };

export class MemoryItemStore implements ItemStore {
  readonly #faults: ItemFaults;
  readonly #partitions = new Map<string, KeyIndex<Item>>();
  #lateWrites: (() => boolean)[] = [];

  constructor(faults: ItemFaults = NO_FAULTS) {
    this.#faults = faults;
  }

  async read(key: ItemKey): Promise<Item | undefined> {
    await this.#meetReadFault({ operation: 'read', ...pickKey(key) });
    return this.#partition(key.partition).get(key.sort);
  }

  async query(query: ItemQuery): Promise<readonly Item[]> {
    const { partition, sortPrefix } = query;
    await this.#meetReadFault({ operation: 'query', partition, sort: sortPrefix });
    const items = this.#partition(partition);
    return pickSorts(items.sortedKeys(), query)
      .slice(0, query.itemCountMax)
      .map((sort) => items.get(sort)!);
  }

  async queryDue(query: DueQuery): Promise<readonly DueItem[]> {
    const { sort } = query;
    await this.#meetReadFault({ operation: 'queryDue', partition: '', sort });
    const items = [...this.#partitions.values()].flatMap((partition) => partition.get(sort) ?? []);
    return pickDue(items, query);
  }

  async write(item: Item, baseRevision: string | undefined): Promise<void> {
    const fault = await this.#faults.next({ operation: 'write', ...pickKey(item) });
    this.#change(item, fault, () => this.#changeIfAtBase(item, baseRevision, item));
  }

  async remove(key: ItemKey, baseRevision: string): Promise<void> {
    const fault = await this.#faults.next({ operation: 'remove', ...pickKey(key) });
    this.#change(key, fault, () => this.#changeIfAtBase(key, baseRevision, undefined));
  }

  /** Lets changes that a `late` fault held back arrive now, in their order; their condition still counts. */
  deliverLateWrites(): void {
    const lateWrites = this.#lateWrites;
    this.#lateWrites = [];
    for (const write of lateWrites) write();
  }

  /** Items of a partition in the order of their keys, without the port: for checkers. */
  snapshot(partition: string): readonly Item[] {
    const items = this.#partition(partition);
    return items.sortedKeys().map((sort) => items.get(sort)!);
  }

  async #meetReadFault(call: ItemCall): Promise<void> {
    if ((await this.#faults.next(call)) === undefined) return;
    throw new IcebergError('unavailable', `memory ledger: no answer for ${describeKey(call)}`);
  }

  #change(key: ItemKey, fault: ItemFault | undefined, change: () => boolean): void {
    const subject = `memory ledger: ${describeKey(key)}`;
    switch (fault) {
      case undefined:
        if (change()) return;
        throw new IcebergError('commit-conflict', `${subject} is not at its base`);
      case 'conflict':
        throw new IcebergError('commit-conflict', `${subject} is being written`);
      case 'throttled':
      case 'unavailable':
        throw new IcebergError('unavailable', `${subject} cannot be written now`);
      case 'lost-after':
        change();
        break;
      case 'late':
        this.#lateWrites.push(change);
        break;
      case 'lost-before':
        break;
    }
    throw new IcebergError('commit-state-unknown', `${subject}: no answer`);
  }

  #changeIfAtBase(
    { partition, sort }: ItemKey,
    baseRevision: string | undefined,
    item: Item | undefined,
  ): boolean {
    const items = this.#partition(partition);
    if (items.get(sort)?.revision !== baseRevision) return false;
    if (item === undefined) items.delete(sort);
    else items.set(sort, item);
    return true;
  }

  #partition(partition: string): KeyIndex<Item> {
    const items = this.#partitions.get(partition) ?? new KeyIndex<Item>();
    this.#partitions.set(partition, items);
    return items;
  }
}

function pickKey({ partition, sort }: ItemKey): ItemKey {
  return { partition, sort };
}

function describeKey({ partition, sort }: ItemKey): string {
  return `${sort} of ${partition}`;
}
