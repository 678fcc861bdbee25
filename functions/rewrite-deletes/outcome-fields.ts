import type { LogFields } from '../../shared/base/index.ts';
import { isHeldBack } from '../../shared/guards/index.ts';
import { groupCounts } from '../../shared/maintenance/index.ts';
import { guardFields, requestFields } from '../../shared/operation-function/index.ts';
import type {
  RewriteDeletesOutcome,
  RewriteDeletesPlan,
  RewriteDeletesReport,
} from '../../shared/operations/rewrite-deletes/index.ts';

/** The one summary line of a run: a sentence for people, and fields for searching. */
export function outcomeFields(outcome: RewriteDeletesOutcome): {
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
    case 'observed':
    case 'held-back':
      return {
        message: plannedMessage(outcome),
        fields: { ...fields, ...planFields(outcome.plan), ...guardFields(outcome.verdicts) },
      };
    case 'committed':
    case 'partial': {
      const { removedDeleteFileCount, addedDeleteFileCount } = committedCounts(outcome);
      return {
        message: `${removedDeleteFileCount} delete files became ${addedDeleteFileCount} in ${outcome.commits.length} commits`,
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

function plannedMessage({
  outcome,
  plan,
  verdicts,
}: Pick<RewriteDeletesReport, 'plan' | 'verdicts'> & { readonly outcome: string }): string {
  if (outcome === 'nothing-planned') return 'nothing to do';
  if (outcome === 'observed') return `would rewrite ${plannedFileCount(plan)} delete files`;
  return verdicts
    .filter(isHeldBack)
    .map(({ detail }) => detail)
    .join('; ');
}

function planFields(plan: RewriteDeletesPlan): LogFields {
  const skips = Object.entries(plan.skipped);
  return {
    groupCount: plan.groups.length,
    plannedDeleteFileCount: plannedFileCount(plan),
    skipped: skips.map(([reason, skip]) => `${reason}: ${skip.deleteFileCount}`).join(', '),
    warmUntilMs: plan.dueAtMs,
  };
}

function reportFields(report: RewriteDeletesReport): LogFields {
  const { commits, groups } = report;
  const kinds = groups.flatMap((group) => ('error' in group ? [group.error.kind] : []));
  return {
    ...committedCounts(report),
    ...groupCounts(groups),
    failedKinds: kinds.length === 0 ? undefined : [...new Set(kinds)].sort().join(','),
    snapshotIds: commits.map((commit) => commit.snapshotId).join(','),
    metadataLocation: commits.at(-1)?.metadataLocation ?? null,
  };
}

function committedCounts({ groups }: RewriteDeletesReport) {
  const committed = groups.filter((group) => group.state === 'committed');
  return {
    removedDeleteFileCount: committed.reduce((sum, each) => sum + each.removedFileCount, 0),
    addedDeleteFileCount: committed.reduce((sum, each) => sum + each.addedFileCount, 0),
  };
}

function plannedFileCount({ groups }: RewriteDeletesPlan): number {
  return groups.reduce((sum, { removedFileCount }) => sum + removedFileCount, 0);
}
