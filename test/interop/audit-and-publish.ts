// Write-audit-publish in Spark, beside Firn: branches, fast-forward and cherry-pick go on working after its commits,
// and what waits to be published holds it back.

import { DEFAULT_GUARD_SETTINGS, guardSettingsText } from '../../shared/guards/index.ts';
import { AuditedTable, DEPLOYMENT } from './audited-table.ts';
import type { Tools, Warehouse } from './tools.ts';

/** Rows deleted by a staged DELETE. */
const DELETED = 3;

/** A branch is written, waits while Firn holds back, is published by fast-forward; then Firn goes on. */
async function publishBranch(table: AuditedTable): Promise<void> {
  const audited = await table.withSetting(['spark.wap.branch', 'audit'], () => table.insert());
  await table.firn(/^branch audit could not be published/);
  await table.assertBranch('audit', audited);
  await table.procedure('fast_forward', `'main'`, `'audit'`);
  await table.assertPublished(audited);
  await table.firn('committed');
}

/** A staged append does not hold Firn back: it can be picked onto any head. */
async function pickAppend(table: AuditedTable): Promise<void> {
  const staged = await table.withSetting(['spark.wap.id', 'staged-append'], () => table.insert());
  const snapshotId = await table.stagedSnapshot('staged-append');
  await table.firn('committed');
  await table.procedure('cherrypick_snapshot', snapshotId);
  await table.assertPublished(staged);
}

/** A staged DELETE can be picked onto the head that it was made on only, so Firn waits for it. */
async function pickDelete(table: AuditedTable, rows: readonly string[]): Promise<void> {
  await table.withSetting(['spark.wap.id', 'staged-delete'], () => table.delete(rows));
  const snapshotId = await table.stagedSnapshot('staged-delete');
  await table.firn(/^staged snapshot \d+ \(wap\.id staged-delete\) could not be published/);
  await table.procedure('cherrypick_snapshot', snapshotId);
  await table.assertDeleted(rows);
  await table.firn('committed');
}

export async function publishAfterFirn(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new AuditedTable(tools, warehouse, 'concurrent_publish');
  await table.create();
  const first = await table.insertIntoMain();
  await table.firn('committed');
  await table.insertIntoMain();
  await publishBranch(table);
  await table.insertIntoMain();
  // The branch of before stands on what Firn has replaced since; it catches up as it would with any other writer.
  await table.procedure('fast_forward', `'audit'`, `'main'`);
  await publishBranch(table);
  await table.insertIntoMain();
  await pickAppend(table);
  await pickDelete(table, first.slice(0, DELETED));
  return [
    `firn compact ${DEPLOYMENT.join(' ')}; all else as shipped: ${guardSettingsText(DEFAULT_GUARD_SETTINGS)}`,
    `${table.firnCommits} commits of Firn; held back ${table.firnWaits} times, by branch audit twice and by a staged DELETE`,
    'published by Spark: branch audit twice (fast_forward), a staged append and a staged DELETE (cherrypick_snapshot)',
  ];
}
