import { availableParallelism } from 'node:os';
import { guardSettingsText, LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import type { CompactSmallService } from './compact-small.child.ts';
import type { CompactSmallFilesService } from './compact-small-files.child.ts';
import type { LocalCloudService } from './local-cloud.child.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import { type Child, startChild } from './support/child-process.ts';
import {
  SMALL_DAY_COUNT,
  SMALL_FILE_COUNT,
  SMALL_FILE_ROW_COUNT,
  SMALL_ROW_COUNT,
} from './support/small-shape.ts';

const SECONDS_MAX = 10;
const MB = 1_000_000;

/** How long does it take to compact many small files, from loading the table to the commit? */
export async function run(): Promise<boolean> {
  printParameters('compact-small', {
    table: `${SMALL_FILE_COUNT} files of about 40 KB and ${SMALL_FILE_ROW_COUNT} rows in ${SMALL_DAY_COUNT} partitions, 12 columns, zstd, written by DuckDB`,
    cloud: 'local S3 endpoint and dynalite, in a process of their own, without latency',
    compactor:
      'one process: load, rewrite-data-files with default options (two groups at a time), one commit',
    peer: 'DuckDB, one thread: the same files from the local disk into one file there, no table',
    guards: `lowered, since the table is seconds old: ${guardSettingsText(LOWERED_GUARD_SETTINGS)}`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  const cloud = startChild<LocalCloudService>('local-cloud.child.ts');
  const files = startChild<CompactSmallFilesService>('compact-small-files.child.ts');
  try {
    print('writing files');
    await files.call('writeFiles', undefined);
    const figures: Figure[] = [];
    for (const formatVersion of [2, 3] as const) {
      figures.push(...(await compactTable({ cloud, files }, formatVersion)));
    }
    print('compacting with DuckDB');
    const peer = await files.call('compactWithPeer', undefined);
    figures.push(
      { name: 'peerSeconds', value: peer.seconds, unit: 's' },
      { name: 'peerOutputMb', value: peer.outputBytes / MB, unit: 'MB' },
    );
    for (const formatVersion of [2, 3] as const) {
      const seconds = figures.find(({ name }) => name === `v${formatVersion}Seconds`)?.value ?? 0;
      figures.push({
        name: `v${formatVersion}TimesPeer`,
        value: seconds / peer.seconds,
        unit: 'x of its time',
      });
    }
    return printReport('compact-small: 500 files of 40 KB, plan to commit', figures);
  } finally {
    await files.stop();
    await cloud.stop();
  }
}

async function compactTable(
  {
    cloud,
    files,
  }: { readonly cloud: Child<LocalCloudService>; readonly files: Child<CompactSmallFilesService> },
  formatVersion: 2 | 3,
): Promise<readonly Figure[]> {
  const place = {
    catalogUrl: await cloud.call('catalogUrl', undefined),
    table: `bench.small_v${formatVersion}`,
  };
  print(`writing ${place.table}`);
  await files.call('createTable', { ...place, formatVersion });
  print(`compacting ${place.table}`);
  const before = await cloud.call('s3Counters', undefined);
  const compactor = startChild<CompactSmallService>('compact-small.child.ts');
  const run = await compactor.call('compact', place);
  await compactor.stop();
  const after = await cloud.call('s3Counters', undefined);
  print(`comparing rows of ${place.table}`);
  const rows = await files.call('compareRows', place);
  const requestCount = (operation: keyof typeof after.requests): number =>
    after.requests[operation] - before.requests[operation];
  const figures: readonly Figure[] = [
    { name: 'Seconds', value: run.seconds, unit: 's', valueMax: SECONDS_MAX },
    { name: 'PlanSeconds', value: run.planSeconds, unit: 's' },
    { name: 'RewriteSeconds', value: run.rewriteSeconds, unit: 's' },
    { name: 'CpuSeconds', value: run.cpuSeconds, unit: 's' },
    { name: 'PeakRssMb', value: run.peakRssMb, unit: 'MB' },
    { name: 'PeakRssMbAtStart', value: run.peakRssMbAtStart, unit: 'MB' },
    { name: 'GetCount', value: requestCount('GetObject'), unit: 'requests' },
    { name: 'HeadCount', value: requestCount('HeadObject'), unit: 'requests' },
    { name: 'PutCount', value: requestCount('PutObject'), unit: 'requests' },
    {
      name: 'MultipartCount',
      value:
        requestCount('CreateMultipartUpload') +
        requestCount('UploadPart') +
        requestCount('CompleteMultipartUpload'),
      unit: 'requests',
    },
    { name: 'StoreReads', value: run.requests.read + run.requests.readRange, unit: 'calls' },
    { name: 'StoreWrites', value: run.requests.write + run.requests.openWriter, unit: 'calls' },
    { name: 'ReadMb', value: (after.bytesSent - before.bytesSent) / MB, unit: 'MB' },
    { name: 'WrittenMb', value: (after.bytesReceived - before.bytesReceived) / MB, unit: 'MB' },
    {
      name: 'InputFiles',
      value: run.plannedFileCount,
      unit: 'files',
      valueExpected: SMALL_FILE_COUNT,
    },
    { name: 'InputMb', value: run.bytesBefore / MB, unit: 'MB' },
    {
      name: 'OutputFiles',
      value: run.outputFileCount,
      unit: 'files',
      valueExpected: SMALL_DAY_COUNT,
    },
    { name: 'OutputMb', value: run.bytesAfter / MB, unit: 'MB' },
    { name: 'CopiedChunks', value: run.copiedChunkCount, unit: 'chunks' },
    { name: 'EncodedChunks', value: run.encodedChunkCount, unit: 'chunks' },
    { name: 'Commits', value: run.commitCount, unit: 'commits', valueExpected: 1 },
    {
      name: 'CommittedGroups',
      value: run.committedGroupCount,
      unit: 'groups',
      valueExpected: SMALL_DAY_COUNT,
    },
    {
      name: 'SkippedGroups',
      value: run.skippedGroupCount + run.uncommittedGroupCount,
      unit: 'groups',
      valueExpected: 0,
    },
    { name: 'SkippedFiles', value: run.skippedFileCount, unit: 'files', valueExpected: 0 },
    { name: 'FilesAfter', value: rows.fileCount, unit: 'files', valueExpected: SMALL_DAY_COUNT },
    { name: 'Rows', value: rows.rowCount, unit: 'rows', valueExpected: SMALL_ROW_COUNT },
    { name: 'EqualRows', value: rows.isEqual ? 1 : 0, unit: '(1: yes)', valueExpected: 1 },
  ];
  return figures.map((figure) => ({ ...figure, name: `v${formatVersion}${figure.name}` }));
}
