import type { ItemQuery } from './item-store.ts';

/** The sort keys that a query asks for, in its order, however many. @param sortedKeys ascending */
export function pickSorts(
  sortedKeys: readonly string[],
  { sortPrefix, order, afterSort }: Omit<ItemQuery, 'itemCountMax'>,
): readonly string[] {
  const matching = sortedKeys.filter((sort) => sort.startsWith(sortPrefix));
  if (order === 'ascending') {
    return matching.filter((sort) => afterSort === undefined || sort > afterSort);
  }
  return matching.filter((sort) => afterSort === undefined || sort < afterSort).reverse();
}
