import type { JsonObject } from '../../base/index.ts';
import {
  commitFacts,
  groupCounts,
  heldBackReason,
  newReport,
  type ReportedRun,
  type ReportPorts,
  verdictFacts,
} from '../../maintenance/index.ts';
import { groupResultToJson, planToJson } from './json.ts';
import type { RewriteDeletesReport, RewriteDeletesResult } from './outcome.ts';
import type { RewriteDeletesPlan } from './plan.ts';

/** Reports a run, or why there was none if that is news. */
export async function reportOutcome(
  outcome: RewriteDeletesResult,
  run: ReportedRun,
  { ledger, meter }: ReportPorts,
): Promise<void> {
  const write = (reason: string, facts: JsonObject) =>
    newReport(run, meter, { outcome: outcome.outcome, reason, facts });
  switch (outcome.outcome) {
    case 'no-snapshot':
      await ledger.reports.writeSkip(write('no-snapshot', {}));
      return;
    case 'skipped':
      await ledger.reports.writeSkip(write(outcome.reason, { detail: outcome.detail }));
      return;
    case 'nothing-planned': {
      // A table without deletes has no reasons.
      const sameness = ['nothing-due', ...Object.keys(outcome.plan.skipped).sort()].join();
      const report = write('nothing-due', planFacts(outcome));
      await ledger.reports.writeSkip(report, planDetails(outcome), sameness);
      return;
    }
    case 'observed':
    case 'held-back': {
      const isObserved = outcome.outcome === 'observed';
      const reason = isObserved ? 'observing' : heldBackReason(outcome.verdicts);
      const report = write(reason, planFacts(outcome));
      const sameness = `${reason} ${sizeOf(outcome.plan)}`;
      await ledger.reports.writeSkip(report, planDetails(outcome), sameness);
      return;
    }
    case 'committed':
    case 'partial': {
      const facts = { ...planFacts(outcome), ...runFacts(outcome) };
      const groups = outcome.groups.map(groupResultToJson);
      const report = write(groupReasons(outcome.plan), facts);
      await ledger.reports.writeRun(report, { ...planDetails(outcome), groups });
      return;
    }
  }
}

function planFacts({
  plan,
  before,
  verdicts,
}: Pick<RewriteDeletesReport, 'plan' | 'before' | 'verdicts'>): JsonObject {
  return {
    branch: plan.base.branch,
    startingSnapshotId: String(plan.base.startingSnapshotId),
    groupCount: plan.groups.length,
    plannedDeleteFileCount: plannedDeleteFileCount(plan),
    before: { ...before },
    ...verdictFacts(verdicts),
  };
}

function runFacts({ groups, commits }: RewriteDeletesReport): JsonObject {
  const committed = groups.filter((group) => group.state === 'committed');
  return {
    ...commitFacts(commits),
    ...groupCounts(groups),
    removedDeleteFileCount: committed.reduce((sum, each) => sum + each.removedFileCount, 0),
    addedDeleteFileCount: committed.reduce((sum, each) => sum + each.addedFileCount, 0),
  };
}

function planDetails({ plan }: { readonly plan: RewriteDeletesPlan }): JsonObject {
  return { plan: planToJson(plan) };
}

function plannedDeleteFileCount({ groups }: RewriteDeletesPlan): number {
  return groups.reduce((sum, { removedFileCount }) => sum + removedFileCount, 0);
}

/** Plans of one size are no news to each other; one of twice the files is. */
function sizeOf(plan: RewriteDeletesPlan): string {
  return `2^${Math.floor(Math.log2(plannedDeleteFileCount(plan) + 1))} files`;
}

function groupReasons({ groups }: RewriteDeletesPlan): string {
  return [...new Set(groups.flatMap(({ reasons }) => reasons))].sort().join();
}
