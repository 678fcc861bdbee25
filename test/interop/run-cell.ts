// One cell: written, read, compacted by Firn, read equal by every reader, written on top, compacted and read again.

import assert from 'node:assert/strict';
import type { Cell, Reader } from './cells.ts';
import { compactTable, FIRN_DONE } from './firn.ts';
import type { Tools, Warehouse } from './tools.ts';
import { type WrittenTable, writeOnTop, writeTable } from './write-table.ts';

type Description = Readonly<{
  metadataLocation: string;
  columns: readonly string[];
  snapshotId: string;
  operation: string;
  summary: Readonly<Record<string, string>>;
  files: readonly Readonly<{ location: string; specId: number; partition: string }>[];
}>;

/** Differing rows shown in a failure. */
const DIFFERENCES_SHOWN = 3;

function describeTable(tools: Tools, table: WrittenTable): Promise<Description> {
  return tools.call('iceberg', 'describe', { table: table.identifier });
}

/** Canonical rows by one reader; Java's carry the lineage columns of a v3 table. */
async function read(tools: Tools, table: WrittenTable, reader: Reader): Promise<readonly string[]> {
  const request = { table: table.identifier };
  switch (reader) {
    case 'java':
      return tools.call('iceberg', 'read', { ...request, lineage: table.cell.formatVersion >= 3 });
    case 'pyiceberg':
      return tools.call('python', 'pyiceberg', request);
    case 'duckdb': {
      const { metadataLocation, columns } = await describeTable(tools, table);
      return tools.call('python', 'duckdb', { metadataLocation, columns });
    }
    case 'spark35':
      return tools.call('spark35', 'read', request);
  }
}

/** Java's rows without the two lineage columns that follow the table's own. */
function withoutLineage(rows: readonly string[], formatVersion: number): readonly string[] {
  if (formatVersion < 3) return rows;
  return rows.map((row) => row.replace(/,(null|\d+),(null|\d+)\)$/, ')')).sort();
}

function assertSameRows(actual: readonly string[], expected: readonly string[], who: string): void {
  const [had, has] = [new Set(expected), new Set(actual)];
  const lost = expected.filter((row) => !has.has(row)).slice(0, DIFFERENCES_SHOWN);
  const gained = actual.filter((row) => !had.has(row)).slice(0, DIFFERENCES_SHOWN);
  const counts = `${actual.length} rows, expected ${expected.length}`;
  const shown = [
    ...lost.map((row) => `  lost   ${row}`),
    ...gained.map((row) => `  gained ${row}`),
  ];
  const same = actual.length === expected.length && actual.every((row, i) => row === expected[i]);
  assert.ok(same, [`${who}: ${counts}`, ...shown].join('\n'));
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
  const before = await describeTable(tools, table);
  const { identifier } = table;
  const ended = await compactTable({
    identifier,
    catalogTable: warehouse.catalogTable,
    endpoints: warehouse,
  });
  assert.equal(
    ended.code,
    FIRN_DONE,
    `firn ended with ${ended.code}\n${ended.stdout}${ended.stderr}`,
  );
  const after = await describeTable(tools, table);
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
