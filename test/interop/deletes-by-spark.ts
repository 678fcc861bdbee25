// Spark deletes, updates and merges on read: v2 with delete files by partition and by file, then v3; Firn in between.

import assert from 'node:assert/strict';
import { DeletesTable, NAME_PARTITIONS } from './deletes-table.ts';
import { assertSameRows } from './read-table.ts';
import type { Tools, Warehouse } from './tools.ts';

const ALL = { options: ['rewrite-all=true'] };
const MERGE_ON_READ = ['delete', 'update', 'merge']
  .map((mode) => `'write.${mode}.mode' = 'merge-on-read'`)
  .join(', ');

export async function deleteInSpark(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_spark', {
    formatVersion: 2,
    partitionField: NAME_PARTITIONS,
  });
  const name = `interop.${table.identifier}`;
  const sql = (text: string) => tools.call<string[]>('spark4', 'sql', { sql: text });
  const insert = (first: number) =>
    sql(
      `INSERT INTO ${name} SELECT /*+ REPARTITION(3) */ id, concat('note ', id), IF(id % 2 = 0, 'even', 'odd') FROM range(${first}, ${first + 60})`,
    );
  const assertSparkAgrees = async () => {
    const lineage = table.formatVersion >= 3;
    const rows = await tools.call<string[]>('spark4', 'read', { table: table.identifier, lineage });
    assertSameRows(rows, await table.rows(), 'spark4');
  };
  await sql(
    `CREATE TABLE ${name} (id BIGINT, note STRING, name STRING) USING iceberg PARTITIONED BY (truncate(3, name)) TBLPROPERTIES (
      'format-version' = '2', 'firn.verify' = 'rows', 'write.delete.granularity' = 'partition', ${MERGE_ON_READ})`,
  );
  await insert(0);
  await insert(60);
  await sql(`DELETE FROM ${name} WHERE id % 7 = 1`);
  await table.setProperties({ 'write.delete.granularity': 'file' });
  await sql(`UPDATE ${name} SET note = 'updated' WHERE id % 11 = 2`);
  const written = await table.deleteCounts();
  assert.ok(written.partitionScoped > 0 && written.fileScoped > 0, JSON.stringify(written));
  await table.firn('deletes', ALL);
  assert.equal((await table.deleteCounts()).partitionScoped, 0);
  await table.upgrade();
  await sql(`DELETE FROM ${name} WHERE id IN (5, 6)`);
  const upgraded = await table.deleteCounts();
  assert.ok(upgraded.vectors > 0 && upgraded.fileScoped > 0, JSON.stringify(upgraded));
  await table.firn('deletes', ALL);
  assert.equal((await table.deleteCounts()).fileScoped, 0);
  await assertSparkAgrees();
  await table.setProperties({ 'firn.rewrite-data-files.deletes': 'carry' });
  await table.firn('compact', ALL);
  await assertSparkAgrees();
  await sql(
    `MERGE INTO ${name} t USING (SELECT id FROM range(0, 200, 13)) s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET note = 'merged' WHEN NOT MATCHED THEN INSERT (id, note, name) VALUES (s.id, 'new', 'odd')`,
  );
  const merged = await table.rows();
  await sql(
    `CALL interop.system.rewrite_data_files(table => '${name}', options => map('rewrite-all', 'true'))`,
  );
  await table.assertRows(merged, 'after compaction by Spark on top');
  await insert(200);
  await sql(`DELETE FROM ${name} WHERE id % 17 = 3`);
  await table.setProperties({ 'firn.rewrite-data-files.deletes': 'purge' });
  await table.firn('compact', ALL);
  await assertSparkAgrees();
  await table.assertTimeTravel();
  return [
    `${table.firnCommits} commits of Firn, ${table.otherReads} reads by PyIceberg and DuckDB`,
  ];
}
