// The interop run: `npm run test:interop [-- --list] [-- --only SUBSTRING] [-- --endpoint both|moto|local]
// [-- --merge-seconds SECONDS]`.

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { type Cell, cells, unsupported } from './cells.ts';
import { runChild } from './child.ts';
import { interopFolder } from './config.ts';
import { initLedger, STATE_BUCKET } from './firn.ts';
import { installTools } from './install.ts';
import { runCell } from './run-cell.ts';
import { type Scenario, type ScenarioOptions, scenarios } from './scenarios.ts';
import { CATALOG_TABLE, createBucket, type Servers, startLocal, startMoto } from './servers.ts';
import { type Suite, suites } from './suites.ts';
import { Tools, type Warehouse } from './tools.ts';

/** Checks in flight; the tools are one process each, so more would only queue. */
const CHECKS_AT_ONCE = 3;

/** How long a MERGE of the scenarios takes, in seconds; two minutes are what a job of a pipeline may take. */
const MERGE_SECONDS_DEFAULT = '3';

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What `--only` leaves. */
type Chosen = Readonly<{
  cells: readonly Cell[];
  scenarios: readonly Scenario[];
  suites: readonly Suite[];
}>;

function list({ cells, scenarios, suites }: Chosen): void {
  for (const { name, what } of [...scenarios, ...suites]) say(`${name}: ${what}`);
  for (const cell of cells) {
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
  const bySpark = cells.filter((cell) => cell.writer === 'spark').length;
  say(
    `${scenarios.length} scenarios; ${suites.length} suites on moto; ${cells.length} cells, ${bySpark} of them by Spark`,
  );
}

/** Something that passes or fails on one warehouse; returns figures for people. */
type Check = Readonly<{
  name: string;
  run: (tools: Tools, warehouse: Warehouse) => Promise<readonly string[]>;
}>;

function toChecks(
  { cells, scenarios }: Omit<Chosen, 'suites'>,
  options: ScenarioOptions,
): readonly Check[] {
  // Scenarios come first: they wait more than they work, and cells go on beside them.
  return [
    ...scenarios.map(({ name, run }) => ({
      name,
      run: (tools: Tools, warehouse: Warehouse) => run(tools, warehouse, options),
    })),
    ...cells.map((cell) => ({
      name: cell.name,
      run: async (tools: Tools, warehouse: Warehouse) => {
        await runCell(tools, cell, warehouse);
        return [];
      },
    })),
  ];
}

/** Runs checks, a few at a time, and returns how many failed. */
async function runAll(
  tools: Tools,
  checks: readonly Check[],
  warehouse: Warehouse,
): Promise<number> {
  const waiting = checks.values();
  let failed = 0;
  const work = async (): Promise<void> => {
    for (const check of waiting) {
      const startedMs = performance.now();
      const ending = await check.run(tools, warehouse).then(
        (figures) => ({ verdict: 'ok', lines: figures.map((line) => `  ${line}`) }),
        (error: unknown) => ({
          verdict: 'not ok',
          lines: [error instanceof Error ? error.message : String(error)],
        }),
      );
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      say([`${ending.verdict} ${check.name} (${seconds} s)`, ...ending.lines].join('\n'));
      failed += ending.verdict === 'ok' ? 0 : 1;
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, work));
  return failed;
}

/** Starts servers and tools, runs the checks against them, and returns how many failed. */
async function runOn(start: () => Promise<Servers>, checks: readonly Check[]): Promise<number> {
  if (checks.length === 0) return 0;
  const servers = await start();
  const warehouse: Warehouse = {
    ...servers.endpoints,
    ...(servers.onCatalogChange && { onCatalogChange: servers.onCatalogChange }),
    catalogTable: CATALOG_TABLE,
    namespace: 'interop',
    warehouse: 's3://warehouse/tables',
  };
  await createBucket(warehouse, 'warehouse');
  await createBucket(warehouse, STATE_BUCKET);
  await initLedger(warehouse);
  const tools = new Tools(warehouse);
  try {
    return await runAll(tools, checks, warehouse);
  } finally {
    await tools.close();
    await servers.close();
  }
}

/** Runs a suite, which starts its own servers; returns 1 if it failed. */
async function runSuite({ name, file }: Suite): Promise<number> {
  const startedMs = performance.now();
  const { code, stdout } = await runChild(process.execPath, ['--test', `${interopFolder}${file}`]);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const [, passed = '?'] = /^(?:\S+ )?pass (\d+)$/m.exec(stdout) ?? [];
  say(
    code === 0
      ? `ok ${name} (${seconds} s)\n  ${passed} tests`
      : `not ok ${name}\n${stdout.slice(-4000)}`,
  );
  return code === 0 ? 0 : 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      endpoint: { type: 'string', default: 'both' },
      'merge-seconds': { type: 'string', default: MERGE_SECONDS_DEFAULT },
    },
  });
  const { endpoint } = values;
  assert.ok(['both', 'moto', 'local'].includes(endpoint), `--endpoint: no such ${endpoint}`);
  const mergeSeconds = values['merge-seconds'];
  assert.match(
    mergeSeconds,
    /^\d{1,4}$/,
    `--merge-seconds: ${mergeSeconds} is no number of seconds`,
  );
  const isChosen = ({ name }: { readonly name: string }) => name.includes(values.only);
  const chosen = {
    cells: cells().filter(isChosen),
    scenarios: scenarios.filter(isChosen),
    suites: endpoint === 'local' ? [] : suites.filter(isChosen),
  };
  if (values.list) {
    list(chosen);
    return;
  }
  // The default would leave the servers and tools behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await installTools();
  const options = { mergeMs: Number(mergeSeconds) * 1000 };
  const repeated = {
    cells: chosen.cells.filter(runsOnMoto),
    scenarios: chosen.scenarios.filter(({ isOfFormats }) => isOfFormats !== true),
  };
  const onLocal = endpoint === 'moto' ? [] : toChecks(chosen, options);
  const onMoto =
    endpoint === 'local' ? [] : toChecks(endpoint === 'moto' ? chosen : repeated, options);
  let failed = await runOn(startLocal, onLocal);
  if (onMoto.length > 0) say('on moto:');
  failed += await runOn(startMoto, onMoto);
  for (const suite of chosen.suites) failed += await runSuite(suite);
  const count = onLocal.length + onMoto.length + chosen.suites.length;
  say(`${count - failed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 && count > 0 ? 0 : 1;
}

/** The cells that a run on both endpoints repeats on moto: one for each format version. */
function runsOnMoto(cell: Cell): boolean {
  return cell.name.endsWith('_unpartitioned_plain_primitives');
}

await main();
