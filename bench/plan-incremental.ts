import { availableParallelism } from 'node:os';
import { guardSettingsText, LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import type { LocalCloudService } from './local-cloud.child.ts';
import type { IncrementalPlanService } from './plan-incremental.child.ts';
import type { IncrementalTableService } from './plan-incremental-table.child.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import { type Child, startChild } from './support/child-process.ts';
import {
  DAY_COUNTS,
  ENTRIES_PER_DAY,
  LATE_PARTITION_COUNT,
  type ManifestLayout,
  NEW_FILES_PER_PARTITION,
  NEW_PARTITION_COUNT,
  SMALL_FILES_PER_PARTITION,
  TENANTS,
} from './support/incremental-shape.ts';

const SECONDS_MAX = 2;
const PEAK_RSS_MB_MAX = 256;

const NEW_FILE_COUNT = NEW_PARTITION_COUNT * NEW_FILES_PER_PARTITION;

/** What does it take to plan a large table after one commit? */
export async function run(): Promise<boolean> {
  printParameters('plan-incremental', {
    clustered: `${shapeText('clustered')}, a day in each`,
    scattered: `${shapeText('scattered')}, each file of a partition in another one`,
    commit: `${NEW_FILE_COUNT} small files in ${NEW_PARTITION_COUNT} partitions: of the last day, and ${LATE_PARTITION_COUNT} of other days`,
    cloud: 'local S3 endpoint and dynalite, in a process of their own',
    planner: 'a process for each plan: load, rewrite-data-files with mode observe, report',
    guards: `lowered, since the table is seconds old: ${guardSettingsText(LOWERED_GUARD_SETTINGS)}`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  const cloud = startChild<LocalCloudService>('local-cloud.child.ts');
  try {
    const clustered = await planTable(cloud, 'clustered');
    // Nothing is demanded of its costs: it shows what it takes when manifests follow no order.
    const scattered = await planTable(cloud, 'scattered');
    const whole = await measure(cloud, { table: scattered.table });
    const isSame = whole.groupsHash === scattered.next.groupsHash;
    return printReport('plan-incremental: one commit onto 1,000,000 data files', [
      { name: 'seconds', value: clustered.next.seconds, unit: 's', valueMax: SECONDS_MAX },
      { name: 'peakRssMb', value: clustered.next.peakRssMb, unit: 'MB', valueMax: PEAK_RSS_MB_MAX },
      ...figuresOf('clustered', clustered),
      ...figuresOf('scattered', scattered),
      { name: 'scatteredGroupsAsWhole', value: Number(isSame), unit: '', valueExpected: 1 },
    ]);
  } finally {
    await cloud.stop();
  }
}

function shapeText(layout: ManifestLayout): string {
  const dayCount = DAY_COUNTS[layout];
  return `${dayCount * ENTRIES_PER_DAY} data files in ${dayCount * TENANTS} partitions by day and tenant, ${dayCount} manifests`;
}

interface PlannedTwice {
  readonly table: string;
  /** Of the whole table, before the commit. */
  readonly first: Measured;
  /** After it, going on from the first. */
  readonly next: Measured;
}

async function planTable(
  cloud: Child<LocalCloudService>,
  layout: ManifestLayout,
): Promise<PlannedTwice> {
  const catalogUrl = await cloud.call('catalogUrl', undefined);
  const table = `bench.${layout}`;
  print(`writing ${table}`);
  const writer = startChild<IncrementalTableService>('plan-incremental-table.child.ts');
  await writer.call('create', { catalogUrl, table, layout });
  print(`planning ${table} for the first time, then a commit, then planning it again`);
  const first = await measure(cloud, { table, continuation: {} });
  await writer.call('append', { catalogUrl, table, layout });
  await writer.stop();
  const { planStateLocation } = first;
  if (planStateLocation === undefined) throw new Error(`${table}: nothing was remembered`);
  const next = await measure(cloud, { table, continuation: { stateLocation: planStateLocation } });
  return { table, first, next };
}

function figuresOf(layout: ManifestLayout, { first, next }: PlannedTwice): readonly Figure[] {
  const figure = (
    name: string,
    value: number,
    unit: string,
    demand: Pick<Figure, 'valueExpected'> = {},
  ): Figure => ({ name: `${layout}${name}`, value, unit, ...demand });
  const fileCount = DAY_COUNTS[layout] * ENTRIES_PER_DAY + NEW_FILE_COUNT;
  const plannedFileCount = NEW_FILE_COUNT + NEW_PARTITION_COUNT * SMALL_FILES_PER_PARTITION;
  return [
    figure('Seconds', next.seconds, 's'),
    figure('CpuSeconds', next.cpuSeconds, 's'),
    figure('SecondsWhole', first.seconds, 's'),
    figure('CpuSecondsWhole', first.cpuSeconds, 's'),
    figure('PeakRssMb', next.peakRssMb, 'MB'),
    figure('PeakRssMbWhole', first.peakRssMb, 'MB'),
    figure('PeakRssMbAtStart', next.peakRssMbAtStart, 'MB'),
    figure('Gets', next.getCount, 'requests'),
    figure('GetsWhole', first.getCount, 'requests'),
    figure('ReadMb', next.readMb, 'MB'),
    figure('ReadMbWhole', first.readMb, 'MB'),
    figure('Puts', next.putCount, 'requests'),
    figure('WrittenMb', next.writtenMb, 'MB'),
    figure('IsIncremental', Number(next.isIncremental), '', { valueExpected: 1 }),
    figure('Groups', next.groupCount, 'groups', { valueExpected: NEW_PARTITION_COUNT }),
    figure('PlannedFiles', next.plannedFileCount, 'files', { valueExpected: plannedFileCount }),
    figure('FilesBefore', next.fileCountBefore, 'files', { valueExpected: fileCount }),
  ];
}

type Measured = Awaited<ReturnType<typeof measure>>;

type PlanArgument = Parameters<IncrementalPlanService['plan']>[0];

/** Plans in a process of its own, and counts what that asked of S3. */
async function measure(
  cloud: Child<LocalCloudService>,
  argument: Omit<PlanArgument, 'catalogUrl'>,
) {
  const catalogUrl = await cloud.call('catalogUrl', undefined);
  const before = await cloud.call('s3Counters', undefined);
  const planner = startChild<IncrementalPlanService>('plan-incremental.child.ts');
  const plan = await planner.call('plan', { ...argument, catalogUrl });
  await planner.stop();
  const after = await cloud.call('s3Counters', undefined);
  return {
    ...plan,
    getCount: after.requests.GetObject - before.requests.GetObject,
    putCount: after.requests.PutObject - before.requests.PutObject,
    readMb: (after.bytesSent - before.bytesSent) / 1_000_000,
    writtenMb: (after.bytesReceived - before.bytesReceived) / 1_000_000,
  };
}
