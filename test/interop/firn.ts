// Firn as the run uses it: the command line, in a process of its own, as a person would run it. The rules that
// spare other writers are lowered: the tables are seconds old, and nobody else writes.

import assert from 'node:assert/strict';
import { runChild } from './child.ts';
import { rootFolder } from './config.ts';
import type { Endpoints } from './servers.ts';

export type Compaction = Readonly<{ code: number | null; stdout: string; stderr: string }>;

/** Exit codes of the firn command that a compaction may end with. */
export const FIRN_DONE = 0;
export const FIRN_NOTHING_TO_DO = 3;

const LOWERED_GUARDS = [
  ...['--min-file-age-ms', '0'],
  ...['--commit-interval-ms', '0'],
  ...['--wap-wait-ms', '0'],
];

/** For what the ledger keeps in objects. */
export const STATE_BUCKET = 'firn-state';

/** Makes the ledger, once, as a person would. */
export async function initLedger(catalogTable: string, endpoints: Endpoints): Promise<void> {
  const { code, stderr } = await runFirn(['init'], { catalogTable, endpoints });
  assert.equal(code, FIRN_DONE, `firn init: ${stderr}`);
}

/** Runs `firn compact` on one table, `namespace.name`, with JSON output. */
export function compactTable(
  request: Readonly<{ identifier: string; catalogTable: string; endpoints: Endpoints }>,
): Promise<Compaction> {
  return runFirn(['compact', request.identifier, '--json', ...LOWERED_GUARDS], request);
}

function runFirn(
  args: readonly string[],
  { catalogTable, endpoints }: Readonly<{ catalogTable: string; endpoints: Endpoints }>,
): Promise<Compaction> {
  const catalog = `dynamodb://${endpoints.region}/${catalogTable}?endpoint=${endpoints.dynamoDbEndpoint}`;
  const env = {
    AWS_ENDPOINT_URL_S3: endpoints.s3Endpoint,
    FIRN_STATE_LOCATION: `s3://${STATE_BUCKET}/ledger/`,
  };
  return runChild(process.execPath, ['cli/main.ts', ...args, '--catalog', catalog], {
    cwd: rootFolder,
    env,
  });
}
