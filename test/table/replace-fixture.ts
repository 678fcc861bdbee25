import { type Row, TableWriter } from '../../local/table-writer/index.ts';
import {
  type Deadline,
  ManualClock,
  NO_DEADLINE,
  type Random,
  seededRandom,
  silentLogger,
} from '../../shared/base/index.ts';
import { type CatalogFaults, MemoryCatalog } from '../../shared/catalog/index.ts';
import {
  addRowIds,
  NO_ROW_IDS,
  PositionMap,
  type RowIdTally,
  tallyRowIds,
} from '../../shared/datafile/index.ts';
import {
  createSchema,
  type FileOfSpec,
  type FormatVersion,
  type ManifestEntry,
  type PartitionField,
  partitionKey,
} from '../../shared/iceberg/index.ts';
import type { Ledger } from '../../shared/ledger/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { MemoryObjectStore, type ObjectStore } from '../../shared/storage/index.ts';
import {
  type CommitOutcome,
  type CommitPorts,
  commitReplace,
  createManifestReader,
  headOfBranch,
  type ReplaceGroup,
  scanSnapshot,
  sumColumnCounts,
  type Table,
  toReplaceInput,
  workUnderLease,
} from '../../shared/table/index.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

export const IDENTIFIER = { namespace: ['db'], name: 'orders' };

export const FIELDS = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: true, type: { kind: 'string' } },
] as const;

export const ROW_ID = {
  fieldId: 2_147_483_540,
  name: '_row_id',
  isRequired: true,
  type: { kind: 'long' },
} as const;
export const SEQUENCE_NUMBER = {
  ...ROW_ID,
  fieldId: 2_147_483_539,
  name: '_last_updated_sequence_number',
} as const;

export const BY_REGION: readonly PartitionField[] = [
  { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
];

export interface Warehouse {
  readonly clock: ManualClock;
  readonly random: Random;
  readonly store: MemoryObjectStore;
  readonly catalog: MemoryCatalog;
  readonly builder: TableWriter;
  readonly ledger: Ledger;
}

/** A table of five one-row files in `eu` and two in `us`, appended by two snapshots. */
export async function createWarehouse(
  options: {
    readonly formatVersion?: FormatVersion;
    readonly partitionFields?: readonly PartitionField[];
    readonly faults?: CatalogFaults;
  } = {},
): Promise<Warehouse> {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(7);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random, faults: options.faults ?? {} });
  const builder = await TableWriter.create(
    {
      identifier: IDENTIFIER,
      location: 's3://bucket/db/orders',
      formatVersion: options.formatVersion ?? 2,
      fields: FIELDS,
      partitionFields: options.partitionFields ?? BY_REGION,
    },
    { catalog, store, clock, random },
  );
  const isPartitioned = (options.partitionFields ?? BY_REGION).length > 0;
  const file = (id: bigint, region: string) => ({
    rows: [row(id, region)],
    partition: isPartitioned ? [region] : [],
  });
  await builder.append([file(1n, 'eu'), file(2n, 'eu'), file(3n, 'eu'), file(11n, 'us')]);
  clock.advanceMs(1000);
  await builder.append([file(4n, 'eu'), file(5n, 'eu'), file(12n, 'us')]);
  clock.advanceMs(1000);
  return { clock, random, store, catalog, builder, ledger: memoryLedger({ clock }) };
}

export function row(id: bigint, region: string): Row {
  return { 1: id, 2: region };
}

export type TestPorts = Omit<CommitPorts, 'run'> & { readonly ledger: Ledger };

export function ports(warehouse: Warehouse, other: Partial<TestPorts> = {}): TestPorts {
  const { catalog, clock, random, ledger } = warehouse;
  const store: ObjectStore = other.store ?? warehouse.store;
  const deadline: Deadline = NO_DEADLINE;
  return {
    catalog,
    store,
    clock,
    random,
    deadline,
    logger: silentLogger,
    ledger,
    reader: createManifestReader(store),
    ...other,
  };
}

export interface Staged {
  readonly table: Table;
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly ReplaceGroup[];
}

/** One group for each partition of the head, with one output that holds the rows in order of their ids. */
export async function stageByPartition(warehouse: Warehouse, branch = 'main'): Promise<Staged> {
  const table = await warehouse.builder.load();
  const snapshot = headOfBranch(table, branch)!;
  const { store } = warehouse;
  const entries: Parameters<typeof toReplaceInput>[0][] = [];
  await scanSnapshot({
    metadata: table.metadata,
    snapshot,
    reader: createManifestReader(store),
    skipsMetrics: false,
    visit: ({ entry }) => entries.push(entry),
  });
  const byPartition = Map.groupBy(
    entries.toSorted((one, other) => (idOf(one.dataFile) < idOf(other.dataFile) ? -1 : 1)),
    (entry) => partitionKey(entry.specId, entry.dataFile.partition),
  );
  const groups: ReplaceGroup[] = [];
  for (const inputs of byPartition.values()) {
    const first = inputs[0]!;
    const region = first.dataFile.partition[0] ?? 'eu';
    const hasLineage = table.metadata.formatVersion >= 3;
    const hasIds = inputs.every(({ dataFile }) => dataFile.firstRowId !== undefined);
    const output = await warehouse.builder.writeDataFile({
      rows: inputs.map(({ dataFile, dataSequenceNumber }) => ({
        ...row(idOf(dataFile), String(region)),
        [ROW_ID.fieldId]: dataFile.firstRowId ?? null,
        [SEQUENCE_NUMBER.fieldId]: dataSequenceNumber,
      })),
      partition: first.dataFile.partition,
      specId: first.specId,
      layout: { encoding: 'PLAIN' },
      ...(hasIds ? { schema: createSchema(0, [...FIELDS, ROW_ID, SEQUENCE_NUMBER]) } : {}),
    });
    groups.push({
      groupIndex: groups.length,
      inputs: inputs.map((entry) => toReplaceInput(entry)),
      inputColumnCounts: sumColumnCounts(inputs.map((entry) => entry.dataFile)),
      ...(hasLineage ? { inputRowIds: await rowIdsOf(inputs, store) } : {}),
      outputs: [{ dataFile: output.dataFile, deletedPositions: RoaringBitmap.EMPTY }],
      positionMap: mapInOrder(inputs),
    });
  }
  return { table, startingSequenceNumber: snapshot.sequenceNumber, groups };
}

/** Every row of the inputs, one file after the other, in one output. */
function mapInOrder(inputs: readonly ManifestEntry[]): PositionMap {
  const rowCounts = inputs.map(({ dataFile }) => dataFile.recordCount);
  return PositionMap.of({
    inputs: rowCounts.map((rowCount) => ({ rowCount, gone: RoaringBitmap.EMPTY })),
    outputRowCounts: [rowCounts.reduce((sum, rowCount) => sum + rowCount, 0)],
    rows: {
      kind: 'ranges',
      ranges: rowCounts.map((rowCount, inputIndex) => ({ inputIndex, firstKept: 0, rowCount })),
    },
  });
}

async function rowIdsOf(
  entries: readonly ManifestEntry[],
  store: ObjectStore,
): Promise<RowIdTally> {
  let rowIds = NO_ROW_IDS;
  for (const { dataFile } of entries) {
    const { filePath, fileSizeBytes, firstRowId } = dataFile;
    const reader = store.openRanged(filePath, fileSizeBytes);
    const file = await readParquetFooter(reader);
    const inherited = firstRowId === undefined ? {} : { firstRowId };
    rowIds = addRowIds(rowIds, await tallyRowIds({ reader, file, ...inherited }));
  }
  return rowIds;
}

/** The id of a one-row file, from its lower bound. */
function idOf(dataFile: FileOfSpec['dataFile']): bigint {
  const bound = dataFile.lowerBounds?.get(1);
  return bound === undefined
    ? 0n
    : new DataView(bound.buffer, bound.byteOffset).getBigInt64(0, true);
}

/** Commits as a run of its own, as operations do. */
export function commit(
  staged: Staged,
  testPorts: TestPorts,
  branch = 'main',
  runId = 'run-1',
): Promise<CommitOutcome> {
  const work = (commitPorts: CommitPorts) => commitReplace({ ...staged, branch }, commitPorts);
  return asRun(testPorts, work, runId);
}

/** Does something as a run, from its lease to its end. */
export async function asRun<Result>(
  testPorts: TestPorts,
  work: (commitPorts: CommitPorts) => Promise<Result>,
  runId = 'run-1',
): Promise<Result> {
  const ended = await workUnderLease<{ readonly result: Result }>(
    { identifier: IDENTIFIER, operation: 'test', runId },
    testPorts,
    {
      work: async ({ openRun }) => {
        const run = await openRun();
        return { result: await work({ ...testPorts, store: run.store, run }) };
      },
      report: async () => {},
    },
  );
  if (!('result' in ended)) throw new TypeError('the table has one run at a time');
  return ended.result;
}
