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
  /** When somebody should look at it; only the state of a table has one, and `queryDue` finds it by that. */
  readonly dueAtMs?: number;
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

/** An item that is due, without its record. */
export interface DueItem extends ItemKey {
  readonly dueAtMs: number;
}

export interface DueQuery {
  /** The whole sort key: items of all partitions that have it. */
  readonly sort: string;
  /** Inclusive. */
  readonly dueAtMsMax: number;
  /** Begins behind this item, the last one of the page before, wherever it is by now. */
  readonly after?: Omit<DueItem, 'sort'>;
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
   * Items that are due, across partitions, the one that has been due for longest first; fewer than `itemCountMax` only when
   * there are no more. The one read that may lag behind writes.
   */
  queryDue(query: DueQuery): Promise<readonly DueItem[]>;
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
