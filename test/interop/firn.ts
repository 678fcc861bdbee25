// Firn as the run uses it: the command line, in a process of its own, as a person would run it.

import assert from 'node:assert/strict';
import { type Finished, runChild } from './child.ts';
import { rootFolder } from './config.ts';
import type { Warehouse } from './tools.ts';

/** Exit codes of the firn command that a compaction may end with. */
export const FIRN_DONE = 0;
export const FIRN_NOTHING_TO_DO = 3;

/** The rules that spare other writers, turned off: for tables that are seconds old and that nobody else writes. */
export const LOWERED_GUARDS: readonly string[] = [
  ...['--min-file-age-ms', '0'],
  ...['--commit-interval-ms', '0'],
  ...['--wap-wait-ms', '0'],
];

/** For what the ledger keeps in objects. */
export const STATE_BUCKET = 'firn-state';
export const STATE_LOCATION = `s3://${STATE_BUCKET}/ledger/`;

/** What `firn compact --json` answers, as far as the run looks at it. */
export type Outcome = Readonly<{
  outcome: string;
  commits?: readonly Readonly<{ snapshotId: string; attemptCount: number }>[];
  groups?: readonly Readonly<{ state: string }>[];
  verdicts?: readonly Readonly<{
    guard: string;
    state: string;
    detail: string;
    figures: Readonly<Record<string, unknown>>;
  }>[];
  plan?: Readonly<{
    groups: readonly Readonly<{ partition: string; files: readonly unknown[] }>[];
    skippedFiles: Readonly<Record<string, Readonly<{ fileCount: number }>>>;
  }>;
}>;

/** What the firn command takes as `--catalog`. */
export function catalogUrl({ region, catalogTable, dynamoDbEndpoint }: Warehouse): string {
  return `dynamodb://${region}/${catalogTable}?endpoint=${dynamoDbEndpoint}`;
}

/** Makes the ledger, once, as a person would. */
export async function initLedger(warehouse: Warehouse): Promise<void> {
  const { code, stderr } = await runFirn(['init'], warehouse);
  assert.equal(code, FIRN_DONE, `firn init: ${stderr}`);
}

/** Runs `firn compact` on one table, `namespace.name`, with JSON output. */
export function compactTable(
  identifier: string,
  warehouse: Warehouse,
  options: readonly string[] = LOWERED_GUARDS,
): Promise<Finished> {
  return runFirn(['compact', identifier, '--json', ...options], warehouse);
}

/** Compacts, and demands a certain outcome: 'committed', 'held-back', 'nothing-planned'. */
export async function compactInto(
  wanted: readonly string[],
  identifier: string,
  warehouse: Warehouse,
  options: readonly string[],
): Promise<Outcome> {
  const { code, stdout, stderr } = await compactTable(identifier, warehouse, options);
  const said = `firn ended with ${code}\n${stdout}${stderr}`;
  assert.ok(code === FIRN_DONE || code === FIRN_NOTHING_TO_DO, said);
  const outcome = JSON.parse(stdout) as Outcome;
  assert.ok(wanted.includes(outcome.outcome), `expected ${wanted.join(' or ')}; ${said}`);
  return outcome;
}

/** Runs the firn command, which takes its catalog and endpoints from the warehouse. */
export function runFirn(args: readonly string[], warehouse: Warehouse): Promise<Finished> {
  const env = {
    AWS_ENDPOINT_URL_S3: warehouse.s3Endpoint,
    FIRN_STATE_LOCATION: STATE_LOCATION,
  };
  const catalog = ['--catalog', catalogUrl(warehouse)];
  return runChild(process.execPath, ['cli/main.ts', ...args, ...catalog], { cwd: rootFolder, env });
}
