import { availableParallelism } from 'node:os';
import { systemClock } from '../shared/base/index.ts';
import { type Figure, print, printParameters, printReport } from './report.ts';
import {
  compactDeletedFrom,
  type DeletedFromRun,
  FILES_PER_PARTITION,
  ROWS_PER_FILE,
} from './support/deleted-from-table.ts';
import { cpuSeconds } from './support/resources.ts';

const LATENCIES = { getMs: 20, putMs: 40, itemMs: 5 } as const;

/** So many that rewriting one after the other takes the time below. */
const PARTITION_COUNT = 420;
const REWRITE_SECONDS_MIN = 30;

/** Much less than a Lambda's 15 minutes. */
const DEADLINE_MS = 120_000;

const SCENARIOS = [
  { name: 'one', text: 'one writer', writerCount: 1 },
  { name: 'three', text: 'three writers', writerCount: 3 },
] as const;

/** Does a long compaction land while others delete rows of its files, and what becomes of those deletes? */
export async function run(): Promise<boolean> {
  printParameters('carry-over', {
    store: `in memory: ${LATENCIES.getMs} ms a GET, ${LATENCIES.putMs} ms a PUT, ${LATENCIES.itemMs} ms a pointer or ledger request`,
    table: `v3, ${PARTITION_COUNT} partitions of ${FILES_PER_PARTITION} files of ${ROWS_PER_FILE} rows`,
    writers:
      'row deltas of two vectors of the files under compaction, back to back: larger vectors take the place of those before; 4 retries',
    compactor:
      'rewrite-data-files with its ledger: a group for each partition, one after the other, one commit at the end',
    judge:
      'the slow reader of the tests: all rows with their row ids, held against those written less those deleted',
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  const figures: Figure[] = [];
  for (const { name, text, writerCount } of SCENARIOS) {
    print(`compacting beside ${text}`);
    const cpuSecondsBefore = cpuSeconds();
    const each = await compactDeletedFrom(
      { partitionCount: PARTITION_COUNT, writerCount, queryMs: 0, deadlineMs: DEADLINE_MS },
      { clock: systemClock, latencies: LATENCIES, seed: 1 },
    );
    const cpu = { name: 'CpuSeconds', value: cpuSeconds() - cpuSecondsBefore, unit: 's' };
    const all = [...demandedFigures(each), ...deleteFigures(each), ...costFigures(each), cpu];
    figures.push(...all.map((figure) => ({ ...figure, name: `${name}${figure.name}` })));
  }
  return printReport('carry-over: a compaction of 30 s beside writers of vectors', figures);
}

function demandedFigures(run: DeletedFromRun): readonly Figure[] {
  const { rowCountBefore, deletedRowCount } = run;
  const rows = (name: string, value: number, valueExpected: number): Figure => {
    return { name, value, unit: 'rows', valueExpected };
  };
  return [
    { name: 'Landed', value: run.isLanded ? 1 : 0, unit: '(1: yes)', valueExpected: 1 },
    {
      name: 'RewriteSeconds',
      value: run.rewriteSeconds,
      unit: 's',
      valueMin: REWRITE_SECONDS_MIN,
    },
    {
      name: 'CommittedGroups',
      value: run.committedGroupCount,
      unit: 'groups',
      valueExpected: PARTITION_COUNT,
    },
    rows('RowsAfter', run.rowCountAfter, rowCountBefore - deletedRowCount),
    rows('RowsLost', run.rowsLost, 0),
    rows('RowsBack', run.rowsBack, 0),
    rows('DeletesKnown', run.appliedRowCount + run.carriedOverRowCount, deletedRowCount),
  ];
}

function deleteFigures({ foreign, ...run }: DeletedFromRun): readonly Figure[] {
  return [
    { name: 'RowsBefore', value: run.rowCountBefore, unit: 'rows' },
    { name: 'DeletedByOthers', value: run.deletedRowCount, unit: 'rows' },
    { name: 'AppliedWhenRead', value: run.appliedRowCount, unit: 'rows' },
    { name: 'CarriedOver', value: run.carriedOverRowCount, unit: 'rows', valueMin: 1 },
    { name: 'VectorsAdded', value: run.addedVectorCount, unit: 'vectors' },
    { name: 'VectorsRemoved', value: run.removedVectorCount, unit: 'vectors' },
    { name: 'ForeignLanded', value: foreign.landedCount, unit: 'commits' },
    { name: 'ForeignReplacedVectors', value: foreign.replacedVectorCount, unit: 'vectors' },
    { name: 'ForeignOvertaken', value: foreign.overtakenCount, unit: 'attempts' },
    { name: 'ForeignLost', value: foreign.lostCount, unit: 'commits' },
    { name: 'ForeignRefused', value: foreign.refusedCount, unit: 'commits' },
  ];
}

function costFigures(run: DeletedFromRun): readonly Figure[] {
  return [
    { name: 'Attempts', value: run.attemptCount, unit: 'attempts' },
    { name: 'Seconds', value: run.seconds, unit: 's' },
    { name: 'CommitSeconds', value: run.seconds - run.rewriteSeconds, unit: 's' },
    { name: 'Get', value: run.getCount, unit: 'requests' },
    { name: 'Put', value: run.putCount, unit: 'requests' },
    { name: 'PointerRead', value: run.pointerReadCount, unit: 'requests' },
    { name: 'ConditionalWrite', value: run.pointerWriteCount, unit: 'requests' },
    { name: 'Ledger', value: run.ledgerRequestCount, unit: 'requests' },
  ];
}
