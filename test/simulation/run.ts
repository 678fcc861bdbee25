/**
 * Runs Firn among other writers, faults and crashes, one seed after the other, and holds every state of the table
 * against a slow reader: see `scheduler.ts` for how, `checker.ts` for what must hold, `faults.ts` for what goes wrong.
 *
 *     npm run test:simulation -- [--scenario commits|observe] [--seeds N] [--from SEED]
 *     npm run test:simulation -- --seed SEED          one seed, with its whole log; smaller when it fails
 *     npm run test:simulation -- --crash-everywhere   a crash at each point of a compaction, and a run after it
 *     npm run test:simulation -- --fault-everywhere   each fault at each call of a compaction, and a run after it
 */
import { parseArgs } from 'node:util';
import { crashEverywhere } from './crash-everywhere.ts';
import { faultEverywhere } from './fault-everywhere.ts';
import type { Case } from './quiet-script.ts';
import { printFailure, printSmallest, Totals } from './report.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

const SEEDS_DEFAULT = '200';
const PROGRESS_EVERY = 50;

/** In fewer seeds, what is rare may not happen. */
const EXPECTED_SEEDS_MIN = 200;

/** Failures that are shown in full; the others are most often the same ones. */
const FAILURES_SHOWN_MAX = 3;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'commits' },
    seeds: { type: 'string', default: SEEDS_DEFAULT },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    'crash-everywhere': { type: 'boolean', default: false },
    'fault-everywhere': { type: 'boolean', default: false },
  },
});

const scenario = SCENARIOS[values.scenario];
if (scenario === undefined) {
  refuse(`--scenario: there is no '${values.scenario}', only ${Object.keys(SCENARIOS).join(', ')}`);
}
const counts = await runChosen(scenario);
print(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

function runChosen(scenario: Scenario): Promise<Counts> {
  if (values['crash-everywhere']) return runCases(crashEverywhere());
  if (values['fault-everywhere']) return runCases(faultEverywhere());
  return runSeeds(scenario);
}

async function runSeeds(scenario: Scenario): Promise<Counts> {
  const totals = new Totals();
  const failedSeeds: number[] = [];
  const seeds = chosenSeeds();
  for (const [index, seed] of seeds.entries()) {
    const outcome = await simulate(scenario.scriptOf(seed), { scenario });
    totals.add(outcome);
    if (values.seed !== undefined) for (const line of outcome.log) print(line);
    if (outcome.failure !== undefined) {
      failedSeeds.push(seed);
      if (failedSeeds.length <= FAILURES_SHOWN_MAX)
        printFailure({ scenario: values.scenario, seed }, outcome, print);
    }
    if ((index + 1) % PROGRESS_EVERY === 0)
      print(`${index + 1} seeds, ${failedSeeds.length} failed`);
  }
  const [first] = failedSeeds;
  if (first !== undefined) await printShrunk(scenario, first);
  totals.print(print);
  const isEnough = seeds.length >= EXPECTED_SEEDS_MIN;
  const missing = isEnough ? totals.missing(scenario.expected) : [];
  for (const what of missing) print(`FAILED: never happened: ${what}`);
  const failed = failedSeeds.length + missing.length;
  return { passed: seeds.length - failedSeeds.length, failed };
}

async function printShrunk(scenario: Scenario, seed: number): Promise<void> {
  const script = scenario.scriptOf(seed);
  const outcome = await simulate(script, { scenario });
  printSmallest(await shrink({ script, turns: outcome.turns, outcome }, { scenario }), print);
}

async function runCases(cases: AsyncIterable<Case>): Promise<Counts> {
  let [passed, failed, landed] = [0, 0, 0];
  for await (const { label, outcome } of cases) {
    if (outcome.failure === undefined) passed++;
    else {
      failed++;
      print(`\nFAILED ${label}: ${outcome.failure.message}`);
      if (failed <= FAILURES_SHOWN_MAX) for (const line of outcome.log) print(`  ${line}`);
    }
    landed += outcome.counts.get('commits by firn') ?? 0;
    if ((passed + failed) % PROGRESS_EVERY === 0)
      print(`${passed + failed} cases, ${failed} failed`);
  }
  print(`${landed} commits by firn`);
  return { passed, failed };
}

function chosenSeeds(): readonly number[] {
  if (values.seed !== undefined) return [wholeNumber('seed', values.seed)];
  const from = wholeNumber('from', values.from);
  return Array.from({ length: wholeNumber('seeds', values.seeds) }, (_, index) => from + index);
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  refuse(`--${name}: '${text}' is not a whole number`);
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
