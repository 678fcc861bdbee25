import type { LogFields } from '../../shared/base/index.ts';
import { isHeldBack } from '../../shared/guards/index.ts';
import { groupCounts } from '../../shared/maintenance/index.ts';
import { guardFields, requestFields } from '../../shared/operation-function/index.ts';
import {
  deletesOf,
  type PlanScope,
  type RewriteDataFilesOutcome,
  type RewriteDataFilesPlan,
  type RewriteReport,
} from '../../shared/operations/rewrite-data-files/index.ts';

/** The one summary line of a run: a sentence for people, and fields for searching. */
export function outcomeFields(outcome: RewriteDataFilesOutcome): {
  readonly message: string;
  readonly fields: LogFields;
} {
  const fields = { outcome: outcome.outcome, ...requestFields(outcome.requests) };
  switch (outcome.outcome) {
    case 'no-snapshot':
      return { message: 'the table has no snapshot', fields };
    case 'busy':
      return {
        message: `run ${outcome.owner} is working on the table`,
        fields: { ...fields, busyRunId: outcome.owner, busyUntilMs: outcome.expiresAtMs },
      };
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
        fields: { ...fields, ...planFields(outcome.plan), ...guardFields(outcome.verdicts) },
      };
    case 'held-back':
      return {
        message: outcome.verdicts
          .filter(isHeldBack)
          .map(({ detail }) => detail)
          .join('; '),
        fields: { ...fields, ...planFields(outcome.plan), ...guardFields(outcome.verdicts) },
      };
    case 'committed':
    case 'partial': {
      const { before, after, commits } = outcome;
      return {
        message: `${before.fileCount} files became ${after.fileCount} in ${commits.length} commits`,
        fields: {
          ...fields,
          ...planFields(outcome.plan),
          ...guardFields(outcome.verdicts),
          ...reportFields(outcome),
        },
      };
    }
  }
}

function planFields(plan: RewriteDataFilesPlan): LogFields {
  const skips = [...Object.entries(plan.skippedFiles), ...Object.entries(plan.skippedGroups)];
  return {
    ...scopeFields(plan.scope),
    groupCount: plan.groups.length,
    plannedFileCount: plannedFileCount(plan),
    skipped: skips.map(([reason, { fileCount }]) => `${reason}: ${fileCount}`).join(', '),
    youngUntilMs: plan.dueAtMs,
  };
}

function scopeFields(scope: PlanScope): LogFields {
  if (scope.kind === 'full') return { scope: scope.kind, scopeReason: scope.reason };
  const { kind, sinceSnapshotId, partitionCount, readManifestCount, manifestCount } = scope;
  return {
    scope: kind,
    sinceSnapshotId: String(sinceSnapshotId),
    duePartitionCount: partitionCount,
    readManifestCount,
    manifestCount,
  };
}

function reportFields(report: RewriteReport): LogFields {
  const { before, after, commits, groups } = report;
  const kinds = groups.flatMap((group) => ('error' in group ? [group.error.kind] : []));
  return {
    fileCountBefore: before.fileCount,
    fileCountAfter: after.fileCount,
    bytesBefore: before.bytes,
    bytesAfter: after.bytes,
    ...deleteFields(report),
    ...groupCounts(groups),
    failedKinds: kinds.length === 0 ? undefined : [...new Set(kinds)].sort().join(','),
    snapshotIds: commits.map((commit) => commit.snapshotId).join(','),
    metadataLocation: commits.at(-1)?.metadataLocation ?? null,
  };
}

/** Where deletes were applied, carried or removed. */
function deleteFields(report: RewriteReport): LogFields {
  const { appliedFileCount, purgedRowCount, carriedRowCount, ...others } = deletesOf(report);
  const { carriedOverRowCount, addedFileCount, removedFileCount } = others;
  if (appliedFileCount + carriedOverRowCount + removedFileCount === 0) return {};
  return {
    deleteRowCountBefore: report.before.deleteRowCount,
    deleteRowCountAfter: report.after.deleteRowCount,
    appliedDeleteFileCount: appliedFileCount,
    purgedRowCount,
    carriedRowCount,
    carriedOverRowCount,
    addedDeleteFileCount: addedFileCount,
    removedDeleteFileCount: removedFileCount,
  };
}

function plannedFileCount(plan: RewriteDataFilesPlan): number {
  return plan.groups.reduce((sum, group) => sum + group.files.length, 0);
}
