import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, parseJson } from '../../shared/base/index.ts';

const ROOT = join(import.meta.dirname, '../..');

/** All that the command may know of its surroundings. */
const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** Compaction of tables that are seconds old and that nobody else writes to. */
export const COMPACT: readonly string[] = [
  'compact',
  ...['--min-file-age-ms', '0'],
  ...['--commit-interval-ms', '0'],
  ...['--wap-wait-ms', '0'],
];

export interface FirnResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command as a person does, in a process of its own, without a terminal. */
export async function firn(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<FirnResult> {
  const child = spawn(process.execPath, [join(ROOT, 'cli/main.ts'), ...args], {
    env: { ...ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  return { exitCode, stdout, stderr };
}

/** The one document that a command printed with `--json`. */
export function documentOf(printed: string): JsonObject {
  const document = parseJson(printed, 'standard output');
  if (!isJsonObject(document)) throw new TypeError('standard output is no JSON object');
  return document;
}
