import { availableParallelism } from 'node:os';
import { mapConcurrent, systemClock } from '../shared/base/index.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import { type ContendedRun, type Contention, compactContended } from './support/contended-table.ts';
import { cpuSeconds } from './support/resources.ts';

const LATENCIES = { getMs: 20, putMs: 40, itemMs: 5 } as const;

/** So many that the 99th percentile is one of them. */
const COMPACTION_COUNT = 120;

/** Tables at a time, each with its writers; more would make them wait for the processor instead of the store. */
const CONCURRENT_TABLES = 6;

const ATTEMPTS_P99_MAX = 10;

/** Much less than a Lambda's 15 minutes. */
const DEADLINE_MS = 60_000;

interface Scenario extends Contention {
  readonly name: string;
  readonly text: string;
  readonly attemptsP99Max?: number;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'oneBackToBack',
    text: 'one writer back to back',
    writerCount: 1,
    paceMs: 0,
    deadlineMs: DEADLINE_MS,
    attemptsP99Max: ATTEMPTS_P99_MAX,
  },
  {
    name: 'fourEachSecond',
    text: 'four writers, a commit a second each',
    writerCount: 4,
    paceMs: 1000,
    deadlineMs: DEADLINE_MS,
    attemptsP99Max: ATTEMPTS_P99_MAX,
  },
  {
    name: 'fourBackToBack',
    text: 'four writers back to back',
    writerCount: 4,
    paceMs: 0,
    deadlineMs: DEADLINE_MS,
  },
];

/** How many attempts, requests and seconds does a compaction take while others commit to its table? */
export async function run(): Promise<boolean> {
  printParameters('commit', {
    store: `in memory: ${LATENCIES.getMs} ms a GET, ${LATENCIES.putMs} ms a PUT, ${LATENCIES.itemMs} ms a pointer or ledger request`,
    writers:
      'append as Iceberg Java does: GET metadata and list; PUT manifest, list and metadata; conditional write; 4 retries',
    compactor: 'rewrite-data-files: 6 files into one, with its ledger, properties as by default',
    compactions: `${COMPACTION_COUNT} for each scenario, each of a new table, ${CONCURRENT_TABLES} tables at a time`,
    deadline: `${DEADLINE_MS / 1000} s, where a Lambda has 900 s`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  const figures: Figure[] = [];
  for (const scenario of SCENARIOS) {
    print(`compacting beside ${scenario.text}`);
    figures.push(...(await runScenario(scenario)));
  }
  return printReport('commit: compactions against other writers', figures);
}

async function runScenario(scenario: Scenario): Promise<readonly Figure[]> {
  const cpuSecondsBefore = cpuSeconds();
  const startMs = performance.now();
  const runs = await mapConcurrent(
    Array.from({ length: COMPACTION_COUNT }, (_, index) => index),
    { concurrencyMax: CONCURRENT_TABLES },
    (seed) =>
      compactContended(scenario, { clock: systemClock, latencies: LATENCIES, seed: seed + 1 }),
  );
  const wallSeconds = (performance.now() - startMs) / 1000;
  const figures = [
    ...demandedFigures(scenario, runs),
    ...spread('Attempts', 'attempts', runs, (each) => each.attemptCount),
    ...spread('Seconds', 's', runs, (each) => each.seconds),
    ...meansOf(runs),
    ...totalsOf(runs),
    { name: 'WallSeconds', value: wallSeconds, unit: 's' },
    {
      name: 'BusyShare',
      value: (cpuSeconds() - cpuSecondsBefore) / wallSeconds,
      unit: 'of a core',
    },
  ];
  return figures.map((figure) => ({ ...figure, name: `${scenario.name}${figure.name}` }));
}

function demandedFigures(
  { attemptsP99Max }: Scenario,
  runs: readonly ContendedRun[],
): readonly Figure[] {
  const attemptsP99 = percentile(runs, 0.99, (each) => each.attemptCount);
  return [
    {
      name: 'Landed',
      value: runs.filter(({ isLanded }) => isLanded).length,
      unit: 'compactions',
      valueExpected: runs.length,
    },
    {
      name: 'AttemptsP99',
      value: attemptsP99,
      unit: 'attempts',
      ...(attemptsP99Max === undefined ? {} : { valueMax: attemptsP99Max }),
    },
    {
      name: 'FilesWrong',
      value: total(runs, (each) => each.filesWrong),
      unit: 'files',
      valueExpected: 0,
    },
  ];
}

type Measure = (run: ContendedRun) => number;

function spread(
  name: string,
  unit: string,
  runs: readonly ContendedRun[],
  measure: Measure,
): readonly Figure[] {
  const shares = [
    ['P50', 0.5],
    ['P99', 0.99],
    ['Max', 1],
  ] as const;
  return shares.flatMap(([suffix, share]) =>
    `${name}${suffix}` === 'AttemptsP99'
      ? []
      : [{ name: `${name}${suffix}`, value: percentile(runs, share, measure), unit }],
  );
}

/** The smallest value that this share of the runs does not exceed. */
function percentile(runs: readonly ContendedRun[], share: number, measure: Measure): number {
  const values = runs.map(measure).sort((one, other) => one - other);
  return values[Math.ceil(share * values.length) - 1] ?? 0;
}

/** Requests of one compaction, on average. */
function meansOf(runs: readonly ContendedRun[]): readonly Figure[] {
  const mean = (measure: Measure): number => total(runs, measure) / runs.length;
  return [
    { name: 'GetMean', value: mean((each) => each.getCount), unit: 'requests' },
    { name: 'PutMean', value: mean((each) => each.putCount), unit: 'requests' },
    { name: 'PointerReadMean', value: mean((each) => each.pointerReadCount), unit: 'requests' },
    {
      name: 'ConditionalWriteMean',
      value: mean((each) => each.pointerWriteCount),
      unit: 'requests',
    },
    { name: 'LedgerMean', value: mean((each) => each.ledgerRequestCount), unit: 'requests' },
  ];
}

function totalsOf(runs: readonly ContendedRun[]): readonly Figure[] {
  return [
    {
      name: 'ForeignLanded',
      value: total(runs, (each) => each.foreignLandedCount),
      unit: 'commits',
    },
    {
      name: 'ForeignOvertaken',
      value: total(runs, (each) => each.foreignOvertakenCount),
      unit: 'attempts',
    },
    { name: 'ForeignLost', value: total(runs, (each) => each.foreignLostCount), unit: 'commits' },
  ];
}

function total(runs: readonly ContendedRun[], measure: Measure): number {
  return runs.reduce((sum, each) => sum + measure(each), 0);
}
