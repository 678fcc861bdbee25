import { deleteFileCount, type FileDeletes } from './file-deletes.ts';
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
  /** Absent where no delete file applies to it. */
  readonly deletes?: FileDeletes;
  /** What keeps its deletes from being applied, if anything does. */
  readonly deletesFlaw?: DeletesFlaw;
  /** When it is old enough to be rewritten; absent where it is already. */
  readonly dueAtMs?: number;
}

/** Why the rows that are deleted of a file cannot be told. */
export type DeletesFlaw =
  | 'unsupported-delete-format'
  | 'unsupported-delete-column'
  | 'encrypted-deletes'
  | 'two-vectors';

/** Why a file is worth rewriting: the first of these that is so. */
export type SelectionReason =
  | 'delete-file-count'
  | 'delete-ratio'
  | 'rewrite-all'
  | 'too-small'
  | 'too-large';

/** Why a file is left as it is. */
export type FileSkipReason =
  | 'size-in-range'
  | 'unsupported-format'
  | 'encrypted'
  | 'unsupported-spec'
  | DeletesFlaw
  | 'too-young'
  | 'referenced-twice'
  | 'max-files-to-rewrite';

export type Selection =
  | { readonly selected: SelectionReason }
  | { readonly skipped: Exclude<FileSkipReason, 'referenced-twice' | 'max-files-to-rewrite'> };

/**
 * Decides about one file by itself. A size equal to either bound is in range. Youth comes last: it is the one reason
 * that passes by itself.
 */
export function selectFile(file: ScannedFile, options: RewriteDataFilesOptions): Selection {
  const selected = selectionReason(file, options);
  if (selected === undefined) return { skipped: 'size-in-range' };
  if (!file.isParquet) return { skipped: 'unsupported-format' };
  if (file.isEncrypted) return { skipped: 'encrypted' };
  if (!file.isSpecWritable) return { skipped: 'unsupported-spec' };
  if (file.deletesFlaw !== undefined) return { skipped: file.deletesFlaw };
  if (file.dueAtMs !== undefined) return { skipped: 'too-young' };
  return { selected };
}

/** Whether a file of that size is selected only where it is deleted from. */
export function isSizeWanted(
  fileSizeBytes: number,
  { rewriteAll, fileSizeBytesMin, fileSizeBytesMax }: RewriteDataFilesOptions,
): boolean {
  return !rewriteAll && fileSizeBytes >= fileSizeBytesMin && fileSizeBytes <= fileSizeBytesMax;
}

function selectionReason(
  file: ScannedFile,
  options: RewriteDataFilesOptions,
): SelectionReason | undefined {
  if (deleteFileCount(file.deletes) >= options.deleteFileThreshold) return 'delete-file-count';
  if (deleteRatio(file) >= options.deleteRatioThreshold) return 'delete-ratio';
  if (options.rewriteAll) return 'rewrite-all';
  if (file.fileSizeBytes < options.fileSizeBytesMin) return 'too-small';
  if (file.fileSizeBytes > options.fileSizeBytesMax) return 'too-large';
  return undefined;
}

/** Whether a file was selected for its deletes: then they are to be gone, and its group is worth rewriting. */
export function isSelectedForDeletes({ reason }: { readonly reason: SelectionReason }): boolean {
  return reason === 'delete-file-count' || reason === 'delete-ratio';
}

/** Of the rows, those that deletes of this file alone may delete. @see Iceberg Java, `BinPackRewriteFilePlanner` */
function deleteRatio({ recordCount, deletes }: ScannedFile): number {
  if (recordCount === 0 || deletes === undefined) return 0;
  return Math.min(deletes.fileScoped.rowCount, recordCount) / recordCount;
}
