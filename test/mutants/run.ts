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

/** A seed or a case, and what it failed with. */
const FAILED = /^FAILED ([^:]+): (.*)/;
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
  for (const noticedBy of controls()) {
    const control = await firstFailure(clone, noticedBy);
    if (control !== undefined) {
      print(`FAILED: without any patch, ${control.where} fails: ${control.message}`);
      return false;
    }
    print(`without any patch, ${describe(noticedBy)} pass`);
  }
  print('');
  let caughtCount = 0;
  for (const mutant of chosen) if (await isCaught(mutant, clone)) caughtCount++;
  print(`\n${caughtCount} of ${chosen.length} caught`);
  return chosen.length > 0 && caughtCount === chosen.length;
}

/** One of each kind, with few seeds. */
function controls(): readonly Mutant['noticedBy'][] {
  const all = chosen.map(({ noticedBy }) =>
    'cases' in noticedBy ? noticedBy : { ...noticedBy, seedCountMax: CONTROL_SEED_COUNT },
  );
  return [...new Map(all.map((noticedBy) => [describe(noticedBy), noticedBy])).values()];
}

function describe(noticedBy: Mutant['noticedBy']): string {
  if ('cases' in noticedBy) return `all cases of ${noticedBy.cases}`;
  return `${noticedBy.seedCountMax} seeds of ${noticedBy.scenario}`;
}

async function isCaught(mutant: Mutant, clone: string): Promise<boolean> {
  const { name, switchesOff, onTopOf } = mutant;
  await git(['apply', ...patchesOf(mutant, mutants)], clone);
  const noticedBy = withChosenSeeds(mutant.noticedBy);
  const failure = await firstFailure(clone, noticedBy);
  await git(['checkout', '--quiet', '.'], clone);
  print(`${name}${onTopOf.length === 0 ? '' : ` on top of ${onTopOf.join(', ')}`}: ${switchesOff}`);
  print(
    failure === undefined
      ? `  SURVIVED ${describe(noticedBy)}`
      : `  caught by ${failure.where}: ${failure.message}`,
  );
  return failure !== undefined;
}

function withChosenSeeds(noticedBy: Mutant['noticedBy']): Mutant['noticedBy'] {
  if ('cases' in noticedBy || values.seeds === undefined) return noticedBy;
  return { ...noticedBy, seedCountMax: Number(values.seeds) };
}

interface Failure {
  /** The seed, or the case. */
  readonly where: string;
  readonly message: string;
}

/** Runs seeds from 1 on, some at a time, until one fails: the others would tell nothing more. */
async function firstFailure(
  clone: string,
  noticedBy: Mutant['noticedBy'],
): Promise<Failure | undefined> {
  const running = new Set<ChildProcess>();
  if ('cases' in noticedBy) return runSimulation([`--${noticedBy.cases}`], clone, running);
  const { scenario, seedCountMax } = noticedBy;
  let failure: Failure | undefined;
  let next = 1;
  const runSlices = async (): Promise<void> => {
    while (next <= seedCountMax && failure === undefined) {
      const from = next;
      next += SLICE_SEEDS;
      const count = Math.min(SLICE_SEEDS, seedCountMax - from + 1);
      const args = ['--scenario', scenario, '--from', String(from), '--seeds', String(count)];
      const found = await runSimulation(args, clone, running);
      if (found === undefined) continue;
      failure ??= found;
      for (const child of running) child.kill();
    }
  };
  await Promise.all(Array.from({ length: PROCESS_COUNT }, runSlices));
  return failure;
}

/** One process, until something fails in it. */
async function runSimulation(
  args: readonly string[],
  clone: string,
  running: Set<ChildProcess>,
): Promise<Failure | undefined> {
  const child = spawn(process.execPath, ['test/simulation/run.ts', ...args], {
    cwd: clone,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let failure: Failure | undefined;
  let isEnded = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, where, message = ''] = FAILED.exec(line) ?? [];
    isEnded ||= ENDED.test(line);
    if (where === undefined) continue;
    failure = { where, message: message.slice(0, MESSAGE_CHARACTERS_MAX) };
    break;
  }
  child.kill();
  await ended;
  running.delete(child);
  if (!isEnded && failure === undefined && child.signalCode === null) {
    throw new TypeError(`simulation ${args.join(' ')}: ended without a result`);
  }
  return failure;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
