import type { JsonObject } from '../base/index.ts';
import type { Item, ItemKey } from './item-store.ts';
import { itemFields, newBody } from './record.ts';

/** What a run did, or why an operation did nothing. */
export interface Report {
  readonly runId: string;
  readonly table: string;
  readonly operation: string;
  /** How the run ended, in the operation's own words, such as `committed` or `observed`. */
  readonly outcome: string;
  /** A stable name; figures that differ from run to run go into `facts`. */
  readonly reason: string;
  readonly createdAtMs: number;
  /** Figures, snapshot ids, dollars: small, and part of every listing. */
  readonly facts: JsonObject;
}

/** Large parts of a report, such as its plan. */
export type ReportDetails = JsonObject;

export interface StoredReport {
  readonly report: Report;
  /** In the item itself, or where they are in the state store; undefined when there are none. */
  readonly details: ReportDetails | undefined;
  readonly detailsLocation: string | undefined;
}

export const REPORT_PREFIX = 'report#';

/** Digits of a time in milliseconds, enough until the year 5138. */
const TIME_DIGITS = 14;

/** Reports sort by time, then by run. */
export function reportSort({ createdAtMs, runId }: Pick<Report, 'createdAtMs' | 'runId'>): string {
  return `${REPORT_PREFIX}${String(createdAtMs).padStart(TIME_DIGITS, '0')}#${runId}`;
}

/** Where a run's report is, by the run's id. */
export function reportIndexKey(table: string, runId: string): ItemKey {
  return { partition: table, sort: `report-of#${runId}` };
}

/** What an operation was last skipped for; removed when it runs. */
export function skipKey({ table, operation }: Pick<Report, 'table' | 'operation'>): ItemKey {
  return { partition: table, sort: `skip#${operation}` };
}

export function serializeReport({ report, details, detailsLocation }: StoredReport): JsonObject {
  return newBody({
    'run-id': report.runId,
    operation: report.operation,
    outcome: report.outcome,
    reason: report.reason,
    'created-at-ms': report.createdAtMs,
    facts: report.facts,
    ...(details === undefined ? {} : { details }),
    ...(detailsLocation === undefined ? {} : { 'details-location': detailsLocation }),
  });
}

/** @throws invalid-data, unsupported */
export function parseReport(item: Item): StoredReport {
  const fields = itemFields(item);
  return {
    report: {
      runId: fields.text('run-id'),
      table: item.partition,
      operation: fields.text('operation'),
      outcome: fields.text('outcome'),
      reason: fields.text('reason'),
      createdAtMs: fields.count('created-at-ms'),
      facts: fields.object('facts'),
    },
    details: fields.has('details') ? fields.object('details') : undefined,
    detailsLocation: fields.has('details-location') ? fields.text('details-location') : undefined,
  };
}
