import { availableParallelism } from 'node:os';
import { guardSettingsText, LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import type { LocalCloudService } from './local-cloud.child.ts';
import type { PlanService } from './plan.child.ts';
import type { PlanTableService } from './plan-table.child.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import { type Child, startChild } from './support/child-process.ts';
import {
  PLAN_FILE_COUNT,
  PLAN_LARGE_FILE_COUNT,
  PLAN_MANIFEST_COUNT,
  PLAN_PARTITION_COUNT,
} from './support/plan-shape.ts';

const PEAK_RSS_MB_MAX = 256;

/** A pointer is a DynamoDB item; metadata and manifest list are one object each. */
const GET_COUNT_EXPECTED = PLAN_MANIFEST_COUNT + 2;

/** How much memory does planning a table of many files take? */
export async function run(): Promise<boolean> {
  printParameters('plan', {
    table: `${PLAN_FILE_COUNT} data files, ${PLAN_MANIFEST_COUNT} manifests, ${PLAN_PARTITION_COUNT} partitions by day and bucket, 20 columns with metrics`,
    cloud: 'local S3 endpoint and dynalite, in a process of their own',
    planner: 'one process: load, rewrite-data-files with mode observe, default options',
    guards: `lowered, since the table is seconds old: ${guardSettingsText(LOWERED_GUARD_SETTINGS)}`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  const cloud = startChild<LocalCloudService>('local-cloud.child.ts');
  try {
    const figures: Figure[] = [];
    for (const formatVersion of [2, 3] as const) {
      figures.push(...(await planTable(cloud, formatVersion)));
    }
    return printReport('plan: 10,000 data files in 200 manifests', figures);
  } finally {
    await cloud.stop();
  }
}

async function planTable(
  cloud: Child<LocalCloudService>,
  formatVersion: 2 | 3,
): Promise<readonly Figure[]> {
  const catalogUrl = await cloud.call('catalogUrl', undefined);
  const table = `bench.plan_v${formatVersion}`;
  print(`writing ${table}`);
  const writer = startChild<PlanTableService>('plan-table.child.ts');
  await writer.call('create', { catalogUrl, table, formatVersion });
  await writer.stop();
  print(`planning ${table}`);
  const before = await cloud.call('s3Counters', undefined);
  const planner = startChild<PlanService>('plan.child.ts');
  const plan = await planner.call('plan', { catalogUrl, table });
  await planner.stop();
  const after = await cloud.call('s3Counters', undefined);
  const name = (figure: string): string => `v${formatVersion}${figure}`;
  return [
    { name: name('PeakRssMb'), value: plan.peakRssMb, unit: 'MB', valueMax: PEAK_RSS_MB_MAX },
    { name: name('PeakRssMbAtStart'), value: plan.peakRssMbAtStart, unit: 'MB' },
    { name: name('Seconds'), value: plan.seconds, unit: 's' },
    { name: name('CpuSeconds'), value: plan.cpuSeconds, unit: 's' },
    {
      name: name('GetCount'),
      value: after.requests.GetObject - before.requests.GetObject,
      unit: 'requests',
      valueExpected: GET_COUNT_EXPECTED,
    },
    {
      name: name('PutCount'),
      value: after.requests.PutObject - before.requests.PutObject,
      unit: 'requests',
      valueExpected: 0,
    },
    { name: name('ReadMb'), value: (after.bytesSent - before.bytesSent) / 1_000_000, unit: 'MB' },
    {
      name: name('ScannedFiles'),
      value: plan.scannedFileCount,
      unit: 'files',
      valueExpected: PLAN_FILE_COUNT,
    },
    {
      name: name('PlannedGroups'),
      value: plan.groupCount,
      unit: 'groups',
      valueExpected: PLAN_PARTITION_COUNT,
    },
    {
      name: name('PlannedFiles'),
      value: plan.plannedFileCount,
      unit: 'files',
      valueExpected: PLAN_FILE_COUNT - PLAN_LARGE_FILE_COUNT,
    },
    {
      name: name('InRangeFiles'),
      value: plan.inRangeFileCount,
      unit: 'files',
      valueExpected: PLAN_LARGE_FILE_COUNT,
    },
  ];
}
