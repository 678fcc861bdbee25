import { isIcebergError, type JsonObject } from '../../base/index.ts';
import { formatTableIdentifier } from '../../catalog/index.ts';
import { type GuardVerdict, heldBackUntilMs } from '../../guards/index.ts';
import type { Ledger, Report } from '../../ledger/index.ts';
import type { SettledRun, Table } from '../../table/index.ts';
import type { Meter } from './meter.ts';
import type { GroupResult, RewriteDataFilesOutcome, RewriteReport } from './outcome.ts';
import { groupResultToJson } from './outcome-json.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import { planToJson } from './plan-json.ts';

/** The operation's name in events, leases and reports. */
export const OPERATION = 'rewrite-data-files';

/** An outcome before its requests are counted. */
export type Uncounted<Outcome> = Outcome extends unknown ? Omit<Outcome, 'requests'> : never;

type Outcome = Uncounted<Exclude<RewriteDataFilesOutcome, { outcome: 'busy' }>>;

interface ReportedRequest {
  readonly table: Pick<Table, 'identifier'>;
  readonly runId: string;
  readonly trigger?: string;
}

interface ReportPorts {
  readonly ledger: Ledger;
  readonly meter: Meter;
}

/** Reports a run, or why there was none if that is news. */
export async function reportOutcome(
  outcome: Outcome,
  request: ReportedRequest,
  { ledger, meter }: ReportPorts,
): Promise<void> {
  const write = (reason: string, facts: JsonObject): Report =>
    newReport(request, meter, { outcome: outcome.outcome, reason, facts });
  switch (outcome.outcome) {
    case 'no-snapshot':
      await ledger.reports.writeSkip(write('no-snapshot', {}));
      return;
    case 'skipped':
      await ledger.reports.writeSkip(write(outcome.reason, { detail: outcome.detail }));
      return;
    case 'nothing-planned': {
      const reasons = Object.keys({ ...outcome.plan.skippedFiles, ...outcome.plan.skippedGroups });
      const report = write('nothing-due', planFacts(outcome));
      await ledger.reports.writeSkip(report, planDetails(outcome), reasons.sort().join());
      return;
    }
    case 'observed':
    case 'held-back': {
      const reason = outcome.outcome === 'observed' ? 'observing' : guardNames(outcome.verdicts);
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

/** Reports a run that ended with an error; of its batches that were committed before, snapshots tell. */
export async function reportFailure(
  error: unknown,
  request: ReportedRequest,
  { ledger, meter }: ReportPorts,
): Promise<void> {
  const reason = isIcebergError(error) ? error.kind : 'programmer-error';
  const message = error instanceof Error ? error.message : String(error);
  const report = newReport(request, meter, { outcome: 'failed', reason, facts: { message } });
  await ledger.reports.writeRun(report);
}

/** Reports runs whose process ended before it could. One that has reported already keeps its own report. */
export async function reportSettledRuns(
  settledRuns: readonly SettledRun[],
  request: ReportedRequest,
  { ledger, meter }: ReportPorts,
): Promise<void> {
  for (const { runId, operation, outcome, snapshotIds } of settledRuns) {
    const facts = { settledBy: request.runId, snapshotIds: snapshotIds.map(String) };
    await ledger.reports.writeRun({
      runId,
      table: formatTableIdentifier(request.table.identifier),
      operation,
      outcome,
      reason: outcome === 'unknown' ? 'commit-state-unknown' : 'run-abandoned',
      createdAtMs: meter.clock.nowMs(),
      facts,
    });
  }
}

function newReport(
  { table, runId, trigger }: ReportedRequest,
  meter: Meter,
  { facts, ...said }: Pick<Report, 'outcome' | 'reason' | 'facts'>,
): Report {
  const { durationMs, usage, estimatedDollars } = meter.cost();
  const { bytesRead, bytesWritten } = meter.s3Requests();
  const { s3GetCount, s3PutCount, dynamoDbReadCount, dynamoDbWriteCount } = usage;
  return {
    runId,
    table: formatTableIdentifier(table.identifier),
    operation: OPERATION,
    ...said,
    createdAtMs: meter.clock.nowMs(),
    facts: {
      ...(trigger === undefined ? {} : { trigger }),
      ...facts,
      requests: { s3GetCount, s3PutCount, dynamoDbReadCount, dynamoDbWriteCount },
      bytesRead,
      bytesWritten,
      durationMs,
      estimatedDollars,
    },
  };
}

function planFacts({
  plan,
  before,
  verdicts,
}: Pick<RewriteReport, 'plan' | 'before' | 'verdicts'>): JsonObject {
  const heldUntilMs = heldBackUntilMs(verdicts);
  return {
    branch: plan.base.branch,
    startingSnapshotId: String(plan.base.startingSnapshotId),
    groupCount: plan.groups.length,
    plannedFileCount: plannedFileCount(plan),
    before: { ...before },
    ...(verdicts.length === 0
      ? {}
      : { guards: verdicts.map(({ guard, state, detail }) => ({ guard, state, detail })) }),
    ...(heldUntilMs === undefined ? {} : { heldUntilMs }),
  };
}

function runFacts({ after, groups, commits }: RewriteReport): JsonObject {
  const countOf = (...states: readonly GroupResult['state'][]): number =>
    groups.filter(({ state }) => states.includes(state)).length;
  return {
    after: { ...after },
    snapshotIds: commits.map(({ snapshotId }) => String(snapshotId)),
    attemptCount: commits.reduce((sum, { attemptCount }) => sum + attemptCount, 0),
    invariants: [...new Set(commits.flatMap(({ invariants }) => invariants))],
    committedGroupCount: countOf('committed'),
    droppedGroupCount: countOf('dropped'),
    failedGroupCount: countOf('failed', 'commit-failed'),
    notStartedGroupCount: countOf('not-started'),
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

function guardNames(verdicts: readonly GuardVerdict[]): string {
  return verdicts
    .filter(({ state }) => state === 'held-back')
    .map(({ guard }) => guard)
    .join();
}
