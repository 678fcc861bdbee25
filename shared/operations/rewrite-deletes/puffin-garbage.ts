import type { RewriteDeletesOptions } from './options.ts';
import type { ScannedDelete } from './scanned.ts';
import type { SkipCounts, SkipReason } from './skip-counts.ts';
import type { TableDeletes } from './table-deletes.ts';

/** A Puffin file most of whose bytes are of no use, with its live vectors that may be moved. */
export interface SparsePuffin {
  readonly filePath: string;
  readonly fileSizeBytes: number;
  /** By data file. */
  readonly vectors: readonly ScannedDelete[];
  /** 1 − live / size; a vector's line in the footer is live as well. */
  readonly garbageRatio: number;
}

/** What the footer says of a vector, besides the path of its data file. */
const FOOTER_BYTES_PER_VECTOR = 220;

/** Magic numbers, footer lengths and flags, what the footer says of the writer. */
const PUFFIN_BYTES_MIN = 150;

/**
 * The Puffin files worth emptying, by path. A file is emptied as a whole or not at all, since its object lives as long as
 * one vector does: where one of its vectors must stay for now, all do.
 */
export function sparsePuffins(
  table: TableDeletes,
  {
    coveredPaths,
    options,
  }: {
    /** Data files whose vectors are replaced, or relied on, by other groups. */
    readonly coveredPaths: ReadonlySet<string>;
    readonly options: RewriteDeletesOptions;
  },
  skips: SkipCounts,
): readonly SparsePuffin[] {
  const byPath = Map.groupBy(table.vectors(), ({ filePath }) => filePath);
  return [...byPath].flatMap(([filePath, vectors]) => {
    const live = vectors.filter((vector) => table.isNeeded(vector));
    const moved = live.filter(
      ({ referencedDataFile = '' }) => !coveredPaths.has(referencedDataFile),
    );
    const fileSizeBytes = vectors[0]?.fileSizeBytes ?? 0;
    const garbageRatio = Math.max(0, 1 - vectorsBytes(live) / fileSizeBytes);
    if (moved.length === 0 || garbageRatio < options.puffinGarbageRatioThreshold) return [];
    const blocked = moved.flatMap((vector) => {
      const reason = blockOf(vector, table);
      return reason === undefined ? [] : [{ reason, dueAtMs: vector.dueAtMs }];
    });
    const [first] = blocked;
    if (first === undefined) return [{ filePath, fileSizeBytes, vectors: moved, garbageRatio }];
    const skipped = { partitionCount: 0, deleteFileCount: moved.length };
    skips.add(first.reason, skipped, latest(blocked));
    return [];
  });
}

/** What a Puffin file of these vectors takes, or somewhat more. */
export function vectorsBytes(vectors: readonly ScannedDelete[]): number {
  return vectors.reduce(
    (sum, { contentSizeBytes, referencedDataFile = '' }) =>
      sum + contentSizeBytes + FOOTER_BYTES_PER_VECTOR + referencedDataFile.length,
    PUFFIN_BYTES_MIN,
  );
}

function blockOf(vector: ScannedDelete, table: TableDeletes): SkipReason | undefined {
  if (!vector.isSpecWritable) return 'unsupported-spec';
  if (vector.unreadable !== undefined) return vector.unreadable;
  if (table.isFlawed(vector)) return 'referenced-twice';
  return vector.dueAtMs === undefined ? undefined : 'too-warm';
}

function latest(blocked: readonly { readonly dueAtMs: number | undefined }[]): number | undefined {
  const times = blocked.map(({ dueAtMs }) => dueAtMs).filter((dueAtMs) => dueAtMs !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}
