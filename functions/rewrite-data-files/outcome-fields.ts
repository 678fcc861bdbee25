import type { LogFields } from '../../shared/base/index.ts';
import { type GuardVerdict, heldBackUntilMs, isHeldBack } from '../../shared/guards/index.ts';
import type {
  GroupResult,
  RewriteDataFilesOutcome,
  RewriteDataFilesPlan,
  RewriteReport,
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

/** Which rules hold the run back, which were overruled, and when the last of the former would let it go on. */
function guardFields(verdicts: readonly GuardVerdict[]): LogFields {
  if (verdicts.length === 0) return {};
  return {
    guards: verdicts.map(({ guard, state }) => `${guard}: ${state}`).join(', '),
    heldBackUntilMs: heldBackUntilMs(verdicts),
  };
}

function planFields(plan: RewriteDataFilesPlan): LogFields {
  const skips = [...Object.entries(plan.skippedFiles), ...Object.entries(plan.skippedGroups)];
  return {
    groupCount: plan.groups.length,
    plannedFileCount: plannedFileCount(plan),
    skipped: skips.map(([reason, { fileCount }]) => `${reason}: ${fileCount}`).join(', '),
    youngUntilMs: plan.dueAtMs,
  };
}

function reportFields({ before, after, commits, groups }: RewriteReport): LogFields {
  const kinds = groups.flatMap((group) => ('error' in group ? [group.error.kind] : []));
  return {
    fileCountBefore: before.fileCount,
    fileCountAfter: after.fileCount,
    bytesBefore: before.bytes,
    bytesAfter: after.bytes,
    ...groupCounts(groups),
    failedKinds: kinds.length === 0 ? undefined : [...new Set(kinds)].sort().join(','),
    snapshotIds: commits.map((commit) => commit.snapshotId).join(','),
    metadataLocation: commits.at(-1)?.metadataLocation ?? null,
  };
}

function groupCounts(groups: readonly GroupResult[]): LogFields {
  const countOf = (...states: readonly GroupResult['state'][]): number =>
    groups.filter((group) => states.includes(group.state)).length;
  return {
    committedGroupCount: countOf('committed'),
    droppedGroupCount: countOf('dropped'),
    failedGroupCount: countOf('failed', 'commit-failed'),
    notStartedGroupCount: countOf('not-started'),
  };
}

function plannedFileCount(plan: RewriteDataFilesPlan): number {
  return plan.groups.reduce((sum, group) => sum + group.files.length, 0);
}
