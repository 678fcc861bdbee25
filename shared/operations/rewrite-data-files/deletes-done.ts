import type { RewriteReport } from './outcome.ts';

/** What committed groups did about deletes. */
export interface DeletesDone {
  /** Delete files and vectors that were read for them. */
  readonly appliedFileCount: number;
  /** Deleted rows of their inputs that stand nowhere any more. */
  readonly purgedRowCount: number;
  /** Those that were kept, and deleted anew where they stand now. */
  readonly carriedRowCount: number;
  /** Rows that others deleted during the run, which were deleted anew as well. */
  readonly carriedOverRowCount: number;
  readonly addedFileCount: number;
  /** Delete files and vectors that nothing needs any more. */
  readonly removedFileCount: number;
}

/** Sums up what a run did about deletes. */
export function deletesOf({
  groups,
  commits,
}: Pick<RewriteReport, 'groups' | 'commits'>): DeletesDone {
  const done = groups.flatMap((group) => (group.state === 'committed' ? [group.deletes] : []));
  const committed = commits.map(({ deletes }) => deletes);
  return {
    appliedFileCount: sum(done, ({ appliedFileCount }) => appliedFileCount),
    purgedRowCount: sum(done, ({ purgedRowCount }) => purgedRowCount),
    carriedRowCount: sum(done, ({ carriedRowCount }) => carriedRowCount),
    carriedOverRowCount: sum(committed, ({ carriedOverCount }) => carriedOverCount),
    addedFileCount: sum(committed, ({ addedCount }) => addedCount),
    removedFileCount: sum(committed, ({ removedCount }) => removedCount),
  };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
