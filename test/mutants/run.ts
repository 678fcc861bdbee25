/**
 * Does the simulation notice when a rule is missing? Each patch of this folder switches one off; it is applied to a
 * scratch clone of the last commit, and seeds run until one fails.
 *
 *     npm run test:mutants                         every patch
 *     npm run test:mutants -- --only fence         one of them
 *     npm run test:mutants -- --seeds 2000         more seeds than the patches ask for
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { git, type Mutant, patchesOf, readMutants } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Seeds that the unchanged clone has to pass, so that what fails afterwards is the patch's doing. */
const CONTROL_SEED_COUNT = 25;

/** Two cores are what everything here is made for. */
const PROCESS_COUNT = 2;

/** A claim and the first of what contradicts it. */
const MESSAGE_CHARACTERS_MAX = 200;

/** Seeds of one process. */
const SLICE_SEEDS = 50;

const FAILED = /^FAILED seed (\d+): (.*)/;
const ENDED = /^\d+ passed, \d+ failed$/;

const { values } = parseArgs({ options: { only: { type: 'string' }, seeds: { type: 'string' } } });
const mutants = readMutants();
const chosen = mutants.filter(({ name }) => values.only === undefined || values.only === name);
const scratch = await mkdtemp(join(tmpdir(), 'firn-mutants-'));
try {
  process.exitCode = (await runAll(join(scratch, 'clone'))) ? 0 : 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function runAll(clone: string): Promise<boolean> {
  await git(['clone', '--quiet', '--shared', ROOT, clone], ROOT);
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  print(`clone of ${await git(['log', '-1', '--format=%h %s'], clone)}`);
  const isDirty = (await git(['status', '--porcelain', '--untracked-files=no'], ROOT)) !== '';
  if (isDirty) print('what is not committed is left out');
  const control = await firstFailure(clone, CONTROL_SEED_COUNT);
  if (control !== undefined) {
    print(`FAILED: without any patch, seed ${control.seed} fails: ${control.message}`);
    return false;
  }
  print(`without any patch, ${CONTROL_SEED_COUNT} seeds pass\n`);
  let caughtCount = 0;
  for (const mutant of chosen) if (await isCaught(mutant, clone)) caughtCount++;
  print(`\n${caughtCount} of ${chosen.length} caught`);
  return chosen.length > 0 && caughtCount === chosen.length;
}

async function isCaught(mutant: Mutant, clone: string): Promise<boolean> {
  const { name, switchesOff, onTopOf, seedCountMax } = mutant;
  await git(['apply', ...patchesOf(mutant, mutants)], clone);
  const seedCount = values.seeds === undefined ? seedCountMax : Number(values.seeds);
  const failure = await firstFailure(clone, seedCount);
  await git(['checkout', '--quiet', '.'], clone);
  print(`${name}${onTopOf.length === 0 ? '' : ` on top of ${onTopOf.join(', ')}`}: ${switchesOff}`);
  print(
    failure === undefined
      ? `  SURVIVED ${seedCount} seeds`
      : `  caught by seed ${failure.seed}: ${failure.message}`,
  );
  return failure !== undefined;
}

interface Failure {
  readonly seed: number;
  readonly message: string;
}

/** Runs seeds from 1 on, some at a time, until one fails: the others would tell nothing more. */
async function firstFailure(clone: string, seedCount: number): Promise<Failure | undefined> {
  const running = new Set<ChildProcess>();
  let failure: Failure | undefined;
  let next = 1;
  const runSlices = async (): Promise<void> => {
    while (next <= seedCount && failure === undefined) {
      const from = next;
      next += SLICE_SEEDS;
      const found = await runSlice(
        clone,
        { from, count: Math.min(SLICE_SEEDS, seedCount - from + 1) },
        running,
      );
      if (found === undefined) continue;
      failure ??= found;
      for (const child of running) child.kill();
    }
  };
  await Promise.all(Array.from({ length: PROCESS_COUNT }, runSlices));
  return failure;
}

async function runSlice(
  clone: string,
  { from, count }: { readonly from: number; readonly count: number },
  running: Set<ChildProcess>,
): Promise<Failure | undefined> {
  const args = ['--scenario', 'commits', '--from', String(from), '--seeds', String(count)];
  const child = spawn(process.execPath, ['test/simulation/run.ts', ...args], {
    cwd: clone,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let failure: Failure | undefined;
  let seedsSeen = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, seed, message = ''] = FAILED.exec(line) ?? [];
    seedsSeen ||= ENDED.test(line);
    if (seed === undefined) continue;
    failure = { seed: Number(seed), message: message.slice(0, MESSAGE_CHARACTERS_MAX) };
    break;
  }
  child.kill();
  await ended;
  running.delete(child);
  const isEnded = seedsSeen || failure !== undefined || child.signalCode !== null;
  if (!isEnded) throw new TypeError(`seeds ${from} to ${from + count - 1}: ended without a result`);
  return failure;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
