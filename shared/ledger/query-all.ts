import type { Item, ItemQuery, ItemStore } from './item-store.ts';

/** A page of small items stays below DynamoDB's megabyte. */
const PAGE_COUNT_MAX = 500;

/** All items of a query, each page read when the one before is used up; changes meanwhile may or may not show. */
export async function* queryAll(
  items: ItemStore,
  query: Omit<ItemQuery, 'itemCountMax'>,
): AsyncIterable<Item> {
  let afterSort = query.afterSort;
  for (;;) {
    const page = await items.query({
      ...query,
      ...(afterSort === undefined ? {} : { afterSort }),
      itemCountMax: PAGE_COUNT_MAX,
    });
    yield* page;
    if (page.length < PAGE_COUNT_MAX) return;
    afterSort = page.at(-1)?.sort;
  }
}
