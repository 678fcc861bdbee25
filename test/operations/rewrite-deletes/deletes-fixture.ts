import { type Row, TableWriter, writeParquetDataFile } from '../../../local/table-writer/index.ts';
import {
  ManualClock,
  NO_DEADLINE,
  type Random,
  seededRandom,
  silentLogger,
} from '../../../shared/base/index.ts';
import { MemoryCatalog } from '../../../shared/catalog/index.ts';
import { DeletionVectorWriter, writePositionDeleteFile } from '../../../shared/deletes/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import {
  createSchema,
  type FileOfSpec,
  type FormatVersion,
  isDeletionVector,
  type NestedField,
  type PartitionField,
} from '../../../shared/iceberg/index.ts';
import type { Ledger } from '../../../shared/ledger/index.ts';
import type { OperationPorts, OptionTexts } from '../../../shared/maintenance/index.ts';
import {
  type RewriteDeletesOutcome,
  type RewriteDeletesRequest,
  rewriteDeletes,
} from '../../../shared/operations/rewrite-deletes/index.ts';
import { RoaringBitmap } from '../../../shared/roaring/index.ts';
import { MemoryObjectStore } from '../../../shared/storage/index.ts';
import { createManifestReader, scanSnapshot } from '../../../shared/table/index.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { readRowsSlowly } from '../../support/slow-reader.ts';

const IDENTIFIER = { namespace: ['db'], name: 'orders' };

export const FIELDS = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: false, type: { kind: 'string' } },
  { fieldId: 3, name: 'amount', isRequired: false, type: { kind: 'double' } },
] as const;

export const BY_REGION: readonly PartitionField[] = [
  { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
];

const FILE_PATH = {
  fieldId: 2_147_483_546,
  name: 'file_path',
  isRequired: true,
  type: { kind: 'string' },
} as const;
const POS = {
  fieldId: 2_147_483_545,
  name: 'pos',
  isRequired: true,
  type: { kind: 'long' },
} as const;

export interface Warehouse {
  readonly clock: ManualClock;
  readonly random: Random;
  readonly store: MemoryObjectStore;
  readonly catalog: MemoryCatalog;
  readonly writer: TableWriter;
  readonly ledger: Ledger;
  readonly nextRunId: () => string;
}

/** An empty table, by region unless told otherwise. */
export async function createWarehouse(
  options: {
    readonly formatVersion?: FormatVersion;
    readonly partitionFields?: readonly PartitionField[];
    readonly properties?: Readonly<Record<string, string>>;
  } = {},
): Promise<Warehouse> {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(11);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random });
  const writer = await TableWriter.create(
    {
      identifier: IDENTIFIER,
      location: 's3://bucket/db/orders',
      formatVersion: options.formatVersion ?? 2,
      fields: FIELDS,
      partitionFields: options.partitionFields ?? BY_REGION,
      properties: options.properties ?? {},
    },
    { catalog, store, clock, random },
  );
  let runCount = 0;
  const ledger = memoryLedger({ clock });
  const nextRunId = (): string => `run-${++runCount}`;
  return { clock, random, store, catalog, writer, ledger, nextRunId };
}

/** Rows of consecutive ids; every fifth has no amount. */
export function rows(firstId: number, count: number, region: string | null): readonly Row[] {
  return Array.from({ length: count }, (_, index) => ({
    1: BigInt(firstId + index),
    2: region,
    3: index % 5 === 0 ? null : (firstId + index) / 4,
  }));
}

/** Appends one file of ten rows in a region. */
export async function append(
  { writer }: Warehouse,
  firstId: number,
  region = 'eu',
  rowCount = 10,
): Promise<FileOfSpec> {
  const { metadata } = await writer.load();
  const isPartitioned =
    metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId)?.fields
      .length !== 0;
  const [file] = await writer.append([
    { rows: rows(firstId, rowCount, region), partition: isPartitioned ? [region] : [] },
  ]);
  return file!;
}

let deleteFileCount = 0;

function newPath(extension: string): string {
  return `s3://bucket/db/orders/data/deletes-${deleteFileCount++}.${extension}`;
}

/** A position delete file of one data file, not committed. */
export async function fileScopedDelete(
  { store }: Warehouse,
  { specId, dataFile }: FileOfSpec,
  positions: readonly number[],
): Promise<FileOfSpec> {
  const location = newPath('parquet');
  const output = { location, writer: store.openWriter(location) };
  const written = await writePositionDeleteFile({
    dataFile,
    positions: RoaringBitmap.fromPositions(positions, 'test'),
    properties: {},
    output,
  });
  return { specId, dataFile: written };
}

/** A position delete file of several data files of one partition, not committed. */
export async function partitionScopedDelete(
  { store }: Warehouse,
  deletes: readonly { readonly file: FileOfSpec; readonly positions: readonly number[] }[],
): Promise<FileOfSpec> {
  const named = deletes
    .flatMap(({ file, positions }) =>
      positions.map((position) => ({ path: file.dataFile.filePath, position })),
    )
    .sort((a, b) => (a.path === b.path ? a.position - b.position : a.path < b.path ? -1 : 1));
  const { bytes, fields } = writeParquetDataFile(
    createSchema(0, [FILE_PATH, POS]),
    named.map(({ path, position }) => ({
      [FILE_PATH.fieldId]: path,
      [POS.fieldId]: BigInt(position),
    })),
  );
  const filePath = newPath('parquet');
  await store.write(filePath, bytes);
  const { specId, dataFile } = deletes[0]!.file;
  // Bounds that are equal would make it a delete file of one data file.
  const { lowerBounds: _lower, upperBounds: _upper, ...rest } = fields;
  return {
    specId,
    dataFile: { ...rest, content: 'position-deletes', filePath, partition: dataFile.partition },
  };
}

/** An equality delete file, not committed. */
export async function equalityDelete(
  { store }: Warehouse,
  place: Pick<FileOfSpec, 'specId'> & {
    readonly dataFile: Pick<FileOfSpec['dataFile'], 'partition'>;
  },
  deleted: readonly Row[],
  fields: readonly NestedField[] = [FIELDS[0]],
): Promise<FileOfSpec> {
  const written = writeParquetDataFile(createSchema(0, fields), deleted);
  const filePath = newPath('parquet');
  await store.write(filePath, written.bytes);
  return {
    specId: place.specId,
    dataFile: {
      ...written.fields,
      content: 'equality-deletes',
      filePath,
      partition: place.dataFile.partition,
      equalityIds: fields.map(({ fieldId }) => fieldId),
    },
  };
}

/** Vectors in one Puffin file, not committed. */
export async function vectors(
  { store }: Warehouse,
  deletes: readonly { readonly file: FileOfSpec; readonly positions: readonly number[] }[],
): Promise<readonly FileOfSpec[]> {
  const location = newPath('puffin');
  const writer = new DeletionVectorWriter(async () => ({
    location,
    writer: store.openWriter(location),
  }));
  for (const { file, positions } of deletes) {
    await writer.add({ ...file, positions: RoaringBitmap.fromPositions(positions, 'test') });
  }
  return writer.close();
}

/** Commits delete files in one manifest for each spec. */
export async function commitDeletes(
  { writer, clock }: Warehouse,
  files: readonly FileOfSpec[],
  removedPaths: readonly string[] = [],
): Promise<void> {
  const addedManifests = [...Map.groupBy(files, ({ specId }) => specId).values()];
  await writer.commit({ operation: 'delete', addedManifests, removedPaths });
  clock.advanceMs(1000);
}

export async function run(
  warehouse: Warehouse,
  options: OptionTexts = {},
  other: Partial<RewriteDeletesRequest> & { readonly ports?: Partial<OperationPorts> } = {},
): Promise<RewriteDeletesOutcome> {
  const { catalog, store, clock, random, writer, ledger, nextRunId } = warehouse;
  const { ports, ...request } = other;
  return rewriteDeletes(
    {
      table: await writer.load(),
      options,
      mode: 'commit',
      runId: nextRunId(),
      guards: LOWERED_GUARD_SETTINGS,
      ...request,
    },
    {
      catalog,
      store,
      ledger,
      clock,
      random,
      deadline: NO_DEADLINE,
      logger: silentLogger,
      ...ports,
    },
  );
}

/** The rows of every snapshot that the table retains, by snapshot id, with their lineage in v3. */
export async function rowsBySnapshot({
  store,
  writer,
}: Warehouse): Promise<Readonly<Record<string, readonly string[]>>> {
  const { metadata, metadataLocation } = await writer.load();
  const found: Record<string, readonly string[]> = {};
  for (const { snapshotId } of metadata.snapshots) {
    const rowTexts = await readRowsSlowly({ store, metadataLocation, snapshotId });
    found[String(snapshotId)] = rowTexts;
  }
  return found;
}

/** The rows of the current snapshot. */
export async function currentRows({ store, writer }: Warehouse): Promise<readonly string[]> {
  const { metadataLocation } = await writer.load();
  return readRowsSlowly({ store, metadataLocation });
}

export interface LiveDelete {
  readonly kind: 'vector' | 'position' | 'equality';
  readonly filePath: string;
  readonly referencedDataFile: string | undefined;
  readonly dataSequenceNumber: bigint;
  readonly recordCount: number;
  readonly contentOffset: number | undefined;
  readonly contentSizeBytes: number | undefined;
  readonly specId: number;
}

/** Live delete files of the current snapshot. */
export async function liveDeletes({ store, writer }: Warehouse): Promise<readonly LiveDelete[]> {
  const { metadata } = await writer.load();
  const snapshot = metadata.snapshots.find(
    ({ snapshotId }) => snapshotId === metadata.currentSnapshotId,
  );
  const found: LiveDelete[] = [];
  if (snapshot === undefined) return found;
  await scanSnapshot({
    metadata,
    snapshot,
    reader: createManifestReader(store),
    skipsMetrics: false,
    visit: () => {},
    visitDeletes: ({ dataFile, dataSequenceNumber, specId }) => {
      const { filePath, referencedDataFile, recordCount, contentOffset, contentSizeBytes } =
        dataFile;
      const kind = isDeletionVector(dataFile)
        ? 'vector'
        : dataFile.content === 'equality-deletes'
          ? 'equality'
          : 'position';
      found.push({
        kind,
        filePath,
        referencedDataFile,
        dataSequenceNumber,
        recordCount,
        contentOffset,
        contentSizeBytes,
        specId,
      });
    },
  });
  return found.sort((a, b) => (a.filePath < b.filePath ? -1 : 1));
}
