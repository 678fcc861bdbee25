import { isIcebergError, type JsonObject } from '../base/index.ts';
import { formatTableIdentifier } from '../catalog/index.ts';
import { type GuardVerdict, heldBackUntilMs, isHeldBack } from '../guards/index.ts';
import type { Ledger, Report } from '../ledger/index.ts';
import type { SettledRun, Table } from '../table/index.ts';
import type { Meter } from './meter.ts';

/** The run that is reported on. */
export interface ReportedRun {
  readonly table: Pick<Table, 'identifier'>;
  readonly operation: string;
  readonly runId: string;
  /** Who or what asked for it. */
  readonly trigger?: string;
}

export interface ReportPorts {
  readonly ledger: Ledger;
  readonly meter: Meter;
}

/** A report with what the run has cost so far. */
export function newReport(
  { table, operation, runId, trigger }: ReportedRun,
  meter: Meter,
  { facts, ...said }: Pick<Report, 'outcome' | 'reason' | 'facts'>,
): Report {
  const { durationMs, usage, estimatedDollars } = meter.cost();
  const { bytesRead, bytesWritten } = meter.s3Requests();
  const { s3GetCount, s3PutCount, dynamoDbReadCount, dynamoDbWriteCount } = usage;
  return {
    runId,
    table: formatTableIdentifier(table.identifier),
    operation,
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

/** Reports a run that ended with an error before anything was committed, or by a mistake in Firn. */
export async function reportFailure(
  error: unknown,
  run: ReportedRun,
  { ledger, meter }: ReportPorts,
): Promise<void> {
  const reason = isIcebergError(error) ? error.kind : 'programmer-error';
  const message = error instanceof Error ? error.message : String(error);
  const report = newReport(run, meter, { outcome: 'failed', reason, facts: { message } });
  await ledger.reports.writeRun(report);
}

/** Reports runs whose process ended before it could. One that has reported already keeps its own report. */
export async function reportSettledRuns(
  settledRuns: readonly SettledRun[],
  run: ReportedRun,
  { ledger, meter }: ReportPorts,
): Promise<void> {
  for (const { runId, operation, outcome, snapshotIds } of settledRuns) {
    const facts = { settledBy: run.runId, snapshotIds: snapshotIds.map(String) };
    await ledger.reports.writeRun({
      runId,
      table: formatTableIdentifier(run.table.identifier),
      operation,
      outcome,
      reason: outcome === 'unknown' ? 'commit-state-unknown' : 'run-abandoned',
      createdAtMs: meter.clock.nowMs(),
      facts,
    });
  }
}

/** What a report says of the rules that applied. */
export function verdictFacts(verdicts: readonly GuardVerdict[]): JsonObject {
  const heldUntilMs = heldBackUntilMs(verdicts);
  return {
    ...(verdicts.length === 0
      ? {}
      : { guards: verdicts.map(({ guard, state, detail }) => ({ guard, state, detail })) }),
    ...(heldUntilMs === undefined ? {} : { heldUntilMs }),
  };
}

/** The rules that hold a run back, as a report's reason. */
export function heldBackReason(verdicts: readonly GuardVerdict[]): string {
  return verdicts
    .filter(isHeldBack)
    .map(({ guard }) => guard)
    .join();
}

export function verdictToJson(verdict: GuardVerdict): JsonObject {
  return { ...verdict, figures: { ...verdict.figures } };
}
