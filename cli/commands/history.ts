import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/base/index.ts';
import { formatTableIdentifier, parseTableIdentifier } from '../../shared/catalog/index.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInstant,
  formatTable,
  printable,
} from '../../shared/display/index.ts';
import type { Report } from '../../shared/ledger/index.ts';
import { formatDollars } from '../../shared/pricing/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';

export interface HistoryRequest {
  readonly table: string;
  readonly reportCountMax: number;
}

/**
 * `firn history`: the reports of a table, the newest first; also of one that is gone, as long as there are any. One query,
 * and where it finds nothing one read of the pointer.
 *
 * @throws not-found — when there are no reports and no such table
 */
export async function history(request: HistoryRequest, session: Session): Promise<ExitCode> {
  const identifier = parseTableIdentifier(request.table);
  const table = formatTableIdentifier(identifier);
  const { reportCountMax } = request;
  const ledger = session.warehouse.openLedger();
  const { reports, cursor } = await ledger.reports.list({ table, reportCountMax });
  if (reports.length === 0) await session.warehouse.catalog.loadTable(identifier);
  if (session.isJson) {
    session.printJson({ table, reports: reports.map(reportToJson) });
  } else {
    const rest = cursor === undefined ? [] : [`the newest ${reports.length}; more with --limit`];
    session.print([...describeReports(table, reports, session.widthMax), ...rest]);
  }
  return reports.length === 0 ? EXIT_CODES.nothingToDo : EXIT_CODES.done;
}

export function reportToJson(report: Report): JsonObject {
  return { ...report };
}

/** Reports as a table, one a line. */
export function describeReports(
  tableName: string,
  reports: readonly Report[],
  widthMax: number | undefined,
): string[] {
  if (reports.length === 0) return [`${printable(tableName)}: no reports`];
  return formatTable([HEADINGS, ...reports.map(reportRow)], { widthMax });
}

const HEADINGS = ['when', 'operation', 'outcome', 'why', 'what', 'took', 'price', 'run'];

function reportRow(report: Report): string[] {
  const { createdAtMs, operation, outcome, reason, facts, runId } = report;
  const durationMs = numberOf(facts['durationMs']);
  const dollars = numberOf(facts['estimatedDollars']);
  return [
    formatInstant(createdAtMs),
    operation,
    outcome,
    reason,
    whatText(facts),
    durationMs === undefined ? '' : formatDuration(durationMs),
    dollars === undefined ? '' : formatDollars(dollars),
    runId,
  ];
}

/** What changed, or would have; a report of another version of Firn may say less. */
function whatText(facts: JsonObject): string {
  const { before, after, message, detail, plannedFileCount, snapshotIds } = facts;
  if (typeof message === 'string') return message;
  if (typeof detail === 'string') return detail;
  const change = changeText(before, after);
  if (change !== undefined) return change;
  if (Array.isArray(snapshotIds) && snapshotIds.length > 0) return `snapshot ${snapshotIds.join()}`;
  const planned = numberOf(plannedFileCount);
  return planned ? `${formatCount(planned, 'file')} to rewrite` : '';
}

function changeText(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): string | undefined {
  if (!isJsonObject(before) || !isJsonObject(after)) return undefined;
  const [filesBefore, filesAfter] = [numberOf(before['fileCount']), numberOf(after['fileCount'])];
  const [bytesBefore, bytesAfter] = [numberOf(before['bytes']), numberOf(after['bytes'])];
  if (filesBefore === undefined || filesAfter === undefined) return undefined;
  return (
    `files ${filesBefore} -> ${filesAfter}, ` +
    `${formatBytes(bytesBefore ?? 0)} -> ${formatBytes(bytesAfter ?? 0)}`
  );
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
