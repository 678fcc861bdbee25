/** Why a partition, or a Puffin file, is left as it is. */
export type SkipReason =
  | 'below-thresholds'
  /** A foreign writer deleted rows of it lately. */
  | 'too-warm'
  /** Global equality deletes apply to it, and another partition that they apply to cannot be rewritten now. */
  | 'others-not-ready'
  | 'unsupported-format'
  | 'unsupported-column'
  | 'encrypted'
  | 'unsupported-spec'
  /** A data file, or a delete file, is listed twice, or a data file has two vectors: a flaw of the table. */
  | 'referenced-twice'
  | 'max-files-to-rewrite';

export interface Skipped {
  /** 0 for vectors of a Puffin file: it may be of several. */
  readonly partitionCount: number;
  readonly deleteFileCount: number;
}

export type SkippedByReason = Readonly<Partial<Record<SkipReason, Skipped>>>;

/** Counts what a plan leaves alone, by reason. */
export interface SkipCounts {
  /** @param dueAtMs when it would not be left alone any more */
  add(reason: SkipReason, skipped: Skipped, dueAtMs?: number): void;
  byReason(): SkippedByReason;
  /** The first time at which one of them is due. */
  firstDueAtMs(): number | undefined;
}

export function createSkipCounts(): SkipCounts {
  const counts: Partial<Record<SkipReason, Skipped>> = {};
  let firstDueAtMs = Number.POSITIVE_INFINITY;
  return {
    add(reason, { partitionCount, deleteFileCount }, dueAtMs = firstDueAtMs) {
      const before = counts[reason] ?? { partitionCount: 0, deleteFileCount: 0 };
      counts[reason] = {
        partitionCount: before.partitionCount + partitionCount,
        deleteFileCount: before.deleteFileCount + deleteFileCount,
      };
      firstDueAtMs = Math.min(firstDueAtMs, dueAtMs);
    },
    byReason: () => ({ ...counts }),
    firstDueAtMs: () => (Number.isFinite(firstDueAtMs) ? firstDueAtMs : undefined),
  };
}
