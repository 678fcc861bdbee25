import { availableParallelism } from 'node:os';
import { DEFAULT_GUARD_SETTINGS, guardSettingsText } from '../shared/guards/index.ts';
import {
  estimatePrice,
  formatDollars,
  PRICE_TABLE,
  type PriceEstimate,
} from '../shared/pricing/index.ts';
import type { FleetService } from './fleet.child.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import { startChild } from './support/child-process.ts';
import { FLEET_TIERS, fleetTables, HOT_TIERS } from './support/fleet-shape.ts';
import {
  FLEET_CONCURRENCY,
  FLEET_DOUBLED_FRACTION,
  FLEET_LATENCIES,
  FLEET_OVERDUE_MS_MAX,
  FLEET_SHARDS,
} from './support/fleet-world.ts';
import { percentile } from './support/percentile.ts';

type FleetRun = Awaited<ReturnType<FleetService['run']>>;

const MB = 1_000_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** From the queue to a worker: what is left of fairness when a thousand tables are found due at once. */
const QUEUED_MS_P99_MAX = 2 * MINUTE_MS;

/** Of all reads of metadata by routers. */
const SIMULTANEOUS_SHARE_MAX = 0.01;

/** One vCPU, which processor times measured here are those of. */
const LAMBDA_MEMORY_MIB = 1769;

/** Lambda asks a queue with five pollers, each for 20 seconds at a time. */
const POLLER_COUNT = 5;
const POLL_MS = 20 * SECOND_MS;

/** Does Firn keep a thousand tables healthy that are written to at very different rhythms, and what does that cost? */
export async function run(): Promise<boolean> {
  const tables = fleetTables();
  printParameters('fleet', {
    tables: `${tables.length}, of which ${tables.filter(({ isLarge }) => isLarge).length} with metadata files of 5 MB (6,000 snapshots); all allowed by firn.enabled`,
    commits: FLEET_TIERS.map(
      ({ name, tableCount, commitCount }) => `${tableCount} tables x ${commitCount} (${name})`,
    ).join(', '),
    hot: `those written to ${[...HOT_TIERS].join(' and ')}; the others are cold`,
    clock:
      'jumps from one event to the next: two hours of commits, then until nothing is due; an invocation takes the time of its requests and its processor time here, as on a processor of its own',
    requests: `in memory: ${FLEET_LATENCIES.getMs} ms a GET, ${FLEET_LATENCIES.putMs} ms a PUT, ${FLEET_LATENCIES.itemMs} ms an item of catalog or ledger`,
    functions: `the deployed handlers in the local Lambda host; ${FLEET_CONCURRENCY} rewrites at a time; stream of ${FLEET_SHARDS} shards; ${100 * FLEET_DOUBLED_FRACTION} % of messages delivered twice`,
    guards: `as shipped: ${guardSettingsText(DEFAULT_GUARD_SETTINGS)}`,
    sweeps: 'as shipped: due tables each 5 minutes, the catalog each hour',
    overdue: `${FLEET_OVERDUE_MS_MAX / MINUTE_MS} minutes are allowed: a sweep that may not read a table yet leaves it to the next`,
    prices: `${PRICE_TABLE.region}, ${PRICE_TABLE.asOf}; Lambda with ${LAMBDA_MEMORY_MIB} MiB; reads of the stream by Lambda are free; SQS polled by ${POLLER_COUNT} pollers`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  print('writing and maintaining the fleet');
  const child = startChild<FleetService>('fleet.child.ts');
  try {
    const run = await child.call('run', 1);
    for (const complaint of run.complaints) print(complaint);
    for (const [name, count] of Object.entries(run.logCounts)) print(`  ${count} ${name}`);
    const bill = priceOf(run);
    printBill(bill, run.commitCount);
    return printReport('fleet: 1,000 tables, 20,000 commits in two hours', [
      ...demandedFigures(run),
      ...routerFigures(run),
      ...waitFigures(run),
      ...costFigures(run, bill),
      ...machineFigures(run),
    ]);
  } finally {
    await child.stop();
  }
}

function demandedFigures(run: FleetRun): readonly Figure[] {
  const none = (name: string, value: number, unit: string): Figure => ({
    name,
    value,
    unit,
    valueExpected: 0,
  });
  return [
    { name: 'tables', value: run.tableCount, unit: 'tables', valueExpected: 1_000 },
    { name: 'commits', value: run.commitCount, unit: 'commits', valueExpected: 20_000 },
    none('dueAtEnd', run.dueTables.length, 'tables that something is due on'),
    none('markedAtEnd', run.markedCount, 'tables that the ledger has a time for'),
    none('unseenAtEnd', run.unseenCount, 'tables that nobody looked at'),
    none('queuedAtEnd', run.pendingTables.length + run.messageCount, 'runs that did not begin'),
    none('deadLetters', run.deadLetterCount, 'messages'),
    none('overdueTables', run.overdueTables.length, 'tables found overdue by their metadata'),
    {
      name: 'overdueSecondsMax',
      value: run.overdueMsMax / SECOND_MS,
      unit: 's, by the ledger, looked at each minute',
      valueMax: FLEET_OVERDUE_MS_MAX / SECOND_MS,
    },
    {
      name: 'runsOfOneTableMax',
      value: Math.max(run.leases.openOfOneMax, run.runs.openOfOneMax),
      unit: 'at once',
      valueExpected: 1,
    },
    none('runsLeftOpen', run.leases.openCount + run.runs.openCount, 'leases and runs'),
    none('failedInvocations', failedCount(run), 'invocations that threw, timed out or gave back'),
    none('hastyReads', run.hastyReadCount, 'metadata reads within the interval'),
    {
      name: 'simultaneousReadShare',
      value: run.simultaneousReadCount / sumOf(run, ROUTERS, 'metadataReadCount'),
      unit: 'of reads: two looks at once',
      valueMax: SIMULTANEOUS_SHARE_MAX,
    },
  ];
}

function failedCount({ invocations }: FleetRun): number {
  return invocations.filter(({ ended, failedCount }) => ended !== 'returned' || failedCount > 0)
    .length;
}

const ROUTERS = ['route-events', 'sweep-tables'] as const;
const FUNCTIONS = [...ROUTERS, 'rewrite-data-files'] as const;

type UsageCount = keyof FleetRun['usage'][string];

function sumOf(run: FleetRun, functions: readonly string[], count: UsageCount): number {
  return functions.reduce((sum, name) => sum + (run.usage[name]?.[count] ?? 0), 0);
}

function routerFigures(run: FleetRun): readonly Figure[] {
  const msOf = (name: string): readonly number[] =>
    run.invocations
      .filter(({ functionName }) => functionName === name)
      .map(({ durationMs }) => durationMs);
  const routed = msOf('route-events');
  const swept = msOf('sweep-tables');
  const perCommit = (count: UsageCount): number => sumOf(run, ROUTERS, count) / run.commitCount;
  return [
    { name: 'routerMsP50', value: percentile(routed, 0.5), unit: 'ms' },
    { name: 'routerMsP99', value: percentile(routed, 0.99), unit: 'ms' },
    { name: 'routerMsMax', value: percentile(routed, 1), unit: 'ms' },
    { name: 'sweepMsP50', value: percentile(swept, 0.5), unit: 'ms' },
    { name: 'sweepMsMax', value: percentile(swept, 1), unit: 'ms' },
    { name: 'routerInvocations', value: routed.length, unit: 'invocations' },
    { name: 'sweeps', value: swept.length, unit: 'invocations' },
    { name: 'catalogReadsPerCommit', value: perCommit('catalogReadCount'), unit: 'by routers' },
    { name: 'ledgerReadsPerCommit', value: perCommit('ledgerReadCount'), unit: 'by routers' },
    { name: 'ledgerWritesPerCommit', value: perCommit('ledgerWriteCount'), unit: 'by routers' },
    { name: 'metadataReadsPerCommit', value: perCommit('metadataReadCount'), unit: 'by routers' },
    {
      name: 'allMetadataReadsPerCommit',
      value: sumOf(run, FUNCTIONS, 'metadataReadCount') / run.commitCount,
      unit: 'runs included',
    },
  ];
}

function waitFigures({ waits, leases, runs, logCounts }: FleetRun): readonly Figure[] {
  const spread = (name: string, isHot: boolean): readonly Figure[] => {
    const some = waits.filter((wait) => wait.isHot === isHot);
    const seconds = (share: number, part: 'dueMs' | 'queuedMs'): number =>
      percentile(
        some.map((wait) => wait[part]),
        share,
      ) / SECOND_MS;
    return [
      { name: `${name}Runs`, value: some.length, unit: 'runs' },
      { name: `${name}DueSecondsP50`, value: seconds(0.5, 'dueMs'), unit: 's from due to run' },
      {
        name: `${name}DueSecondsP99`,
        value: seconds(0.99, 'dueMs'),
        unit: 's from due to run',
        valueMax: FLEET_OVERDUE_MS_MAX / SECOND_MS,
      },
      { name: `${name}QueuedSecondsP50`, value: seconds(0.5, 'queuedMs'), unit: 's in the queue' },
      {
        name: `${name}QueuedSecondsP99`,
        value: seconds(0.99, 'queuedMs'),
        unit: 's in the queue',
        valueMax: QUEUED_MS_P99_MAX / SECOND_MS,
      },
    ];
  };
  return [
    ...spread('hot', true),
    ...spread('cold', false),
    { name: 'firnCommits', value: logCounts['commit.succeeded'] ?? 0, unit: 'commits' },
    { name: 'runsUnderLease', value: leases.beganCount, unit: 'runs' },
    { name: 'runsAtOnceMax', value: leases.openMax, unit: 'of all tables' },
    { name: 'runsThatWrote', value: runs.beganCount, unit: 'runs' },
    { name: 'busyRuns', value: logCounts['run.finished busy'] ?? 0, unit: 'runs that met another' },
  ];
}

function priceOf(run: FleetRun): PriceEstimate {
  const rewriteCount = run.usage['rewrite-data-files']?.invocationCount ?? 0;
  const polls = (POLLER_COUNT * run.virtualHours * 60 * MINUTE_MS) / POLL_MS;
  return estimatePrice(
    {
      s3GetCount: sumOf(run, FUNCTIONS, 's3GetCount'),
      s3PutCount: sumOf(run, FUNCTIONS, 's3PutCount'),
      dynamoDbReadCount: sumOf(run, FUNCTIONS, 'readUnits'),
      dynamoDbWriteCount: sumOf(run, FUNCTIONS, 'writeUnits'),
      lambdaInvocationCount: run.invocations.length,
      lambdaDurationMs: sumOf(run, FUNCTIONS, 'durationMs'),
      lambdaMemoryMib: LAMBDA_MEMORY_MIB,
      // Each message is sent, received and deleted.
      sqsRequestCount: Math.round(3 * rewriteCount + polls),
    },
    PRICE_TABLE,
  );
}

function printBill({ lines, totalDollars }: PriceEstimate, commitCount: number): void {
  const perThousand = ((1_000 * totalDollars) / commitCount).toFixed(4);
  print(
    `\nestimated: $${perThousand} for a thousand commits, ${formatDollars(totalDollars)} for all`,
  );
  for (const { item, quantity, dollars } of lines) {
    print(`  ${formatDollars(dollars)} ${item}: ${quantity}`);
  }
}

function costFigures(run: FleetRun, { totalDollars }: PriceEstimate): readonly Figure[] {
  const thousands = run.commitCount / 1_000;
  const gibSeconds = (functions: readonly string[]): number =>
    (sumOf(run, functions, 'durationMs') / SECOND_MS) * (LAMBDA_MEMORY_MIB / 1024);
  return [
    { name: 'dollarsPerThousandCommits', value: totalDollars / thousands, unit: 'dollars' },
    { name: 'routerGibSeconds', value: gibSeconds(ROUTERS), unit: 'GiB-seconds' },
    { name: 'rewriteGibSeconds', value: gibSeconds(['rewrite-data-files']), unit: 'GiB-seconds' },
  ];
}

function machineFigures(run: FleetRun): readonly Figure[] {
  return [
    { name: 'largeMetadataMb', value: run.largeMetadataBytes / MB, unit: 'MB' },
    { name: 'clockHours', value: run.virtualHours, unit: 'h until nothing was due' },
    { name: 'createSeconds', value: run.createSeconds, unit: 's, wall' },
    { name: 'windowSeconds', value: run.windowSeconds, unit: 's, wall, of the two hours' },
    { name: 'wallSeconds', value: run.wallSeconds, unit: 's, wall, of all' },
    { name: 'cpuSeconds', value: run.cpuSeconds, unit: 's' },
    { name: 'peakRssMb', value: run.peakRssMb, unit: 'MB' },
  ];
}
