import type { JsonObject } from '../base/index.ts';

/** Where an item is: everything of one Iceberg table shares a partition. */
export interface ItemKey {
  /** The table's full name. */
  readonly partition: string;
  /** Kind and identity within the table, in ASCII, such as `lease#rewrite`. */
  readonly sort: string;
}

export interface Item extends ItemKey {
  /** Random and new with each write: the condition of the next write, and how a writer knows its own. */
  readonly revision: string;
  readonly body: JsonObject;
  /** When the store may drop the item by itself; only reports have one. */
  readonly expiresAtMs?: number;
}

export interface ItemQuery {
  readonly partition: string;
  readonly sortPrefix: string;
  readonly order: 'ascending' | 'descending';
  /** Begins behind this sort key, whether or not its item is still there. */
  readonly afterSort?: string;
  /** From 1. */
  readonly itemCountMax: number;
}

/**
 * The port under the ledger: items by key, each changed by itself and only on condition. Every method throws
 * `access-denied`, `invalid-config` and `not-found` as the store's table, folder or rights demand. Reads are
 * strongly consistent, and throw `unavailable` after their own retries. A write is sent once.
 */
export interface ItemStore {
  /** @throws invalid-data — when what is stored is not an item */
  read(key: ItemKey): Promise<Item | undefined>;
  /** Items in the order of their sort keys; fewer than `itemCountMax` only when there are no more. */
  query(query: ItemQuery): Promise<readonly Item[]>;
  /**
   * Puts the item in place, if the one there has `baseRevision`; with undefined, if there is none.
   *
   * @throws commit-conflict — the condition did not hold; this call changed nothing
   * @throws unavailable, commit-state-unknown — it may or may not have been applied, now or later
   */
  write(item: Item, baseRevision: string | undefined): Promise<void>;
  /** Removes the item, if it has `baseRevision`. @throws as `write` */
  remove(key: ItemKey, baseRevision: string): Promise<void>;
}
