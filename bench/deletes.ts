import { availableParallelism } from 'node:os';
import { guardSettingsText, LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import type { DeletesRunService } from './deletes-run.child.ts';
import type { DeletesTablesService } from './deletes-tables.child.ts';
import type { LocalCloudService } from './local-cloud.child.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import { type Child, startChild } from './support/child-process.ts';
import {
  FOLD_DELETE_FILE_COUNT,
  FOLD_FILE_COUNT,
  FOLD_FILE_SCOPED_PER_FILE,
  FOLD_PARTITION_COUNT,
  FOLD_POSITIONS_PER_DELETE_FILE,
  KEY_FILE_COUNT,
  KEYS_MATCHING_PER_FILE,
  KEYS_PER_FILE,
  ROWS_FILE_COUNT,
  ROWS_FILE_ROW_COUNT,
  VECTOR_EVERY,
} from './support/deletes-shape.ts';

const RSS_MB_MAX = 400;

/**
 * How V8 sizes its heap on a machine of 1,769 MiB, Firn's Lambda: half of it, and a 128th of that for each half of the new
 * space. On a large machine both are several times as large, and what is resident is mostly garbage not yet collected.
 */
const LAMBDA_HEAP = ['--max-old-space-size=884', '--max-semi-space-size=7'] as const;
const MB = 1_000_000;

/** Footers and entries, manifests, lists and metadata, and what the commit reads back; far fewer than delete files. */
const OTHER_GETS_MAX = 200;

interface Children {
  readonly cloud: Child<LocalCloudService>;
  readonly tables: Child<DeletesTablesService>;
  readonly catalogUrl: string;
}

/** What do folding, applying and converting many deletes take in time, memory and requests? */
export async function run(): Promise<boolean> {
  const rows = `${ROWS_FILE_COUNT} files of ${ROWS_FILE_ROW_COUNT} rows of one partition, 12 columns, zstd, written by DuckDB`;
  printParameters('deletes', {
    fold: `v2, then v3: ${FOLD_DELETE_FILE_COUNT} position delete files of ${FOLD_POSITIONS_PER_DELETE_FILE} positions, ${FOLD_FILE_SCOPED_PER_FILE} of each of ${FOLD_FILE_COUNT} data files and as many more of ten each, ${FOLD_PARTITION_COUNT} partitions`,
    apply: `v3: ${rows}; a vector of one row in ${VECTOR_EVERY} for each; left out (purge), or what is cheaper (auto, the default): kept and deleted anew`,
    convert: `v3: ${rows}; ${KEY_FILE_COUNT} equality delete files of ${KEYS_PER_FILE} ids, ${KEYS_MATCHING_PER_FILE} of which match a row`,
    cloud: 'local S3 endpoint and dynalite, in a process of their own, without latency',
    firn: 'a process for each run, options as by default, from loading the table to the commit',
    heap: `as in a Lambda of 1,769 MiB: ${LAMBDA_HEAP.join(' ')}`,
    judge: 'vectors and entries read by the slow readers of the tests, rows by DuckDB',
    onlyRead: 'the same delete files from the same store, 16 at a time, nothing done with them',
    peer: 'DuckDB, one thread: the same files from the local disk, no table; positions only listed, rows into one file',
    guards: `lowered, since the tables are seconds old: ${guardSettingsText(LOWERED_GUARD_SETTINGS)}`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  const cloud = startChild<LocalCloudService>('local-cloud.child.ts');
  const tables = startChild<DeletesTablesService>('deletes-tables.child.ts');
  try {
    const catalogUrl = await cloud.call('catalogUrl', undefined);
    const children = { cloud, tables, catalogUrl };
    print('writing rows');
    await tables.call('writeRows', undefined);
    const figures = [
      ...(await fold(children)),
      ...(await apply(children)),
      ...(await convert(children)),
    ];
    return printReport('deletes: fold, apply, convert', figures);
  } finally {
    await tables.stop();
    await cloud.stop();
  }
}

async function fold({ cloud, tables, catalogUrl }: Children): Promise<readonly Figure[]> {
  const place = { catalogUrl, table: 'bench.fold' };
  print(`writing ${place.table}`);
  await tables.call('createFoldTable', place);
  const { run, requests } = await runAlone(cloud, 'rewriteDeletes', place);
  const judged = await tables.call('judgeVectors', { ...place, rule: 'folded' });
  const peer = await tables.call('foldWithPeer', undefined);
  return named('fold', [
    ...costs(run, requests, FOLD_DELETE_FILE_COUNT + OTHER_GETS_MAX),
    ...(await peerFigures(run, peer, {
      ...place,
      namePrefix: '',
      count: FOLD_DELETE_FILE_COUNT,
    })),
    exactly('RemovedFiles', run.removedCount, FOLD_DELETE_FILE_COUNT, 'delete files'),
    exactly('AddedVectors', run.addedCount, FOLD_FILE_COUNT, 'vectors'),
    ...vectorFigures(judged, FOLD_FILE_COUNT),
  ]);
}

async function apply({ cloud, tables, catalogUrl }: Children): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const seconds = new Map<string, number>();
  for (const treatment of ['none', 'purge', 'auto'] as const) {
    const place = { catalogUrl, table: `bench.apply_${treatment}` };
    const isDeleted = treatment !== 'none';
    print(`writing ${place.table}`);
    const { vectorBytes } = await tables.call('createRowsTable', {
      ...place,
      deletes: isDeleted ? 'vectors' : 'none',
      treatment: isDeleted ? treatment : 'auto',
    });
    const { run, requests } = await runAlone(cloud, 'rewriteDataFiles', place);
    const judged = await tables.call('judgeRows', { ...place, isDeleted });
    seconds.set(treatment, run.seconds);
    const rowCount = ROWS_FILE_COUNT * ROWS_FILE_ROW_COUNT;
    const deletedCount = isDeleted ? rowCount / VECTOR_EVERY : 0;
    figures.push(
      ...named(`apply${treatment.slice(0, 1).toUpperCase()}${treatment.slice(1)}`, [
        ...costs(run, requests, ROWS_FILE_COUNT * (isDeleted ? 2 : 1) + OTHER_GETS_MAX),
        ...(isDeleted
          ? [
              {
                name: 'TimesNone',
                value: run.seconds / (seconds.get('none') ?? 0),
                unit: 'x of the time without deletes',
              },
              ...vectorReads(run.puffinReads, vectorBytes, judged.vectorCount),
            ]
          : []),
        { name: 'CopiedChunks', value: run.copiedChunkCount, unit: 'chunks' },
        { name: 'EncodedChunks', value: run.encodedChunkCount, unit: 'chunks' },
        { name: 'PurgedRows', value: run.purgedRowCount, unit: 'rows' },
        { name: 'CarriedRows', value: run.carriedRowCount, unit: 'rows' },
        exactly('Rows', judged.rowCount, rowCount - deletedCount, 'rows'),
        exactly('EqualRows', judged.isEqual ? 1 : 0, 1, '(1: yes)'),
      ]),
    );
  }
  const peer = await tables.call('compactWithPeer', undefined);
  figures.push(
    { name: 'applyPeerSeconds', value: peer.seconds, unit: 's' },
    {
      name: 'applyPurgeTimesPeer',
      value: (seconds.get('purge') ?? 0) / peer.seconds,
      unit: 'x of its time',
    },
  );
  return figures;
}

async function convert({ cloud, tables, catalogUrl }: Children): Promise<readonly Figure[]> {
  const place = { catalogUrl, table: 'bench.convert' };
  print(`writing ${place.table}`);
  await tables.call('createRowsTable', { ...place, deletes: 'equality' });
  const { run, requests } = await runAlone(cloud, 'rewriteDeletes', place);
  const judged = await tables.call('judgeVectors', { ...place, rule: 'converted' });
  const peer = await tables.call('convertWithPeer', undefined);
  return named('convert', [
    ...costs(run, requests, KEY_FILE_COUNT + 4 * ROWS_FILE_COUNT + OTHER_GETS_MAX),
    ...(await peerFigures(run, peer, {
      ...place,
      namePrefix: 'keys-',
      count: KEY_FILE_COUNT,
    })),
    exactly('RemovedFiles', run.removedCount, KEY_FILE_COUNT, 'delete files'),
    exactly('AddedVectors', run.addedCount, ROWS_FILE_COUNT, 'vectors'),
    ...vectorFigures(judged, ROWS_FILE_COUNT),
  ]);
}

/** Runs an operation in a process of its own, and counts what reaches the store meanwhile. */
async function runAlone<Name extends 'rewriteDeletes' | 'rewriteDataFiles'>(
  cloud: Child<LocalCloudService>,
  name: Name,
  place: { readonly catalogUrl: string; readonly table: string },
) {
  print(`${name} of ${place.table}`);
  const before = await cloud.call('s3Counters', undefined);
  const runner = startChild<DeletesRunService>('deletes-run.child.ts', { execArgv: LAMBDA_HEAP });
  const run = (await runner.call(name, place)) as Awaited<ReturnType<DeletesRunService[Name]>>;
  await runner.stop();
  const after = await cloud.call('s3Counters', undefined);
  const count = (operation: keyof typeof after.requests): number =>
    after.requests[operation] - before.requests[operation];
  const requests = {
    getCount: count('GetObject'),
    putCount: count('PutObject') + count('UploadPart'),
    readMb: (after.bytesSent - before.bytesSent) / MB,
    writtenMb: (after.bytesReceived - before.bytesReceived) / MB,
  };
  return { run, requests };
}

/** What the same delete files take that are only read: from a process of its own, and by DuckDB from the local disk. */
async function peerFigures(
  run: { readonly seconds: number },
  peer: { readonly seconds: number },
  {
    count,
    ...objects
  }: {
    readonly catalogUrl: string;
    readonly table: string;
    readonly namePrefix: string;
    readonly count: number;
  },
): Promise<readonly Figure[]> {
  const reader = startChild<DeletesRunService>('deletes-run.child.ts');
  const reading = await reader.call('readObjects', objects);
  await reader.stop();
  return [
    exactly('OnlyReadFiles', reading.objectCount, count, 'delete files'),
    { name: 'OnlyReadSeconds', value: reading.seconds, unit: 's' },
    { name: 'TimesOnlyRead', value: run.seconds / reading.seconds, unit: 'x of its time' },
    { name: 'PeerSeconds', value: peer.seconds, unit: 's' },
    { name: 'TimesPeer', value: run.seconds / peer.seconds, unit: 'x of its time' },
  ];
}

function costs(
  run: {
    readonly seconds: number;
    readonly cpuSeconds: number;
    readonly peakRssMb: number;
    readonly peakRssMbAtStart: number;
  },
  requests: {
    readonly getCount: number;
    readonly putCount: number;
    readonly readMb: number;
    readonly writtenMb: number;
  },
  getCountMax: number,
): readonly Figure[] {
  return [
    { name: 'Seconds', value: run.seconds, unit: 's' },
    { name: 'CpuSeconds', value: run.cpuSeconds, unit: 's' },
    { name: 'PeakRssMb', value: run.peakRssMb, unit: 'MB', valueMax: RSS_MB_MAX },
    { name: 'PeakRssMbAtStart', value: run.peakRssMbAtStart, unit: 'MB' },
    { name: 'GetCount', value: requests.getCount, unit: 'requests', valueMax: getCountMax },
    { name: 'PutCount', value: requests.putCount, unit: 'requests' },
    { name: 'ReadMb', value: requests.readMb, unit: 'MB' },
    { name: 'WrittenMb', value: requests.writtenMb, unit: 'MB' },
  ];
}

/** Each vector that was there by one request for its bytes and no others; those that were written are read back so, too. */
function vectorReads(
  reads: readonly { readonly location: string; readonly lengthBytes: number }[],
  vectorBytes: number,
  addedVectorCount: number,
): readonly Figure[] {
  const ofInputs = reads.filter(({ location }) => /vectors-\d+\.puffin$/.test(location));
  const readBytes = ofInputs.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  return [
    exactly('VectorGets', ofInputs.length, ROWS_FILE_COUNT, 'requests'),
    exactly('VectorBytesRead', readBytes, vectorBytes, 'bytes'),
    { name: 'AddedVectors', value: addedVectorCount, unit: 'vectors' },
    { name: 'AddedVectorGets', value: reads.length - ofInputs.length, unit: 'requests' },
  ];
}

function vectorFigures(
  judged: {
    readonly dataFileCount: number;
    readonly vectorCount: number;
    readonly otherDeleteFileCount: number;
    readonly positionCount: number;
    readonly wrongCount: number;
  },
  fileCount: number,
): readonly Figure[] {
  return [
    exactly('DataFiles', judged.dataFileCount, fileCount, 'files'),
    exactly('Vectors', judged.vectorCount, fileCount, 'vectors'),
    exactly('OtherDeleteFiles', judged.otherDeleteFileCount, 0, 'files'),
    { name: 'DeletedRows', value: judged.positionCount, unit: 'rows' },
    exactly('WrongVectors', judged.wrongCount, 0, 'vectors'),
  ];
}

function exactly(name: string, value: number, valueExpected: number, unit: string): Figure {
  return { name, value, unit, valueExpected };
}

function named(prefix: string, figures: readonly Figure[]): readonly Figure[] {
  return figures.map((figure) => ({ ...figure, name: `${prefix}${figure.name}` }));
}
