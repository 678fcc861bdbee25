import { type UnreadableReason, unreadableReason } from '../../deletes/index.ts';
import {
  type DataFile,
  hasUnrecognizedTransform,
  isDeletionVector,
  isUnpartitioned,
  type ManifestEntry,
  partitionKey,
  partitionPath,
  referencedDataFile,
  type Snapshot,
  specById,
  type TableMetadata,
  tablePartitionType,
} from '../../iceberg/index.ts';
import {
  deleteKey,
  type ManifestReader,
  type ScannedDataFile,
  scanSnapshot,
} from '../../table/index.ts';
import type { PlanBuilder } from './plan.ts';
import type {
  DeleteKind,
  ManifestBytes,
  ScannedDelete,
  ScannedFile,
  ScannedPartition,
} from './scanned.ts';
import type { TouchedPartitions } from './touched-partitions.ts';

/** Live delete files of a table, by kind, and the data files beside them. */
export interface DeleteCounts {
  readonly dataFileCount: number;
  readonly vectorCount: number;
  readonly puffinFileCount: number;
  readonly positionDeleteFileCount: number;
  readonly equalityDeleteFileCount: number;
  /** Of all of them, whether or not a data file has them still. */
  readonly deleteRowCount: number;
  /** Of delete files, Puffin files as a whole. */
  readonly deleteFileBytes: number;
}

export interface ScannedTable {
  readonly counts: DeleteCounts;
  readonly manifests: ManifestBytes;
}

/** Shows every live file of a snapshot to the planner, delete files first, and counts them. */
export async function scanDeletes(
  builder: PlanBuilder,
  {
    metadata,
    snapshot,
    reader,
    touched,
  }: {
    readonly metadata: TableMetadata;
    readonly snapshot: Snapshot;
    readonly reader: ManifestReader;
    readonly touched: TouchedPartitions;
  },
): Promise<ScannedTable> {
  const places = createPlaces(metadata, touched);
  const counts = createCounts();
  const keys = new Map<ManifestEntry, string>();
  const keysOf = (entries: readonly ManifestEntry[]): readonly string[] =>
    entries.map((entry) => keys.get(entry) ?? deleteKey(entry));
  await scanSnapshot({
    metadata,
    snapshot,
    reader,
    skipsMetrics: true,
    visitDeletes: (entry) => {
      const scanned = toScannedDelete(entry, places.of(entry), metadata);
      keys.set(entry, scanned.deleteKey);
      counts.addDelete(scanned);
      builder.addDelete(scanned);
    },
    visit: (file) => {
      counts.addDataFile();
      builder.addFile(toScannedFile(file, places.of(file.entry), keysOf));
    },
  });
  return { counts: counts.read(), manifests: await manifestBytes(metadata, snapshot, reader) };
}

async function manifestBytes(
  metadata: TableMetadata,
  snapshot: Snapshot,
  reader: ManifestReader,
): Promise<ManifestBytes> {
  const bytes = { data: 0, deletes: 0 };
  for (const manifest of await reader.readList(metadata, snapshot)) {
    const { addedFilesCount, existingFilesCount, content, manifestLengthBytes } = manifest;
    if (addedFilesCount !== 0 || existingFilesCount !== 0) bytes[content] += manifestLengthBytes;
  }
  return { dataManifestBytes: bytes.data, deleteManifestBytes: bytes.deletes };
}

function createCounts() {
  const puffinPaths = new Set<string>();
  const byKind = { vector: 0, 'file-scoped': 0, 'partition-scoped': 0, equality: 0 };
  let [dataFileCount, deleteRowCount, deleteFileBytes] = [0, 0, 0];
  return {
    addDataFile(): void {
      dataFileCount++;
    },
    addDelete({ kind, recordCount, filePath, fileSizeBytes }: ScannedDelete): void {
      byKind[kind]++;
      deleteRowCount += recordCount;
      if (kind === 'vector' && puffinPaths.has(filePath)) return;
      if (kind === 'vector') puffinPaths.add(filePath);
      deleteFileBytes += fileSizeBytes;
    },
    read: (): DeleteCounts => ({
      dataFileCount,
      vectorCount: byKind.vector,
      puffinFileCount: puffinPaths.size,
      positionDeleteFileCount: byKind['file-scoped'] + byKind['partition-scoped'],
      equalityDeleteFileCount: byKind.equality,
      deleteRowCount,
      deleteFileBytes,
    }),
  };
}

/** Resolves each partition once, since there are many files in each; the texts are shared by them. */
function createPlaces(
  metadata: TableMetadata,
  touched: TouchedPartitions,
): { of(entry: ManifestEntry): ScannedPartition } {
  const known = new Map<string, ScannedPartition>();
  return {
    of({ specId, dataFile }) {
      const key = partitionKey(specId, dataFile.partition);
      const place = known.get(key) ?? resolve(key);
      known.set(key, place);
      return place;

      function resolve(partitionKey: string): ScannedPartition {
        const spec = specById(metadata, specId);
        const dueAtMs = touched.dueAtMs(partitionKey);
        return {
          specId,
          partitionKey,
          partition: partitionPath(spec, tablePartitionType(metadata, spec), dataFile.partition),
          isSpecWritable: !hasUnrecognizedTransform(spec),
          ...(dueAtMs === undefined ? {} : { dueAtMs }),
        };
      }
    },
  };
}

function toScannedDelete(
  entry: ManifestEntry,
  place: ScannedPartition,
  metadata: TableMetadata,
): ScannedDelete {
  const { dataFile, dataSequenceNumber } = entry;
  const { filePath, recordCount, fileSizeBytes, contentSizeBytes } = dataFile;
  const kind = kindOf(entry);
  const path = referencedDataFile(entry);
  const unreadable = unreadableReason(entry, metadata);
  return {
    ...place,
    deleteKey: deleteKey(entry),
    filePath,
    kind,
    isGlobal: kind === 'equality' && isUnpartitioned(specById(metadata, entry.specId)),
    recordCount,
    fileSizeBytes,
    contentSizeBytes: kind === 'vector' ? (contentSizeBytes ?? fileSizeBytes) : fileSizeBytes,
    dataSequenceNumber,
    ...(path === undefined ? {} : { referencedDataFile: path }),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

function kindOf(entry: ManifestEntry): DeleteKind {
  if (entry.dataFile.content === 'equality-deletes') return 'equality';
  if (isDeletionVector(entry.dataFile)) return 'vector';
  return referencedDataFile(entry) === undefined ? 'partition-scoped' : 'file-scoped';
}

function isParquet({ fileFormat }: DataFile): boolean {
  return fileFormat.toUpperCase() === 'PARQUET';
}

function toScannedFile(
  { entry, deletes }: ScannedDataFile,
  place: ScannedPartition,
  keysOf: (entries: readonly ManifestEntry[]) => readonly string[],
): ScannedFile {
  const { dataFile, dataSequenceNumber } = entry;
  const { filePath, recordCount, fileSizeBytes, keyMetadata } = dataFile;
  const unreadable: UnreadableReason | undefined =
    keyMetadata !== undefined
      ? 'encrypted'
      : isParquet(dataFile)
        ? undefined
        : 'unsupported-format';
  return {
    ...place,
    filePath,
    recordCount,
    fileSizeBytes,
    dataSequenceNumber,
    vectorKeys: keysOf(deletes.deletionVectors),
    fileScopedKeys: keysOf(deletes.fileScopedPositionDeleteFiles),
    partitionScopedKeys: keysOf(deletes.partitionScopedPositionDeleteFiles),
    equalityDeleteCount: deletes.equalityDeleteFiles.length,
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}
