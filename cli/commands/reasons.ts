import type {
  FileSkipReason,
  GroupReason,
  GroupSkipReason,
  RewriteDataFilesOptions,
  SkipReason,
} from '../../shared/operations/rewrite-data-files/index.ts';
import type { DropReason } from '../../shared/table/index.ts';

/** Why a group is rewritten. */
export function groupReasonText(reason: GroupReason, options: RewriteDataFilesOptions): string {
  switch (reason) {
    case 'enough-input-files':
      return `${options.minInputFiles} files or more`;
    case 'enough-content':
      return 'more than one file of the target size';
    case 'too-much-content':
      return 'larger than the largest size wanted';
    case 'deletes':
      return 'many deleted rows';
    case 'rewrite-all':
      return 'all files were asked for';
  }
}

/** Why files are left as they are. */
export function skippedFilesText(
  reason: FileSkipReason | GroupSkipReason,
  options: RewriteDataFilesOptions,
): string {
  switch (reason) {
    case 'size-in-range':
      return 'size is as wanted';
    case 'has-delete-files':
      return 'delete files apply to them, which Firn does not rewrite yet';
    case 'unsupported-format':
      return 'not Parquet';
    case 'encrypted':
      return 'encrypted';
    case 'unsupported-spec':
      return 'partitioned by a transform that Firn does not know';
    case 'too-young':
      return 'written so lately that other jobs may be working on them';
    case 'referenced-twice':
      return 'the snapshot has them more than once, which only their writer can mend';
    case 'max-files-to-rewrite':
      return `beyond the ${options.filesToRewriteMax} files of one run, left to the next`;
    case 'too-few-files':
      return `fewer than ${options.minInputFiles} files in their partition`;
    case 'no-gain':
      return 'rewriting would not make them fewer';
  }
}

/** Why a table is not compacted at all. */
export function skippedTableText(reason: SkipReason): string {
  switch (reason) {
    case 'custom-location-provider':
      return 'its files are named by a location provider of its own, which Firn cannot run';
    case 'no-manifest-list':
      return 'its snapshot has no manifest list, as very old writers left it';
  }
}

/** Why a group that was rewritten could no longer be committed. */
export function droppedGroupText(reason: DropReason): string {
  switch (reason) {
    case 'input-gone':
      return 'another commit removed one of its files';
    case 'input-changed':
      return 'another commit changed the entry of one of its files';
    case 'new-deletes':
      return 'another commit deleted rows of one of its files';
    case 'rolled-back':
      return 'the branch was set back to a snapshot before the planned one';
  }
}
