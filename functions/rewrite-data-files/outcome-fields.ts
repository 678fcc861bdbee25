import type { LogFields } from '../../shared/base/index.ts';
import type {
  RewriteDataFilesOutcome,
  RewriteDataFilesPlan,
} from '../../shared/operations/rewrite-data-files/index.ts';

/** The one summary line of a run: a sentence for people, and fields for searching. */
export function outcomeFields(outcome: RewriteDataFilesOutcome): {
  readonly message: string;
  readonly fields: LogFields;
} {
  const { requests } = outcome;
  const fields = {
    outcome: outcome.outcome,
    s3ReadCount: requests.read + requests.readRange + requests.head,
    s3WriteCount: requests.write + requests.openWriter,
    bytesRead: requests.bytesRead,
    bytesWritten: requests.bytesWritten,
  };
  switch (outcome.outcome) {
    case 'no-snapshot':
      return { message: 'the table has no snapshot', fields };
    case 'skipped':
      return {
        message: `skipped: ${outcome.reason}`,
        fields: { ...fields, detail: outcome.detail },
      };
    case 'nothing-planned':
      return { message: 'nothing to do', fields: { ...fields, ...planFields(outcome.plan) } };
    case 'observed':
      return {
        message: `would rewrite ${plannedFileCount(outcome.plan)} files`,
        fields: { ...fields, ...planFields(outcome.plan) },
      };
    case 'committed':
    case 'partial': {
      const { before, after, commits, plan, groups } = outcome;
      return {
        message: `${before.fileCount} files became ${after.fileCount} in ${commits.length} commits`,
        fields: {
          ...fields,
          ...planFields(plan),
          fileCountBefore: before.fileCount,
          fileCountAfter: after.fileCount,
          bytesBefore: before.bytes,
          bytesAfter: after.bytes,
          droppedGroupCount: groups.filter((group) => group.state === 'dropped').length,
          snapshotIds: commits.map((commit) => commit.snapshotId).join(','),
          metadataLocation: commits.at(-1)?.metadataLocation ?? null,
        },
      };
    }
  }
}

function planFields(plan: RewriteDataFilesPlan): LogFields {
  const skips = [...Object.entries(plan.skippedFiles), ...Object.entries(plan.skippedGroups)];
  return {
    groupCount: plan.groups.length,
    plannedFileCount: plannedFileCount(plan),
    skipped: skips.map(([reason, { fileCount }]) => `${reason}: ${fileCount}`).join(', '),
  };
}

function plannedFileCount(plan: RewriteDataFilesPlan): number {
  return plan.groups.reduce((sum, group) => sum + group.files.length, 0);
}
