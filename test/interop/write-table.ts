// Makes a cell's table with Iceberg Java or Spark: created, filled, evolved, filled again.

import type { Cell, SchemaChange } from './cells.ts';
import { schemaJson, sparkColumns, sparkType, typeJson } from './columns.ts';
import type { Tools } from './tools.ts';

/** Commits in each phase, files per partition and commit, rows per commit. */
const COMMITS = 2;
const FILES_PER_COMMIT = 3;
const ROWS_PER_COMMIT = 120;

/** A table of the run, with how far its key column has counted. */
export type WrittenTable = { readonly identifier: string; readonly cell: Cell; nextId: number };

async function append(tools: Tools, table: WrittenTable, command = 'append'): Promise<void> {
  const request = {
    table: table.identifier,
    rows: ROWS_PER_COMMIT,
    files: FILES_PER_COMMIT,
    firstId: table.nextId,
  };
  table.nextId += ROWS_PER_COMMIT;
  const tool = table.cell.writer === 'spark' && command === 'append' ? 'spark4' : 'iceberg';
  await tools.call(tool, command, request);
}

/** Puts commits on top of a table: appends by its writer, and an overwrite by Java in the cells that ask for it. */
export async function writeOnTop(tools: Tools, table: WrittenTable): Promise<void> {
  for (let i = 0; i < COMMITS; i += 1) await append(tools, table);
  if (table.cell.overwrites) await append(tools, table, 'overwrite');
}

/** `bucket[2](id)` as Spark's SQL says it in CREATE and ALTER. */
function sparkTransform(field: string): string {
  const [, transform, width, column] = /^(?:(\w+)(?:\[(\d+)\])?\()?(\w+)\)?$/.exec(field) ?? [];
  if (transform === undefined) return column ?? field;
  if (width !== undefined) return `${transform}(${width}, ${column})`;
  return `${transform}s(${column})`;
}

function sparkSchemaChange(change: SchemaChange): string {
  const { column } = change;
  switch (change.change) {
    case 'add':
      return `ADD COLUMN ${column} ${sparkType(change.type)}`;
    case 'widen':
      return `ALTER COLUMN ${column} TYPE ${sparkType(change.type)}`;
    case 'rename':
      return `RENAME COLUMN ${column} TO ${change.to}`;
    case 'drop':
      return `DROP COLUMN ${column}`;
    case 'moveFirst':
      return `ALTER COLUMN ${column} FIRST`;
  }
}

async function createInSpark(tools: Tools, cell: Cell, identifier: string): Promise<void> {
  const properties = Object.entries(cell.properties).map(([key, value]) => `'${key}' = '${value}'`);
  const spec = cell.spec.map(sparkTransform).join(', ');
  const sql = [
    `CREATE TABLE interop.${identifier} (${sparkColumns(cell.columns)}) USING iceberg`,
    spec === '' ? '' : `PARTITIONED BY (${spec})`,
    `TBLPROPERTIES (${properties.join(', ')})`,
  ];
  await tools.call('spark4', 'sql', { sql: sql.join(' ') });
}

async function evolveInSpark(tools: Tools, cell: Cell, identifier: string): Promise<void> {
  const changes = [
    ...cell.schemaChanges.map(sparkSchemaChange),
    ...(cell.specChange?.remove ?? []).map((f) => `DROP PARTITION FIELD ${sparkTransform(f)}`),
    ...(cell.specChange?.add ?? []).map((f) => `ADD PARTITION FIELD ${sparkTransform(f)}`),
  ];
  for (const change of changes) {
    await tools.call('spark4', 'sql', { sql: `ALTER TABLE interop.${identifier} ${change}` });
  }
}

async function createInJava(tools: Tools, cell: Cell, identifier: string): Promise<void> {
  await tools.call('iceberg', 'create', {
    table: identifier,
    schema: schemaJson(cell.columns),
    spec: cell.spec,
    properties: cell.properties,
  });
}

async function evolveInJava(tools: Tools, cell: Cell, identifier: string): Promise<void> {
  if (cell.schemaChanges.length > 0) {
    const changes = cell.schemaChanges.map((change) =>
      'type' in change ? { ...change, type: typeJson(change.type) } : change,
    );
    await tools.call('iceberg', 'updateSchema', { table: identifier, changes });
  }
  if (cell.specChange !== undefined) {
    await tools.call('iceberg', 'updateSpec', { table: identifier, ...cell.specChange });
  }
}

/** Makes and fills a cell's table; an evolved one gets as many commits after its change as before. */
export async function writeTable(
  tools: Tools,
  cell: Cell,
  namespace: string,
): Promise<WrittenTable> {
  const table = { identifier: `${namespace}.${cell.name}`, cell, nextId: 0 };
  const inSpark = cell.writer === 'spark';
  await (inSpark ? createInSpark : createInJava)(tools, cell, table.identifier);
  for (let i = 0; i < COMMITS; i += 1) await append(tools, table);
  if (cell.schemaChanges.length === 0 && cell.specChange === undefined) return table;
  await (inSpark ? evolveInSpark : evolveInJava)(tools, cell, table.identifier);
  for (let i = 0; i < COMMITS; i += 1) await append(tools, table);
  return table;
}
