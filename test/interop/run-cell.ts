// One cell: written, read, compacted by Firn, read equal by every reader, written on top, compacted and read again.

import assert from 'node:assert/strict';
import type { Cell, Reader } from './cells.ts';
import { compactTable, FIRN_DONE } from './firn.ts';
import { assertSameRows, describeTable, readRows } from './read-table.ts';
import type { Tools, Warehouse } from './tools.ts';
import { type WrittenTable, writeOnTop, writeTable } from './write-table.ts';

/** Rows by one reader. */
function read(tools: Tools, table: WrittenTable, reader: Reader): Promise<readonly string[]> {
  const { identifier, cell } = table;
  return readRows(tools, { identifier, formatVersion: cell.formatVersion }, reader);
}

/** Java's rows without the two lineage columns that follow the table's own. */
function withoutLineage(rows: readonly string[], formatVersion: number): readonly string[] {
  if (formatVersion < 3) return rows;
  return rows.map((row) => row.replace(/,(null|\d+),(null|\d+)\)$/, ')')).sort();
}

async function assertReadersAgree(
  tools: Tools,
  table: WrittenTable,
  expected: readonly string[],
): Promise<void> {
  assertSameRows(await read(tools, table, 'java'), expected, 'java');
  const plain = withoutLineage(expected, table.cell.formatVersion);
  for (const reader of table.cell.readers) {
    if (reader !== 'java') assertSameRows(await read(tools, table, reader), plain, reader);
  }
}

/** Compacts with Firn and demands a commit that left fewer files in place of all small ones. */
async function compact(tools: Tools, table: WrittenTable, warehouse: Warehouse): Promise<void> {
  const { identifier } = table;
  const before = await describeTable(tools, identifier);
  const ended = await compactTable(identifier, warehouse);
  assert.equal(
    ended.code,
    FIRN_DONE,
    `firn ended with ${ended.code}\n${ended.stdout}${ended.stderr}`,
  );
  const after = await describeTable(tools, identifier);
  assert.notEqual(after.snapshotId, before.snapshotId, `firn landed no commit\n${ended.stdout}`);
  assert.equal(after.operation, 'replace');
  assert.equal(after.summary['added-records'], after.summary['deleted-records']);
  const partitions = new Set(after.files.map((file) => `${file.specId} ${file.partition}`));
  assert.equal(after.files.length, partitions.size, `firn left groups alone\n${ended.stdout}`);
}

/** Runs a cell to its end. @throws AssertionError — on the first difference. */
export async function runCell(tools: Tools, cell: Cell, warehouse: Warehouse): Promise<void> {
  const table = await writeTable(tools, cell, warehouse.namespace);
  const before = await read(tools, table, 'java');
  await compact(tools, table, warehouse);
  await assertReadersAgree(tools, table, before);
  await writeOnTop(tools, table);
  const grown = await read(tools, table, 'java');
  await compact(tools, table, warehouse);
  await assertReadersAgree(tools, table, grown);
}
