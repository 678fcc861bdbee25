import type { RewriteDataFilesOptions } from './options.ts';

/** A live data file of the planned snapshot, with what planning needs of it. */
export interface ScannedFile {
  readonly filePath: string;
  /** The manifest that holds its entry. */
  readonly manifestPath: string;
  readonly isParquet: boolean;
  readonly isEncrypted: boolean;
  /** False for a spec with a transform that Firn does not know: nobody may write manifests of it then. */
  readonly isSpecWritable: boolean;
  readonly fileSizeBytes: number;
  readonly recordCount: number;
  readonly specId: number;
  /** Equal exactly for files of the same spec and partition; sorts groups. */
  readonly partitionKey: string;
  /** The partition for people, such as `region=eu/day=2026-11-30`; empty when unpartitioned. */
  readonly partition: string;
  readonly dataSequenceNumber: bigint;
  /** Absent where an old writer did not record it. */
  readonly fileSequenceNumber?: bigint;
  readonly firstRowId?: bigint;
  readonly splitOffsets?: readonly number[];
  /** Delete files of any kind that apply to it. */
  readonly deleteFileCount: number;
  /** Record count of those of them that name this file alone; an upper bound of its rows they delete. */
  readonly fileScopedDeleteCount: number;
  /** When it is old enough to be rewritten; absent where it is already. */
  readonly dueAtMs?: number;
}

/** Why a file is worth rewriting. */
export type SelectionReason =
  | 'too-small'
  | 'too-large'
  | 'delete-file-count'
  | 'delete-ratio'
  | 'rewrite-all';

/** Why a file is left as it is. */
export type FileSkipReason =
  | 'size-in-range'
  | 'has-delete-files'
  | 'unsupported-format'
  | 'encrypted'
  | 'unsupported-spec'
  | 'too-young'
  | 'referenced-twice'
  | 'max-files-to-rewrite';

export type Selection =
  | { readonly selected: SelectionReason }
  | { readonly skipped: Exclude<FileSkipReason, 'referenced-twice' | 'max-files-to-rewrite'> };

/**
 * Decides about one file by itself. A size equal to either bound is in range. A file that would be selected but
 * has delete files is skipped with that reason: applying deletes is not offered yet, and rewriting without
 * applying them would bring rows back. Youth comes last: it is the one reason that passes by itself.
 */
export function selectFile(file: ScannedFile, options: RewriteDataFilesOptions): Selection {
  const selected = selectionReason(file, options);
  if (selected === undefined) return { skipped: 'size-in-range' };
  if (!file.isParquet) return { skipped: 'unsupported-format' };
  if (file.isEncrypted) return { skipped: 'encrypted' };
  if (!file.isSpecWritable) return { skipped: 'unsupported-spec' };
  if (file.deleteFileCount > 0) return { skipped: 'has-delete-files' };
  if (file.dueAtMs !== undefined) return { skipped: 'too-young' };
  return { selected };
}

function selectionReason(
  file: ScannedFile,
  options: RewriteDataFilesOptions,
): SelectionReason | undefined {
  if (options.rewriteAll) return 'rewrite-all';
  if (file.fileSizeBytes < options.fileSizeBytesMin) return 'too-small';
  if (file.fileSizeBytes > options.fileSizeBytesMax) return 'too-large';
  if (file.deleteFileCount >= options.deleteFileThreshold) return 'delete-file-count';
  if (deleteRatio(file) >= options.deleteRatioThreshold) return 'delete-ratio';
  return undefined;
}

function deleteRatio(file: ScannedFile): number {
  if (file.recordCount === 0) return 0;
  return Math.min(file.fileScopedDeleteCount, file.recordCount) / file.recordCount;
}
