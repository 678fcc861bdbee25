import type { DueItem, DueQuery, Item } from './item-store.ts';

/** What a query for due items asks for; items that are due at the same time go by partition. */
export function pickDue(
  items: readonly Item[],
  { dueAtMsMax, after, itemCountMax }: DueQuery,
): readonly DueItem[] {
  return items
    .flatMap(({ partition, sort, dueAtMs }) =>
      dueAtMs === undefined ? [] : [{ partition, sort, dueAtMs }],
    )
    .filter((item) => item.dueAtMs <= dueAtMsMax)
    .filter((item) => after === undefined || compareDue(item, after) > 0)
    .sort(compareDue)
    .slice(0, itemCountMax);
}

type DuePlace = Omit<DueItem, 'sort'>;

function compareDue(one: DuePlace, other: DuePlace): number {
  const differenceMs = one.dueAtMs - other.dueAtMs;
  if (differenceMs !== 0 || one.partition === other.partition) return differenceMs;
  return one.partition < other.partition ? -1 : 1;
}
