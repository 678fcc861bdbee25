// The interop run: `npm run test:interop [-- --list] [-- --only SUBSTRING] [-- --endpoint both|moto|local]`.

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { type Cell, cells, unsupported } from './cells.ts';
import { runChild } from './child.ts';
import { interopFolder } from './config.ts';
import { initLedger, STATE_BUCKET } from './firn.ts';
import { installTools } from './install.ts';
import { runCell } from './run-cell.ts';
import { createBucket, type Servers, startLocal, startMoto } from './servers.ts';
import { Tools, type Warehouse } from './tools.ts';

/** Cells in flight; the tools are one process each, so more would only queue. */
const CELLS_AT_ONCE = 3;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function list(chosen: readonly Cell[]): void {
  for (const cell of chosen) {
    const missing = Object.entries(unsupported(cell)).map(
      ([reader, why]) => `no ${reader}: ${why}`,
    );
    say(
      [
        cell.name,
        `written by ${cell.writer}`,
        `read by ${cell.readers.join(', ')}`,
        ...missing,
      ].join('; '),
    );
  }
  say(
    `${chosen.length} cells, ${chosen.filter((cell) => cell.writer === 'spark').length} of them by Spark`,
  );
}

/** Runs the cells, a few at a time, and returns how many failed. */
async function runAll(
  tools: Tools,
  chosen: readonly Cell[],
  warehouse: Warehouse,
): Promise<number> {
  const waiting = chosen.values();
  let failed = 0;
  const work = async (): Promise<void> => {
    for (const cell of waiting) {
      const startedMs = performance.now();
      const failure = await runCell(tools, cell, warehouse).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      if (failure === undefined) say(`ok ${cell.name} (${seconds} s)`);
      else say(`not ok ${cell.name} (${seconds} s)\n${failure}`);
      failed += failure === undefined ? 0 : 1;
    }
  };
  await Promise.all(Array.from({ length: CELLS_AT_ONCE }, work));
  return failed;
}

/** Starts servers and tools, runs the cells against them, and returns how many failed. */
async function runOn(start: () => Promise<Servers>, chosen: readonly Cell[]): Promise<number> {
  if (chosen.length === 0) return 0;
  const servers = await start();
  const warehouse: Warehouse = {
    ...servers.endpoints,
    catalogTable: 'iceberg',
    namespace: 'interop',
    warehouse: 's3://warehouse/tables',
  };
  await createBucket(warehouse, 'warehouse');
  await createBucket(warehouse, STATE_BUCKET);
  await initLedger(warehouse.catalogTable, warehouse);
  const tools = new Tools(warehouse);
  try {
    return await runAll(tools, chosen, warehouse);
  } finally {
    await tools.close();
    await servers.close();
  }
}

/** Holds the S3 adapter against moto; returns 1 if it failed. */
async function checkStore(): Promise<number> {
  const { code, stdout } = await runChild(process.execPath, [
    '--test',
    `${interopFolder}store-on-moto.ts`,
  ]);
  say(code === 0 ? 'ok S3 adapter on moto' : `not ok S3 adapter on moto\n${stdout.slice(-4000)}`);
  return code === 0 ? 0 : 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      endpoint: { type: 'string', default: 'both' },
    },
  });
  const { endpoint } = values;
  assert.ok(['both', 'moto', 'local'].includes(endpoint), `--endpoint: no such ${endpoint}`);
  const chosen = cells().filter((cell) => cell.name.includes(values.only));
  if (values.list) {
    list(chosen);
    return;
  }
  // The default would leave the servers and tools behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await installTools();
  const onLocal = endpoint === 'moto' ? [] : chosen;
  const onMoto =
    endpoint === 'local' ? [] : chosen.filter((cell) => endpoint === 'moto' || runsOnMoto(cell));
  const checksStore = endpoint === 'both' && values.only === '';
  let failed = await runOn(startLocal, onLocal);
  if (onMoto.length > 0) say('on moto:');
  failed += await runOn(startMoto, onMoto);
  if (checksStore) failed += await checkStore();
  const count = onLocal.length + onMoto.length + (checksStore ? 1 : 0);
  say(`${count - failed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 && count > 0 ? 0 : 1;
}

/** The cells that a run on both endpoints repeats on moto: one for each format version. */
function runsOnMoto(cell: Cell): boolean {
  return cell.name.endsWith('_unpartitioned_plain_primitives');
}

await main();
