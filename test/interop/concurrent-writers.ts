// Java appends and MERGEs beside Firn: no job fails or needs more than one extra retry, and Firn gets its commits in.

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_GUARD_SETTINGS, guardSettingsText } from '../../shared/guards/index.ts';
import { compactInto, type Outcome } from './firn.ts';
import { assertRowsAsWritten, createHourlyTable, type Job, stopJobs } from './hourly-table.ts';
import type { ScenarioOptions } from './scenarios.ts';
import type { Tools, Warehouse } from './tools.ts';

/** One commit of Firn for each. */
const COLD_HOURS = 6;
const FILES_PER_HOUR = 5;

/** MERGEs that must have gone through, and commits of Firn within them. */
const MERGES_MIN = 2;

/** Runs of Firn at most, for each cold hour: those that the commit interval holds back count as well. */
const RUNS_PER_HOUR_MAX = 10;

/** Between two appends, in milliseconds, at least. */
const APPEND_PAUSE_MS_MIN = 400;

/** A MERGE reads what was committed meanwhile at each attempt: with some 30 appends it is still fast enough to land. */
function appendPauseMs({ mergeMs }: ScenarioOptions): number {
  return Math.max(APPEND_PAUSE_MS_MIN, Math.round(mergeMs / 30));
}

/** Firn's commits are at least this far apart, in milliseconds: on a busy machine, longer than two attempts of Java. */
const COMMIT_INTERVAL_MS_MIN = 2_000;

/** One or more come within each MERGE. */
function commitIntervalMs({ mergeMs }: ScenarioOptions): number {
  return Math.max(COMMIT_INTERVAL_MS_MIN, Math.round(mergeMs / 3));
}

/** Compacts until each cold hour has had its commit; returns what the committing runs said. */
async function compactColdHours(
  identifier: string,
  warehouse: Warehouse,
  options: ScenarioOptions,
): Promise<readonly Outcome[]> {
  const intervalMs = commitIntervalMs(options);
  const committed: Outcome[] = [];
  for (let run = 0; committed.length < COLD_HOURS; run += 1) {
    assert.ok(run < COLD_HOURS * RUNS_PER_HOUR_MAX, `firn: ${committed.length} commits`);
    const wanted = ['committed', 'held-back'];
    const deployment = deploymentOptions(intervalMs);
    const outcome = await compactInto(wanted, identifier, warehouse, deployment);
    if (outcome.outcome === 'committed') committed.push(outcome);
    else assert.deepEqual(heldBackBy(outcome), ['commit-interval']);
    await delay(intervalMs);
  }
  return committed;
}

function deploymentOptions(intervalMs: number): string[] {
  const filesMax = `max-files-to-rewrite=${FILES_PER_HOUR}`;
  return ['--commit-interval-ms', String(intervalMs), '--option', filesMax];
}

function heldBackBy({ verdicts = [] }: Outcome): readonly string[] {
  return verdicts.filter(({ state }) => state === 'held-back').map(({ guard }) => guard);
}

/** Each commit took one cold hour, and left the last hour alone since its files are young. */
function assertOnlyColdHours(outcomes: readonly Outcome[]): void {
  const partitions = outcomes.flatMap(({ plan }) => plan?.groups.map((group) => group.partition));
  const cold = Array.from({ length: COLD_HOURS }, (_, hour) => `ts_hour=2026-05-04-0${hour}`);
  assert.deepEqual(partitions.toSorted(), cold);
  for (const { plan } of outcomes) {
    const young = plan?.skippedFiles['too-young']?.fileCount ?? 0;
    assert.ok(young >= FILES_PER_HOUR, `firn left only ${young} files alone as too young`);
  }
}

/** Retries that Firn caused; another writer's commit in between would have cost one anyway. */
function extraRetries({ retries }: Job): number {
  return retries.filter((cause) => cause !== 'other').length;
}

function assertJobsUndisturbed(jobs: readonly Job[]): void {
  const failed = jobs.filter(({ failure }) => failure !== null);
  assert.deepEqual(failed, [], 'jobs of Java failed');
  const disturbed = jobs.filter((job) => extraRetries(job) > 1);
  assert.deepEqual(disturbed, [], 'jobs of Java needed more than one extra retry');
  assert.ok(
    jobs.some(({ kind }) => kind === 'append'),
    'java appended nothing',
  );
  const merges = jobs.filter(({ kind }) => kind === 'merge');
  assert.ok(merges.length >= MERGES_MIN, `${merges.length} MERGEs went through`);
  const within = merges.filter(({ firnCommits }) => firnCommits > 0);
  assert.ok(within.length >= MERGES_MIN, `firn committed within ${within.length} MERGEs`);
}

function jobFigures(jobs: readonly Job[], kind: Job['kind']): string {
  const ofKind = jobs.filter((job) => job.kind === kind);
  const retryCount = ofKind.flatMap((job) => job.retries).length;
  const extra = ofKind.map(extraRetries);
  const extraCount = sum(extra);
  const attemptsMax = Math.max(...ofKind.map(({ attempts }) => attempts));
  return [
    `${ofKind.length} ${kind}s by Java went through, in ${attemptsMax} attempts at most`,
    `retries: ${extraCount} after a commit of Firn, ${retryCount - extraCount} after the other job's alone`,
    `${Math.max(...extra)} extra in one job at most`,
    `${sum(ofKind.map(({ firnCommits }) => firnCommits))} commits of Firn within them`,
  ].join('; ');
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** What the rule on file ages is for: without it, the same MERGE fails. Returns how Java says so. */
async function failWithoutFileAge(
  tools: Tools,
  identifier: string,
  warehouse: Warehouse,
): Promise<string> {
  await tools.call('iceberg', 'pauseJob', { table: identifier, kind: 'merge', at: 'read' });
  const options = ['--min-file-age-ms', '0', '--commit-interval-ms', '0'];
  const outcome = await compactInto(['committed'], identifier, warehouse, options);
  const lastHour = `ts_hour=2026-05-04-0${COLD_HOURS}`;
  assert.ok(outcome.plan?.groups.some(({ partition }) => partition === lastHour));
  const job = await tools.call<Job>('iceberg', 'resumeJob', { table: identifier });
  assert.match(job.failure ?? 'none', /ValidationException: .*Missing required files to delete/);
  return `with --min-file-age-ms 0 instead, a MERGE under way fails as it must: ${job.failure?.slice(0, 120)}`;
}

export async function writeBesideFirn(
  tools: Tools,
  warehouse: Warehouse,
  options: ScenarioOptions,
): Promise<string[]> {
  const identifier = `${warehouse.namespace}.concurrent_writers`;
  await createHourlyTable(tools, identifier, COLD_HOURS);
  await tools.call('iceberg', 'startJobs', {
    table: identifier,
    mergeMs: options.mergeMs,
    appendPauseMs: appendPauseMs(options),
  });
  const compacting = compactColdHours(identifier, warehouse, options);
  await compacting.catch(() => undefined);
  const jobs = await stopJobs(tools, identifier);
  const outcomes = await compacting;
  assertOnlyColdHours(outcomes);
  assertJobsUndisturbed(jobs);
  const rowCount = await assertRowsAsWritten(tools, identifier);
  const control = await failWithoutFileAge(tools, identifier, warehouse);
  assert.equal(await assertRowsAsWritten(tools, identifier), rowCount);
  const attempts = outcomes.flatMap(({ commits = [] }) => commits.map((each) => each.attemptCount));
  const deployment = deploymentOptions(commitIntervalMs(options)).join(' ');
  return [
    `a MERGE takes ${options.mergeMs / 1000} s from its read to its commit`,
    `firn compact ${deployment}; all else as shipped: ${guardSettingsText(DEFAULT_GUARD_SETTINGS)}`,
    `${attempts.length} commits of Firn, in ${attempts.join(', ')} attempts`,
    jobFigures(jobs, 'append'),
    jobFigures(jobs, 'merge'),
    `${rowCount} rows as the writers' ledger has them, by Java, PyIceberg and DuckDB`,
    control,
  ];
}
