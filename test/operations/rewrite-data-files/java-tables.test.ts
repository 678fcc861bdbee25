import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TableWriter } from '../../../local/table-writer/index.ts';
import { ManualClock, seededRandom } from '../../../shared/base/index.ts';
import { MemoryCatalog } from '../../../shared/catalog/index.ts';
import {
  deletesOf,
  type RewriteDataFilesOutcome,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { javaTable } from '../../deletes/deleted-rows.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { readRowsSlowly } from '../../support/slow-reader.ts';
import type { Warehouse } from '../rewrite-deletes/deletes-fixture.ts';
import { compact } from './compact-deletes.ts';

const IDENTIFIER = { namespace: ['golden'], name: 'deletes' };

/** A table that Iceberg Java wrote, registered. */
async function openTable(name: string): Promise<Warehouse> {
  const clock = new ManualClock(Date.UTC(2026, 11, 30));
  const random = seededRandom(3);
  const { store, metadataLocation } = await javaTable(name);
  const catalog = new MemoryCatalog({ clock, random });
  await catalog.registerTable(IDENTIFIER, metadataLocation);
  const ports = { catalog, store, clock, random };
  const writer = new TableWriter(IDENTIFIER, ports);
  await writer.setProperties({ 'firn.verify': 'rows' });
  let runCount = 0;
  return {
    ...ports,
    writer,
    ledger: memoryLedger({ clock }),
    nextRunId: () => `run-${++runCount}`,
  };
}

async function rowsBySnapshot(
  { store, writer }: Warehouse,
  withLineage: boolean,
): Promise<Map<bigint, string[]>> {
  const { metadata, metadataLocation } = await writer.load();
  const found = new Map<bigint, string[]>();
  for (const { snapshotId } of metadata.snapshots) {
    const options = { store, metadataLocation, snapshotId, withLineage };
    found.set(snapshotId, await readRowsSlowly(options));
  }
  return found;
}

/** Rows of all snapshots from before, and of the branch, must be as they were. */
async function compactBranch(warehouse: Warehouse): Promise<RewriteDataFilesOutcome> {
  const { metadata } = await warehouse.writer.load();
  // Where a table was upgraded, its rows get their ids with the rewrite.
  const withLineage = metadata.snapshots.some(({ firstRowId }) => firstRowId !== undefined);
  const before = await rowsBySnapshot(warehouse, withLineage);
  const headOf = async () =>
    (await warehouse.writer.load()).metadata.refs.get('work')?.snapshotId ?? 0n;
  const headBefore = await headOf();
  const options = { 'delete-file-threshold': '1' };
  const outcome = await compact(warehouse, options, { branch: 'work' });
  const after = await rowsBySnapshot(warehouse, withLineage);
  for (const [snapshotId, rows] of before) assert.deepEqual(after.get(snapshotId), rows);
  assert.deepEqual(after.get(await headOf()), before.get(headBefore));
  return outcome;
}

/** The snapshot before the one that deletes by a column of type double. */
async function branchBeforeEqualityDeletes({ writer }: Warehouse): Promise<void> {
  const { snapshots } = (await writer.load()).metadata;
  await writer.addRef('work', 'branch', snapshots[3]!.snapshotId);
}

describe('tables with deletes by Iceberg Java', () => {
  for (const [name, isUpgraded, rowCount] of [
    ['v2-deletes', false, 6],
    ['v2-deletes', true, 6],
    ['v3-deletes', false, 7],
  ] as const) {
    it(`${name}${isUpgraded ? ', upgraded' : ''}: position deletes and vectors are applied`, async () => {
      const warehouse = await openTable(name);
      await branchBeforeEqualityDeletes(warehouse);
      if (isUpgraded) await warehouse.writer.upgrade(3);

      const outcome = await compactBranch(warehouse);

      assert.ok(outcome.outcome === 'committed', outcome.outcome);
      const { purgedRowCount, carriedRowCount } = deletesOf(outcome);
      assert.deepEqual([purgedRowCount, carriedRowCount], [rowCount, 0]);
    });
  }

  for (const name of ['v2-deletes', 'v3-deletes'] as const) {
    it(`${name}: files that equality deletes by a double apply to are left alone`, async () => {
      const warehouse = await openTable(name);
      await warehouse.writer.addRef('work', 'branch');

      const outcome = await compactBranch(warehouse);

      assert.ok('plan' in outcome);
      const { skippedFiles } = outcome.plan;
      assert.equal(skippedFiles['unsupported-delete-column']?.fileCount, 2);
    });
  }
});
