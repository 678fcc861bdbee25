import type { Clock } from '../../shared/base/index.ts';
import { formatTableIdentifier, type TableIdentifier } from '../../shared/catalog/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import type { Report } from '../../shared/ledger/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import type { Warehouse } from '../../shared/warehouse/index.ts';

/** What anybody can see of a table and of Firn's work on it: the catalog, the metadata, the ledger's reports. */
export interface Observation {
  readonly fileCount: number;
  /** Snapshots of each, the ones from before the demo included. */
  readonly foreignCommitCount: number;
  readonly firnCommitCount: number;
  /** Estimated by the runs themselves. */
  readonly runDollars: number;
}

const REPORT_COUNT_MAX = 100;

/** One read of the pointer, one of the metadata, one query of the ledger. */
export async function observeTable(
  identifier: TableIdentifier,
  { warehouse, clock }: { readonly warehouse: Warehouse; readonly clock: Clock },
): Promise<Observation> {
  const { metadata } = await loadTable(identifier, { ...warehouse, clock });
  const reports = await listReports(identifier, warehouse);
  const { snapshots } = metadata;
  const firnCommitCount = snapshots.filter(({ summary }) => 'firn.run-id' in summary).length;
  return {
    fileCount: Number(snapshotOfRef(metadata)?.summary['total-data-files'] ?? 0),
    foreignCommitCount: snapshots.length - firnCommitCount,
    firnCommitCount,
    runDollars: reports.reduce(
      (sum, { facts }) => sum + (Number(facts['estimatedDollars']) || 0),
      0,
    ),
  };
}

/** Firn's reports of a table, the newest first: a short demo has few. */
export async function listReports(
  identifier: TableIdentifier,
  warehouse: Warehouse,
): Promise<readonly Report[]> {
  const { reports } = await warehouse.openLedger().reports.list({
    table: formatTableIdentifier(identifier),
    reportCountMax: REPORT_COUNT_MAX,
  });
  return reports;
}
