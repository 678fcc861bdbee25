/** The first violation that `find` sees in the items. */
export function firstViolation<Item>(
  items: Iterable<Item>,
  find: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const violation = find(item);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** The first value that stands twice. */
export function firstDuplicate(values: Iterable<string>): string | undefined {
  const seen = new Set<string>();
  return firstViolation(values, (value) =>
    seen.size === seen.add(value).size ? value : undefined,
  );
}
