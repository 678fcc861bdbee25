import { isJsonObject, type JsonValue } from '../../shared/base/index.ts';
import type { TableIdentifier } from '../../shared/catalog/index.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatSizeHistogram,
  formatTable,
} from '../../shared/display/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import type { Report } from '../../shared/ledger/index.ts';
import { formatDollars } from '../../shared/pricing/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import type { LocalCloud } from '../local-cloud.ts';
import type { RowScan } from './scan-rows.ts';

/** A scan with its histogram. */
export function scanLines(title: string, scan: RowScan): string[] {
  const bytes = scan.fileSizesBytes.reduce((sum, size) => sum + size, 0);
  return [
    `${title}: ${formatCount(scan.fileSizesBytes.length, 'data file')}, ${formatBytes(bytes)}, ` +
      `${formatCount(Number(scan.rowCount), 'row')}; fetched and scanned by DuckDB in ${formatDuration(scan.scanDurationMs)}`,
    ...formatSizeHistogram(scan.fileSizesBytes).map((line) => `  ${line}`),
  ];
}

export function comparisonLine(written: RowScan, kept: RowScan): string {
  const times = (one: number, other: number): string => `${(one / Math.max(other, 1)).toFixed(1)}x`;
  return (
    `files ${times(written.fileSizesBytes.length, kept.fileSizesBytes.length)} fewer, ` +
    `scan ${times(written.scanDurationMs, kept.scanDurationMs)} faster, ` +
    `rows ${isEqual(written, kept) ? 'equal' : 'DIFFERENT'} (hash ${kept.rowHash})`
  );
}

/** Whether both found the same rows, in whatever order. */
export function isEqual(one: RowScan, other: RowScan): boolean {
  return one.rowCount === other.rowCount && one.rowHash === other.rowHash;
}

/** The last snapshot that Firn committed, read back from the catalog. */
export async function committedLines(
  identifier: TableIdentifier,
  { warehouse, clock }: LocalCloud,
): Promise<string[]> {
  const { metadata, metadataLocation } = await loadTable(identifier, { ...warehouse, clock });
  const { snapshotId, summary = {} } = snapshotOfRef(metadata) ?? {};
  return [
    `committed, read back from the catalog: ${metadataLocation}`,
    `  snapshot ${snapshotId}, ${summary['operation']} by run ${summary['firn.run-id']}: ` +
      `${summary['deleted-data-files']} files replaced by ${summary['added-data-files']}, ` +
      `${summary['total-records']} records as before`,
  ];
}

/** What ran, why, what came of it and what it cost, the oldest first, as `firn history` would say. */
export function runLines(reports: readonly Report[], widthMax: number): string[] {
  const rows = reports.toReversed().map(({ outcome, facts }) => {
    const { trigger = '', before, after, durationMs, estimatedDollars } = facts;
    return [
      outcome,
      String(trigger),
      [before, after].flatMap(fileCountOf).join(' -> '),
      formatDuration(Number(durationMs)),
      formatDollars(Number(estimatedDollars)),
    ];
  });
  return formatTable([['run', 'why', 'files', 'took', 'estimated'], ...rows], { widthMax });
}

/** Nothing for a run that did not come to it. */
function fileCountOf(counts: JsonValue | undefined): string[] {
  return counts !== undefined && isJsonObject(counts) ? [String(counts['fileCount'])] : [];
}
