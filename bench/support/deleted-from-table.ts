import { type Row, TableWriter } from '../../local/table-writer/index.ts';
import { type Clock, IcebergError, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import {
  deletesOf,
  type RewriteDataFilesOutcome,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { readFilesSlowly, readRowsSlowly } from '../../test/support/slow-reader.ts';
import { type CompactionCosts, compactMeasured, type SlowWorld } from './measured-compaction.ts';
import type { Latencies } from './slow-ports.ts';
import { keepDeleting, type TargetFile, type VectorWriters } from './vector-writer.ts';

/** A table, and who deletes from it. */
export interface DeletedFrom {
  /** Each is a group of the compaction, and one is rewritten after the other. */
  readonly partitionCount: number;
  /** Each with data files of its own, of all partitions. */
  readonly writerCount: number;
  /** What each of their queries takes until it knows which rows to delete. */
  readonly queryMs: number;
  readonly deadlineMs: number;
}

/** What one compaction met and took, and what was left behind. */
export interface DeletedFromRun extends CompactionCosts {
  readonly rewriteSeconds: number;
  readonly groupCount: number;
  readonly committedGroupCount: number;
  /** Of the inputs when they were read, left out or deleted anew. */
  readonly appliedRowCount: number;
  /** Of the inputs since then, deleted anew. */
  readonly carriedOverRowCount: number;
  readonly addedVectorCount: number;
  readonly removedVectorCount: number;
  readonly foreign: Omit<VectorWriters, 'isOver'>;
  readonly rowCountBefore: number;
  /** Rows that landed commits of the other writers deleted. */
  readonly deletedRowCount: number;
  readonly rowCountAfter: number;
  /** Live rows that are not there any more, or have another row id. */
  readonly rowsLost: number;
  /** Deleted rows that are there. */
  readonly rowsBack: number;
}

const IDENTIFIER = { namespace: ['bench'], name: 'deleted_from' };
export const FILES_PER_PARTITION = 6;
export const ROWS_PER_FILE = 100;

/** Compacts a new v3 table while others delete from all its files, and reads it without any of the code that did it. */
export async function compactDeletedFrom(
  { partitionCount, writerCount, queryMs, deadlineMs }: DeletedFrom,
  { clock, latencies, seed }: { clock: Clock; latencies: Latencies; seed: number },
): Promise<DeletedFromRun> {
  const random = seededRandom(seed);
  const store = new MemoryObjectStore({ clock });
  const world = { catalog: new MemoryCatalog({ clock, random }), store, clock, random, latencies };
  const { table, targets } = await createTable(partitionCount, world);
  const rowsBefore = await rowsByFile(table, store);
  const foreign = {
    isOver: false,
    landedCount: 0,
    replacedVectorCount: 0,
    overtakenCount: 0,
    lostCount: 0,
    refusedCount: 0,
  };
  const writers = Array.from({ length: writerCount }, (_, writer) => {
    const own = targets.filter((_, index) => index % writerCount === writer);
    return keepDeleting(IDENTIFIER, { targets: own, queryMs, writers: foreign }, world);
  });
  // Until all of them are under way, so that some vectors are there already.
  await clock.sleepMs(2000);
  const options = { 'max-concurrent-file-group-rewrites': '1' };
  const run = await compactMeasured(IDENTIFIER, { deadlineMs, options }, world);
  foreign.isOver = true;
  await Promise.all(writers);
  const { isOver: _, ...foreignCounts } = foreign;
  return {
    ...run.costs,
    rewriteSeconds: run.rewriteSeconds,
    ...countsOf(run.outcome),
    foreign: foreignCounts,
    ...(await compareRows(rowsBefore, targets, { table, store })),
  };
}

async function createTable(
  partitionCount: number,
  ports: Omit<SlowWorld, 'latencies'>,
): Promise<{ readonly table: TableWriter; readonly targets: readonly TargetFile[] }> {
  const table = await TableWriter.create(
    {
      identifier: IDENTIFIER,
      location: 's3://bench/deleted-from',
      formatVersion: 3,
      fields: [
        { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
        { fieldId: 2, name: 'part', isRequired: true, type: { kind: 'int' } },
      ],
      partitionFields: [
        { sourceIds: [2], fieldId: 1000, name: 'part', transform: { kind: 'identity' } },
      ],
    },
    ports,
  );
  const files = await table.append(
    Array.from({ length: partitionCount * FILES_PER_PARTITION }, (_, index) => {
      const part = index % partitionCount;
      return { rows: rowsOf(index, part), partition: [part] };
    }),
  );
  return { table, targets: files.map((file) => ({ file, deleted: new Set<number>() })) };
}

function rowsOf(fileIndex: number, part: number): readonly Row[] {
  return Array.from({ length: ROWS_PER_FILE }, (_, row) => ({
    1: BigInt(fileIndex * ROWS_PER_FILE + row),
    2: part,
  }));
}

function countsOf(outcome: RewriteDataFilesOutcome | undefined) {
  if (outcome === undefined || !('groups' in outcome)) {
    throw new IcebergError('invariant', `bench: nothing was compacted: ${outcome?.outcome}`);
  }
  const { groups } = outcome;
  const deletes = deletesOf(outcome);
  return {
    groupCount: groups.length,
    committedGroupCount: groups.filter(({ state }) => state === 'committed').length,
    appliedRowCount: deletes.purgedRowCount + deletes.carriedRowCount,
    carriedOverRowCount: deletes.carriedOverRowCount,
    addedVectorCount: deletes.addedFileCount,
    removedVectorCount: deletes.removedFileCount,
  };
}

/** Texts of all rows, with row ids, by data file and position; nothing is deleted yet. */
async function rowsByFile(
  table: TableWriter,
  store: MemoryObjectStore,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { metadataLocation } = await table.load();
  const files = await readFilesSlowly({ store, metadataLocation, withLineage: true });
  return new Map(files.map(({ filePath, rows }) => [filePath, rows]));
}

async function compareRows(
  before: ReadonlyMap<string, readonly string[]>,
  targets: readonly TargetFile[],
  { table, store }: { readonly table: TableWriter; readonly store: MemoryObjectStore },
): Promise<
  Pick<
    DeletedFromRun,
    'rowCountBefore' | 'deletedRowCount' | 'rowCountAfter' | 'rowsLost' | 'rowsBack'
  >
> {
  const { metadataLocation } = await table.load();
  const after = await readRowsSlowly({ store, metadataLocation, withLineage: true });
  const expected = new Set<string>();
  for (const { file, deleted } of targets) {
    for (const [position, row] of before.get(file.dataFile.filePath)!.entries()) {
      if (!deleted.has(position)) expected.add(row);
    }
  }
  const found = new Set(after);
  return {
    rowCountBefore: targets.length * ROWS_PER_FILE,
    deletedRowCount: targets.reduce((sum, { deleted }) => sum + deleted.size, 0),
    rowCountAfter: after.length,
    rowsLost: expected.difference(found).size,
    // Those that are there twice, too.
    rowsBack: found.difference(expected).size + after.length - found.size,
  };
}
