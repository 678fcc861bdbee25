import type { DueItem, DueQuery, Item, ItemKey, ItemQuery, ItemStore } from './item-store.ts';

/** Requests by kind; one that failed counts too. */
export interface ItemRequestCounts {
  /** Reads and queries. */
  readCount: number;
  /** Writes and removals. */
  writeCount: number;
}

/** Counts what a ledger asks of its store, so that a run can say what it cost. */
export class CountingItemStore implements ItemStore {
  readonly requestCounts: ItemRequestCounts = { readCount: 0, writeCount: 0 };
  readonly #items: ItemStore;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  read(key: ItemKey): Promise<Item | undefined> {
    this.requestCounts.readCount++;
    return this.#items.read(key);
  }

  query(query: ItemQuery): Promise<readonly Item[]> {
    this.requestCounts.readCount++;
    return this.#items.query(query);
  }

  queryDue(query: DueQuery): Promise<readonly DueItem[]> {
    this.requestCounts.readCount++;
    return this.#items.queryDue(query);
  }

  write(item: Item, baseRevision: string | undefined): Promise<void> {
    this.requestCounts.writeCount++;
    return this.#items.write(item, baseRevision);
  }

  remove(key: ItemKey, baseRevision: string): Promise<void> {
    this.requestCounts.writeCount++;
    return this.#items.remove(key, baseRevision);
  }
}
