import { formatCount } from '../../shared/display/index.ts';
import type { UnmaintainableReason } from '../../shared/maintenance/index.ts';
import type {
  FileSkipReason,
  FullPlanReason,
  GroupReason,
  GroupSkipReason,
  PlanScope,
  RewriteDataFilesOptions,
} from '../../shared/operations/rewrite-data-files/index.ts';
import type { DropReason } from '../../shared/table/index.ts';

/** What of the table was planned, and why no less. */
export function scopeText(scope: PlanScope): string {
  if (scope.kind === 'full') return `the whole table, ${fullPlanText(scope.reason)}`;
  const { sinceSnapshotId, partitionCount, readManifestCount, manifestCount } = scope;
  return (
    `${formatCount(partitionCount, 'partition')} that changed since snapshot ${sinceSnapshotId} or were left due, ` +
    `in ${readManifestCount} of ${formatCount(manifestCount, 'manifest')}`
  );
}

function fullPlanText(reason: FullPlanReason): string {
  switch (reason) {
    case 'requested':
      return 'as a person asked';
    case 'few-manifests':
      return 'which has few manifests';
    case 'first-plan':
      return 'which has not been planned before';
    case 'full-plan-interval':
      return 'since the last time is firn.rewrite-data-files.full-plan-interval-ms ago';
    case 'state-unreadable':
      return 'since what was remembered of the last plan cannot be read';
    case 'history-unknown':
      return 'since the snapshot that was planned last is gone';
    case 'options-changed':
      return 'since the sizes wanted are others than last time';
    case 'global-deletes':
      return 'since deletes of every partition came or went';
  }
}

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
    case 'unsupported-format':
      return 'not Parquet';
    case 'encrypted':
      return 'encrypted';
    case 'unsupported-spec':
      return 'partitioned by a transform that Firn does not know';
    case 'unsupported-delete-format':
      return 'rows are deleted of them by files that are not Parquet';
    case 'unsupported-delete-column':
      return 'rows are deleted of them by a column of a type without equality';
    case 'encrypted-deletes':
      return 'rows are deleted of them by encrypted files';
    case 'two-vectors':
      return 'they have two deletion vectors, which only their writer can mend';
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
export function skippedTableText(reason: UnmaintainableReason): string {
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
    case 'fewer-deletes':
      return 'another commit took back deletes of one of its files';
    case 'unreadable-deletes':
      return 'another commit deleted rows of one of its files, and the delete cannot be read';
    case 'deletes-needed':
      return 'another commit added data that the deletes apply to';
    case 'rolled-back':
      return 'the branch was set back to a snapshot before the planned one';
  }
}
