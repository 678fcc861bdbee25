import { parseTableMetadata, type Schema, type TableMetadata } from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { readAvroSlowly } from './slow-avro.ts';
import { canonicalField } from './slow-canonical.ts';
import { readParquetSlowly, type SlowParquetFile } from './slow-parquet-rows.ts';

/**
 * The oracle of the tests: reads a table row by row from its metadata file, without pruning, statistics or
 * anything of shared/table, shared/datafile, shared/parquet or shared/avro. What it returns must be the same
 * before and after maintenance.
 */
export interface SlowReadOptions {
  readonly store: ObjectStore;
  readonly metadataLocation: string;
  /** The table's current snapshot if absent. */
  readonly snapshotId?: bigint;
  /** Put `_row_id` and `_last_updated_sequence_number` before the columns (v3). */
  readonly withLineage?: boolean;
}

const OBJECT_BYTES_MAX = 1024 ** 3;
const ROW_ID_FIELD_ID = 2147483540;
const LAST_UPDATED_FIELD_ID = 2147483539;

interface LiveFile {
  readonly filePath: string;
  readonly dataSequenceNumber: bigint;
  readonly firstRowId: bigint | null;
}

/** The rows of a snapshot as canonical texts, sorted: two tables hold the same rows if these are equal. */
export async function readRowsSlowly(options: SlowReadOptions): Promise<string[]> {
  const { store, metadataLocation } = options;
  const bytes = await store.read(metadataLocation, OBJECT_BYTES_MAX);
  const metadata = parseTableMetadata(bytes, metadataLocation);
  const snapshotId = options.snapshotId ?? metadata.currentSnapshotId;
  if (snapshotId === undefined) return [];
  const schema = readSchema(metadata, snapshotId);
  const rows: string[] = [];
  for (const file of await listLiveFiles(store, metadata, snapshotId)) {
    const parquet = await readParquetSlowly(await store.read(file.filePath, OBJECT_BYTES_MAX));
    for (let position = 0; position < parquet.rows.length; position++) {
      const lineage = options.withLineage ? `${lineageText(file, parquet, position)}|` : '';
      rows.push(lineage + rowText(schema, parquet, position));
    }
  }
  return rows.sort();
}

function readSchema(metadata: TableMetadata, snapshotId: bigint): Schema {
  const isCurrent = snapshotId === metadata.currentSnapshotId;
  const schemaId = isCurrent
    ? metadata.currentSchemaId
    : (metadata.snapshots.find((one) => one.snapshotId === snapshotId)?.schemaId ??
      metadata.currentSchemaId);
  return metadata.schemas.find((one) => one.schemaId === schemaId)!;
}

function rowText(schema: Schema, parquet: SlowParquetFile, position: number): string {
  const row = parquet.rows[position]!;
  return schema.fields.map((field) => canonicalField(field, parquet.root.children, row)).join('|');
}

function lineageText(file: LiveFile, parquet: SlowParquetFile, position: number): string {
  if (file.firstRowId === null) return 'null|null';
  const rowId =
    storedLong(parquet, position, ROW_ID_FIELD_ID) ?? file.firstRowId + BigInt(position);
  const lastUpdated =
    storedLong(parquet, position, LAST_UPDATED_FIELD_ID) ?? file.dataSequenceNumber;
  return `${rowId}|${lastUpdated}`;
}

function storedLong(parquet: SlowParquetFile, position: number, fieldId: number): bigint | null {
  const node = parquet.root.children.find(({ element }) => element.field_id === fieldId);
  if (node === undefined) return null;
  return (parquet.rows[position]![node.element.name] as bigint | null | undefined) ?? null;
}

async function listLiveFiles(
  store: ObjectStore,
  metadata: TableMetadata,
  snapshotId: bigint,
): Promise<LiveFile[]> {
  const snapshot = metadata.snapshots.find((one) => one.snapshotId === snapshotId)!;
  const manifestList = await store.read(snapshot.manifestList!, OBJECT_BYTES_MAX);
  const files: LiveFile[] = [];
  for (const manifest of await readAvroSlowly(manifestList)) {
    const manifestBytes = await store.read(manifest.manifest_path as string, OBJECT_BYTES_MAX);
    const entries = await readAvroSlowly(manifestBytes);
    if (manifest.content === 1) {
      requireNoDeletes(entries);
    } else {
      files.push(...liveFilesOf(manifest, entries));
    }
  }
  return files;
}

function liveFilesOf(
  manifest: Readonly<Record<string, unknown>>,
  entries: readonly Readonly<Record<string, unknown>>[],
): LiveFile[] {
  const files: LiveFile[] = [];
  let firstRowIdNext = (manifest.first_row_id as bigint | null | undefined) ?? null;
  for (const entry of entries) {
    if (entry.status === 2) continue;
    const dataFile = entry.data_file as Readonly<Record<string, unknown>>;
    let firstRowId =
      firstRowIdNext === null ? null : ((dataFile.first_row_id ?? null) as bigint | null);
    if (firstRowId === null && firstRowIdNext !== null) {
      firstRowId = firstRowIdNext;
      firstRowIdNext += dataFile.record_count as bigint;
    }
    files.push({
      filePath: dataFile.file_path as string,
      dataSequenceNumber: (entry.sequence_number ?? manifest.sequence_number ?? 0n) as bigint,
      firstRowId,
    });
  }
  return files;
}

function requireNoDeletes(entries: readonly Readonly<Record<string, unknown>>[]): void {
  if (entries.every((entry) => entry.status === 2)) return;
  throw new TypeError('slow reader: the table has delete files');
}
