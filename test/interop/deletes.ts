// Deletes of every kind by Java; Firn rewrites the deletes, compacts by carrying and by purging; all readers agree.

import assert from 'node:assert/strict';
import { DeletesTable, NAME_PARTITIONS, NULL_PARTITIONS } from './deletes-table.ts';
import type { Tools, Warehouse } from './tools.ts';

const ALL = ['rewrite-all=true'];
const CARRY = { 'firn.rewrite-data-files.deletes': 'carry' };
const PURGE = { 'firn.rewrite-data-files.deletes': 'purge' };
const NO_DELETES = { vectors: 0, fileScoped: 0, partitionScoped: 0, equality: 0 };

/** Equality deletes in partitions and in all of them, by int, string, date and two columns; nulls among the keys. */
async function deleteByEquality(table: DeletesTable): Promise<void> {
  const inPartitions = { by: 'equality', specId: 1 } as const;
  const everywhere = { by: 'equality', specId: 0 } as const;
  await table.deleteRows(
    { ...inPartitions, columns: ['id'], modulus: 13, remainder: 3 },
    { ...inPartitions, columns: ['name'], modulus: 13, remainder: 4 },
    { ...everywhere, columns: ['day'], modulus: 29, remainder: 5 },
    { ...everywhere, columns: ['category', 'name'], modulus: 29, remainder: 6 },
  );
  // Rows of deleted keys once more, which live on.
  await table.append(0);
}

async function assertDeletes(
  table: DeletesTable,
  expected: Partial<Record<keyof typeof NO_DELETES, number>>,
): Promise<void> {
  const counts = await table.deleteCounts();
  for (const [kind, count] of Object.entries(expected)) {
    assert.equal(counts[kind as keyof typeof NO_DELETES], count, `${table.identifier}: ${kind}`);
  }
}

/** Compacts twice: once keeping deletes, and then until none is left. */
async function compactBothWays(table: DeletesTable): Promise<string> {
  await table.setProperties(CARRY);
  const carried = await table.firn('compact', { options: ALL });
  assert.ok((carried.deletes?.carriedRowCount ?? 0) > 0, 'nothing was carried');
  await table.deleteRows({ by: 'equality', specId: 0, columns: ['id'], modulus: 17, remainder: 7 });
  await table.setProperties(PURGE);
  const purged = await table.firn('compact', { options: ALL });
  await assertDeletes(table, NO_DELETES);
  return `${carried.deletes?.carriedRowCount} deleted rows carried, then ${purged.deletes?.purgedRowCount} purged`;
}

function figures(table: DeletesTable, compaction: string): string[] {
  return [
    `${table.firnCommits} commits of Firn, ${table.otherReads} reads by PyIceberg and DuckDB; ${compaction}`,
  ];
}

export async function deleteInV2(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_v2', {
    formatVersion: 2,
    partitionField: NULL_PARTITIONS,
  });
  await table.create();
  await table.deleteRows(
    { by: 'file', modulus: 7, remainder: 1 },
    { by: 'file', modulus: 7, remainder: 2 },
    { by: 'partition', modulus: 11, remainder: 3 },
  );
  await table.assertRows(await table.rows(), 'as written by position');
  await table.firn('deletes', { options: ALL });
  const merged = await table.deleteCounts();
  assert.ok(merged.partitionScoped > 0, 'partition-scoped files are left alone');
  await table.setProperties({ 'write.delete.granularity': 'file' });
  await table.firn('deletes', { options: ALL });
  await assertDeletes(table, { partitionScoped: 0 });
  await deleteByEquality(table);
  await table.assertRows(await table.rows(), 'as written by equality');
  await table.firn('deletes', { options: ALL });
  await assertDeletes(table, { partitionScoped: 0, equality: 0 });
  await deleteByEquality(table);
  const compaction = await compactBothWays(table);
  await table.assertTimeTravel();
  return figures(table, compaction);
}

export async function deleteInV3(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_v3', {
    formatVersion: 3,
    partitionField: NAME_PARTITIONS,
  });
  await table.create();
  await table.deleteRows(
    { by: 'vector', modulus: 7, remainder: 1 },
    { by: 'vector', modulus: 11, remainder: 3 },
  );
  await table.assertRows(await table.rows(), 'as written by vectors');
  await deleteByEquality(table);
  await table.firn('deletes', { options: ALL });
  await assertDeletes(table, { equality: 0 });
  await deleteByEquality(table);
  const compaction = await compactBothWays(table);
  await table.assertTimeTravel();
  return figures(table, compaction);
}

export async function deleteBeforeAndAfterUpgrade(
  tools: Tools,
  warehouse: Warehouse,
): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_upgraded', {
    formatVersion: 2,
    partitionField: NULL_PARTITIONS,
  });
  await table.create();
  await table.deleteRows(
    { by: 'file', modulus: 7, remainder: 1 },
    { by: 'partition', modulus: 7, remainder: 2 },
    { by: 'equality', columns: ['name'], specId: 1, modulus: 11, remainder: 4 },
  );
  await table.upgrade();
  // Few files get a vector, which takes in their position deletes; the others keep these.
  await table.deleteRows({ by: 'vector', modulus: 61, remainder: 3 });
  const mixed = await table.deleteCounts();
  assert.ok(mixed.vectors > 0 && mixed.fileScoped > 0 && mixed.partitionScoped > 0);
  await table.firn('deletes', { options: ALL });
  await assertDeletes(table, { fileScoped: 0, partitionScoped: 0, equality: 0 });
  await table.append();
  await table.deleteRows({ by: 'vector', modulus: 23, remainder: 5 });
  const compaction = await compactBothWays(table);
  return figures(table, compaction);
}
