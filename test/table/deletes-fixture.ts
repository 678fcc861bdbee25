import { TableWriter } from '../../local/table-writer/index.ts';
import { ManualClock, randomUuid, seededRandom } from '../../shared/base/index.ts';
import { type CatalogFaults, MemoryCatalog } from '../../shared/catalog/index.ts';
import {
  type DeleteTreatment,
  type FileGroupResult,
  rewriteFileGroup,
} from '../../shared/datafile/index.ts';
import {
  createDeleteLoader,
  DeletionVectorWriter,
  writePositionDeleteFile,
} from '../../shared/deletes/index.ts';
import {
  currentSchema,
  type DataFile,
  type FileOfSpec,
  type FormatVersion,
  isDeletionVector,
  type ManifestEntry,
  metricsModes,
  type PartitionField,
  partitionKey,
  type SingleValue,
  snapshotOfRef,
  specById,
} from '../../shared/iceberg/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import {
  attachedIdentities,
  attachedPositionDeletes,
  type CoveredDataFile,
  createManifestReader,
  deleteKey,
  type InputDeletes,
  type ReplaceGroup,
  type RewriteDeletesGroup,
  type ScannedDataFile,
  scanSnapshot,
  sumColumnCounts,
  type Table,
  toReplaceInput,
} from '../../shared/table/index.ts';
import { equalityDeleteFile, positionDeleteFile } from '../deletes/delete-files-fixture.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { readRowsSlowly } from '../support/slow-reader.ts';
import {
  BY_REGION,
  FIELDS,
  IDENTIFIER,
  row,
  type Staged,
  type Warehouse,
} from './replace-fixture.ts';

const LOCATION = 's3://bucket/db/orders';

/** A table with three files of ten rows in `eu` (ids from 0, 10 and 20) and two in `us` (from 100 and 110). */
export async function createTenRowFiles(
  options: {
    readonly formatVersion?: FormatVersion;
    readonly partitionFields?: readonly PartitionField[];
    readonly faults?: CatalogFaults;
  } = {},
): Promise<Warehouse & { readonly files: Readonly<Record<string, FileOfSpec>> }> {
  const { formatVersion = 2, partitionFields = BY_REGION, faults = {} } = options;
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(11);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random, faults });
  const builder = await TableWriter.create(
    { identifier: IDENTIFIER, location: LOCATION, formatVersion, fields: FIELDS, partitionFields },
    { catalog, store, clock, random },
  );
  const newFile = (firstId: number, region: string) => ({
    rows: tenRows(firstId, region),
    partition: partitionFields.length > 0 ? [region] : [],
  });
  const [eu0, eu10, us100] = await builder.append([
    newFile(0, 'eu'),
    newFile(10, 'eu'),
    newFile(100, 'us'),
  ]);
  clock.advanceMs(1000);
  const [eu20, us110] = await builder.append([newFile(20, 'eu'), newFile(110, 'us')]);
  clock.advanceMs(1000);
  const files = { eu0: eu0!, eu10: eu10!, eu20: eu20!, us100: us100!, us110: us110! };
  return { clock, random, store, catalog, builder, ledger: memoryLedger({ clock }), files };
}

export function tenRows(firstId: number, region: string) {
  return Array.from({ length: 10 }, (_, index) => row(BigInt(firstId + index), region));
}

export function positionsOf(...positions: readonly number[]): RoaringBitmap {
  return RoaringBitmap.fromPositions(positions, 'test');
}

/** Writes one Puffin file with a vector for each data file; nothing is committed. */
export async function writeVectors(
  { store, random }: Pick<Warehouse, 'store' | 'random'>,
  vectors: readonly (readonly [FileOfSpec, readonly number[]])[],
): Promise<readonly FileOfSpec[]> {
  const location = `${LOCATION}/data/${randomUuid(random)}.puffin`;
  const writer = new DeletionVectorWriter(async () => ({
    location,
    writer: store.openWriter(location),
  }));
  for (const [{ specId, dataFile }, positions] of vectors) {
    await writer.add({ specId, dataFile, positions: positionsOf(...positions) });
  }
  return writer.close();
}

/** Deletes rows by a vector, in place of the one that the data file has; what it deleted must be named again. */
export async function deleteByVector(
  warehouse: Warehouse,
  file: FileOfSpec,
  positions: readonly number[],
): Promise<FileOfSpec> {
  const [vector] = await writeVectors(warehouse, [[file, positions]]);
  const { filePath } = file.dataFile;
  const before = (await liveDeletes(warehouse)).filter(
    ({ dataFile }) => isDeletionVector(dataFile) && dataFile.referencedDataFile === filePath,
  );
  await warehouse.builder.commit({
    operation: 'delete',
    addedManifests: [[vector!]],
    removedVectors: before.map(({ dataFile }) => dataFile),
  });
  return vector!;
}

/** Deletes rows by a position delete file; of one data file, it is file-scoped by its bounds. */
export async function deleteByPosition(
  warehouse: Warehouse,
  rows: readonly (readonly [FileOfSpec, number])[],
): Promise<FileOfSpec> {
  const file = await positionDeleteFile(
    warehouse,
    rows[0]![0],
    rows.map(([{ dataFile }, position]) => ({ path: dataFile.filePath, position })),
  );
  await warehouse.builder.commit({ operation: 'delete', addedManifests: [[file]] });
  return file;
}

/** Deletes rows by their ids. */
export async function deleteByEquality(
  warehouse: Warehouse,
  place: FileOfSpec,
  ids: readonly number[],
): Promise<FileOfSpec> {
  const file = await equalityDeleteFile(warehouse, place, {
    fields: [FIELDS[0]],
    rows: ids.map((id) => ({ 1: BigInt(id) })),
  });
  await warehouse.builder.commit({ operation: 'delete', addedManifests: [[file]] });
  return file;
}

/** Deletes rows in the way that the table's version has for it. */
export async function deleteRows(
  warehouse: Warehouse,
  file: FileOfSpec,
  positions: readonly number[],
): Promise<FileOfSpec> {
  const { metadata } = await warehouse.builder.load();
  return metadata.formatVersion >= 3
    ? deleteByVector(warehouse, file, positions)
    : deleteByPosition(
        warehouse,
        positions.map((position) => [file, position]),
      );
}

/** Position delete file of one data file, written with our own writer; nothing is committed. */
export async function writePositionDeletes(
  { store, random }: Pick<Warehouse, 'store' | 'random'>,
  { dataFile }: FileOfSpec,
  positions: readonly number[],
): Promise<DataFile> {
  const location = `${LOCATION}/data/${randomUuid(random)}-deletes.parquet`;
  const output = { location, writer: store.openWriter(location) };
  return writePositionDeleteFile({
    dataFile,
    positions: positionsOf(...positions),
    properties: {},
    output,
  });
}

export async function scanFiles(
  { store }: Pick<Warehouse, 'store'>,
  table: Table,
  branch = 'main',
): Promise<{
  readonly files: readonly ScannedDataFile[];
  readonly deletes: readonly ScannedDataFile['entry'][];
}> {
  const files: ScannedDataFile[] = [];
  const deletes: ScannedDataFile['entry'][] = [];
  await scanSnapshot({
    metadata: table.metadata,
    snapshot: snapshotOfRef(table.metadata, branch)!,
    reader: createManifestReader(store),
    skipsMetrics: false,
    visit: (file) => files.push(file),
    visitDeletes: (entry) => deletes.push(entry),
  });
  const firstId = ({ entry }: ScannedDataFile) => entry.dataFile.lowerBounds?.get(1)?.[0] ?? 0;
  return { files: files.sort((one, other) => firstId(one) - firstId(other)), deletes };
}

export async function liveDeletes(
  warehouse: Warehouse,
): Promise<readonly ScannedDataFile['entry'][]> {
  return (await scanFiles(warehouse, await warehouse.builder.load())).deletes;
}

/** Rows of every snapshot, by its id, as another reader sees them. */
export async function readAllSnapshots({
  builder,
  store,
}: Warehouse): Promise<ReadonlyMap<bigint, readonly string[]>> {
  const { metadata, metadataLocation } = await builder.load();
  const rows = new Map<bigint, readonly string[]>();
  for (const { snapshotId } of metadata.snapshots) {
    rows.set(snapshotId, await readRowsSlowly({ store, metadataLocation, snapshotId }));
  }
  return rows;
}

/** Rows of main's head; with row ids in v3. */
export async function readHead({ builder, store }: Warehouse): Promise<readonly string[]> {
  const { metadata, metadataLocation } = await builder.load();
  const withLineage = metadata.formatVersion >= 3;
  return readRowsSlowly({ store, metadataLocation, withLineage });
}

/** What was deleted of some files of one partition, as an operation reads it. */
export async function readInputDeletes(
  { store }: Pick<Warehouse, 'store'>,
  table: Table,
  files: readonly ScannedDataFile[],
): Promise<ReadonlyMap<string, InputDeletes>> {
  const loader = createDeleteLoader({ store, metadata: table.metadata, files });
  const found = new Map<string, InputDeletes>();
  for (const { entry, deletes } of files) {
    const { filePath } = entry.dataFile;
    const applied = attachedIdentities(deletes);
    if (applied.length === 0) continue;
    const byPosition = await loader.readPositionDeletes(filePath);
    const byEquality = await loader.readEqualityDeletes(filePath);
    found.set(filePath, { applied, byPosition, byEquality });
  }
  return found;
}

export interface StageOptions {
  readonly treatment?: DeleteTreatment;
  /** Of the data file's first column; all where absent. */
  readonly partitions?: readonly SingleValue[];
  /** Files to rewrite; all where absent. */
  readonly paths?: readonly string[];
}

/** Rewrites the files of each partition of main's head, with the deletes that apply to them. */
export async function stageRewrites(
  warehouse: Warehouse,
  { treatment = 'carry', partitions, paths }: StageOptions = {},
): Promise<Staged> {
  const table = await warehouse.builder.load();
  const { files } = await scanFiles(warehouse, table);
  const chosen = files.filter(
    ({ entry: { dataFile } }) =>
      (partitions?.includes(dataFile.partition[0] ?? '') ?? true) &&
      (paths?.includes(dataFile.filePath) ?? true),
  );
  const byPartition = Map.groupBy(chosen, ({ entry }) =>
    partitionKey(entry.specId, entry.dataFile.partition),
  );
  const groups: ReplaceGroup[] = [];
  for (const inputs of byPartition.values()) {
    groups.push(await rewriteGroup(warehouse, { table, inputs, treatment }, groups.length));
  }
  const { sequenceNumber } = snapshotOfRef(table.metadata)!;
  return { table, startingSequenceNumber: sequenceNumber, groups };
}

interface GroupToRewrite {
  readonly table: Table;
  readonly inputs: readonly ScannedDataFile[];
  readonly treatment: DeleteTreatment;
}

async function rewriteGroup(
  warehouse: Warehouse,
  group: GroupToRewrite,
  groupIndex: number,
): Promise<ReplaceGroup> {
  const { table, inputs } = group;
  const deletes = await readInputDeletes(warehouse, table, inputs);
  const result = await rewrite(warehouse, group, deletes);
  return {
    groupIndex,
    inputs: inputs.map(({ entry }) => toReplaceInput(entry, deletes.get(entry.dataFile.filePath))),
    inputColumnCounts: sumColumnCounts(inputs.map(({ entry }) => entry.dataFile)),
    ...(result.purgedColumnCounts === undefined
      ? {}
      : { purgedColumnCounts: result.purgedColumnCounts }),
    ...(result.inputRowIds === undefined ? {} : { inputRowIds: result.inputRowIds }),
    outputs: result.outputs,
    positionMap: result.positionMap,
  };
}

function rewrite(
  { store, random }: Warehouse,
  { table: { metadata }, inputs, treatment }: GroupToRewrite,
  deletes: ReadonlyMap<string, InputDeletes>,
): Promise<FileGroupResult> {
  const schema = currentSchema(metadata);
  const sortOrder = { orderId: 0, fields: [], source: {} };
  return rewriteFileGroup({
    inputs: inputs.map(({ entry: { dataFile, dataSequenceNumber } }) => {
      const read = deletes.get(dataFile.filePath);
      const positions = read?.byPosition.union(read.byEquality);
      return {
        dataFile,
        dataSequenceNumber,
        reader: store.openRanged(dataFile.filePath, dataFile.fileSizeBytes),
        ...(positions === undefined ? {} : { deletes: { positions, treatment } }),
      };
    }),
    schema,
    formatVersion: metadata.formatVersion,
    partitionSpec: specById(metadata, inputs[0]!.entry.specId),
    properties: metadata.properties,
    metricsModes: metricsModes(schema, sortOrder, metadata.properties),
    outputSizeBytes: 2 ** 30,
    openOutput: async () => {
      const location = `${LOCATION}/data/${randomUuid(random)}.parquet`;
      return { location, writer: store.openWriter(location) };
    },
  });
}

export interface StagedDeletes {
  readonly table: Table;
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly RewriteDeletesGroup[];
}

export interface FoldOptions {
  /** Whether equality deletes become deletes by position. */
  readonly convertsEquality?: boolean;
  /** Of the data file's first column; all where absent. */
  readonly partitions?: readonly SingleValue[];
  /** Deletes to take away; all that were read where absent. */
  readonly isRemoved?: (entry: ManifestEntry) => boolean;
  /** One group for each data file instead of each partition. */
  readonly isSplit?: boolean;
}

/** Writes the deletes of each partition of main's head anew, one delete file for each data file. */
export async function stageFolds(
  warehouse: Warehouse,
  {
    convertsEquality = false,
    partitions,
    isRemoved = () => true,
    isSplit = false,
  }: FoldOptions = {},
): Promise<StagedDeletes> {
  const table = await warehouse.builder.load();
  const { files } = await scanFiles(warehouse, table);
  const byPartition = Map.groupBy(
    files.filter(({ entry }) => partitions?.includes(entry.dataFile.partition[0] ?? '') ?? true),
    ({ entry }) => partitionKey(entry.specId, entry.dataFile.partition),
  );
  const groups: RewriteDeletesGroup[] = [];
  for (const ofPartition of byPartition.values()) {
    const deletes = await readInputDeletes(warehouse, table, ofPartition);
    const parts = isSplit ? ofPartition.map((file) => [file]) : [ofPartition];
    for (const part of parts) {
      const removedDeletes = attachedTo(part, convertsEquality).filter(isRemoved);
      if (removedDeletes.length === 0) continue;
      const dataFiles: CoveredDataFile[] = [];
      for (const file of part) {
        const read = deletes.get(file.entry.dataFile.filePath);
        dataFiles.push(
          await coverFile(warehouse, table, file, read && chosen(read, convertsEquality)),
        );
      }
      groups.push({ groupIndex: groups.length, dataFiles, removedDeletes });
    }
  }
  return { table, startingSequenceNumber: snapshotOfRef(table.metadata)!.sequenceNumber, groups };
}

function chosen(deletes: InputDeletes, convertsEquality: boolean): InputDeletes {
  if (convertsEquality) return deletes;
  const applied = deletes.applied.filter(({ kind }) => kind !== 'equality-deletes');
  return { applied, byPosition: deletes.byPosition, byEquality: RoaringBitmap.EMPTY };
}

function attachedTo(
  files: readonly ScannedDataFile[],
  convertsEquality: boolean,
): readonly ManifestEntry[] {
  const all = files.flatMap(({ deletes }) => [
    ...attachedPositionDeletes(deletes),
    ...(convertsEquality ? deletes.equalityDeleteFiles : []),
  ]);
  return [...new Map(all.map((entry) => [deleteKey(entry), entry])).values()];
}

async function coverFile(
  warehouse: Warehouse,
  { metadata }: Table,
  { entry }: ScannedDataFile,
  deletes: InputDeletes | undefined,
): Promise<CoveredDataFile> {
  const input = toReplaceInput(entry, deletes);
  if (deletes === undefined) return { input };
  const positions = [...deletes.byPosition.union(deletes.byEquality).positions()];
  if (positions.length === 0) return { input };
  const [vector] =
    metadata.formatVersion >= 3 ? await writeVectors(warehouse, [[entry, positions]]) : [];
  const dataFile = vector?.dataFile ?? (await writePositionDeletes(warehouse, entry, positions));
  const ascending = BigInt64Array.from(deletes.applied, (each) => each.dataSequenceNumber).sort();
  const dataSequenceNumber = ascending.at(-1)!;
  return { input, addedDelete: { dataFile, dataSequenceNumber } };
}
