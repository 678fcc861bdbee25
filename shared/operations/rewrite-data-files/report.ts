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
import { deletesOf } from './deletes-done.ts';
import type { RewriteDataFilesResult, RewriteReport } from './outcome.ts';
import { groupResultToJson } from './outcome-json.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import { planToJson, scopeToJson } from './plan-json.ts';

/** Reports a run, or why there was none if that is news. */
export async function reportOutcome(
  outcome: RewriteDataFilesResult,
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
      const { scope } = outcome.plan;
      // Nothing came or went since the plan before, whose report still stands.
      if (scope.kind === 'incremental' && scope.partitionCount === 0) return;
      const reasons = Object.keys({ ...outcome.plan.skippedFiles, ...outcome.plan.skippedGroups });
      const report = write('nothing-due', planFacts(outcome));
      // An empty table has no reasons.
      const sameness = ['nothing-due', ...reasons.sort()].join();
      await ledger.reports.writeSkip(report, planDetails(outcome), sameness);
      return;
    }
    case 'observed':
    case 'held-back': {
      const isObserved = outcome.outcome === 'observed';
      const reason = isObserved ? 'observing' : heldBackReason(outcome.verdicts);
      const sameness = `${reason} ${sizeOf(outcome.plan)}`;
      await ledger.reports.writeSkip(
        write(reason, planFacts(outcome)),
        planDetails(outcome),
        sameness,
      );
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
}: Pick<RewriteReport, 'plan' | 'before' | 'verdicts'>): JsonObject {
  return {
    branch: plan.base.branch,
    startingSnapshotId: String(plan.base.startingSnapshotId),
    scope: scopeToJson(plan.scope),
    groupCount: plan.groups.length,
    plannedFileCount: plannedFileCount(plan),
    before: { ...before },
    ...verdictFacts(verdicts),
  };
}

function runFacts({ after, groups, commits }: RewriteReport): JsonObject {
  return {
    after: { ...after },
    ...commitFacts(commits),
    ...groupCounts(groups),
    deletes: { ...deletesOf({ groups, commits }) },
  };
}

function planDetails({ plan }: { readonly plan: RewriteDataFilesPlan }): JsonObject {
  return { plan: planToJson(plan) };
}

function plannedFileCount({ groups }: RewriteDataFilesPlan): number {
  return groups.reduce((sum, { files }) => sum + files.length, 0);
}

/** Plans of one size are no news to each other; one of twice the files is. */
function sizeOf(plan: RewriteDataFilesPlan): string {
  return `2^${Math.floor(Math.log2(plannedFileCount(plan) + 1))} files`;
}

function groupReasons({ groups }: RewriteDataFilesPlan): string {
  return [...new Set(groups.map(({ reason }) => reason))].sort().join();
}
