import { existsSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../shared/base/index.ts';
import { toHex } from '../../shared/bytes/index.ts';
import {
  type DataFile,
  type ManifestContext,
  type ManifestEntry,
  type ManifestFile,
  parseTableMetadata,
  readManifestList,
  type TableMetadata,
} from '../../shared/iceberg/index.ts';
import { goldenJson, goldenMetadata, goldenValue, primitiveOf } from './java-goldens.ts';

const FIXTURES = new URL('../fixtures/iceberg-java/', import.meta.url);

/** A manifest list or manifest of a golden table, with what Java read from it. */
export interface GoldenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly decoded: readonly JsonObject[];
  readonly metadata: TableMetadata;
}

export interface GoldenManifest extends GoldenFile {
  /** Its entry in the list of the first snapshot that has it, as Java read it. */
  readonly manifest: ManifestFile;
  readonly context: ManifestContext;
}

/** The manifest lists of the golden tables, in snapshot order. */
export function goldenManifestLists(): readonly GoldenFile[] {
  return goldenMetadata().flatMap(({ location, bytes }) => {
    const metadata = parseTableMetadata(bytes, location);
    const lists = metadata.snapshots.flatMap(({ manifestList }) => manifestList ?? []);
    // Of the tables of transforms only the last list was kept.
    return lists.filter(isKept).map((list) => goldenFile(list, metadata));
  });
}

/** The manifests of the golden tables. */
export function goldenManifests(): readonly GoldenManifest[] {
  const manifests = new Map<string, GoldenManifest>();
  for (const list of goldenManifestLists()) {
    const { metadata } = list;
    for (const manifest of readManifestList(list.bytes, list.name, metadata.formatVersion)) {
      if (manifests.has(manifest.manifestPath)) continue;
      const golden = goldenFile(manifest.manifestPath, metadata);
      const context = manifestContext(metadata);
      manifests.set(manifest.manifestPath, { ...golden, manifest, context });
    }
  }
  return [...manifests.values()];
}

export function manifestContext(metadata: TableMetadata): ManifestContext {
  const newestFirst = metadata.schemas.toSorted((one, other) => other.schemaId - one.schemaId);
  const isCurrent = ({ schemaId }: { schemaId: number }) => schemaId === metadata.currentSchemaId;
  const schemas = [
    ...newestFirst.filter(isCurrent),
    ...newestFirst.filter((schema) => !isCurrent(schema)),
  ];
  return { specs: metadata.partitionSpecs, schemas };
}

function isKept(location: string): boolean {
  return existsSync(new URL(fixturePath(location), FIXTURES));
}

function fixturePath(location: string): string {
  return location.replace('s3://warehouse/golden/', 'tables/');
}

function goldenFile(location: string, metadata: TableMetadata): GoldenFile {
  const path = fixturePath(location);
  const decoded = goldenJson(`${path}.decoded.json`) as readonly JsonObject[];
  return { name: location, bytes: readFileSync(new URL(path, FIXTURES)), decoded, metadata };
}

/** A manifest-list entry in the form of the decoded files. */
export function describeManifest(manifest: ManifestFile): Record<string, unknown> {
  return {
    manifest_path: manifest.manifestPath,
    manifest_length: manifest.manifestLengthBytes,
    partition_spec_id: manifest.partitionSpecId,
    content: manifest.content === 'data' ? 0 : 1,
    sequence_number: manifest.sequenceNumber,
    min_sequence_number: manifest.minSequenceNumber,
    added_snapshot_id: manifest.addedSnapshotId,
    added_files_count: manifest.addedFilesCount,
    existing_files_count: manifest.existingFilesCount,
    deleted_files_count: manifest.deletedFilesCount,
    added_rows_count: manifest.addedRowsCount,
    existing_rows_count: manifest.existingRowsCount,
    deleted_rows_count: manifest.deletedRowsCount,
    first_row_id: manifest.firstRowId ?? null,
    partitions: manifest.partitions?.map((summary) => ({
      contains_null: summary.containsNull,
      contains_nan: summary.containsNan,
      lower_bound: hexOrNull(summary.lowerBound),
      upper_bound: hexOrNull(summary.upperBound),
    })),
  };
}

/** What Java read of a manifest-list entry, with ids as bigints. */
export function expectedManifest(decoded: JsonObject): Record<string, unknown> {
  const { partition_type: _type, ...fields } = decoded;
  return {
    ...fields,
    sequence_number: bigintOrNull(fields['sequence_number']),
    min_sequence_number: bigintOrNull(fields['min_sequence_number']),
    added_snapshot_id: bigintOrNull(fields['added_snapshot_id']),
    first_row_id: bigintOrNull(fields['first_row_id']),
  };
}

/** An entry in the form of `expectedEntry`. */
export function describeEntry(entry: ManifestEntry): Record<string, unknown> {
  return {
    status: ['existing', 'added', 'deleted'].indexOf(entry.status),
    snapshot_id: entry.snapshotId,
    sequence_number: entry.dataSequenceNumber,
    file_sequence_number: entry.fileSequenceNumber ?? null,
    data_file: describeDataFile(entry.dataFile),
  };
}

function describeDataFile(file: DataFile): Record<string, unknown> {
  return {
    content: ['data', 'position-deletes', 'equality-deletes'].indexOf(file.content),
    file_path: file.filePath,
    file_format: file.fileFormat,
    partition: file.partition,
    record_count: file.recordCount,
    file_size_in_bytes: file.fileSizeBytes,
    column_sizes: mapOrNull(file.columnSizes),
    value_counts: mapOrNull(file.valueCounts),
    null_value_counts: mapOrNull(file.nullValueCounts),
    nan_value_counts: mapOrNull(file.nanValueCounts),
    lower_bounds: hexMapOrNull(file.lowerBounds),
    upper_bounds: hexMapOrNull(file.upperBounds),
    key_metadata: hexOrNull(file.keyMetadata),
    split_offsets: file.splitOffsets ?? null,
    equality_ids: file.equalityIds ?? null,
    sort_order_id: file.sortOrderId ?? null,
    first_row_id: file.firstRowId ?? null,
    referenced_data_file: file.referencedDataFile ?? null,
    content_offset: file.contentOffset ?? null,
    content_size_in_bytes: file.contentSizeBytes ?? null,
  };
}

/** What Java read of an entry, with ids as bigints and partition values as Firn has them. */
export function expectedEntry(decoded: JsonObject): Record<string, unknown> {
  const file = decoded['data_file'];
  if (!isJsonObject(file)) throw new TypeError('golden entry without data_file');
  const { partition_path: _path, ...fields } = file;
  return {
    status: decoded['status'],
    snapshot_id: BigInt(decoded['snapshot_id'] as number),
    sequence_number: BigInt(decoded['sequence_number'] as number),
    file_sequence_number: bigintOrNull(decoded['file_sequence_number']),
    data_file: {
      ...describeAbsent,
      ...fields,
      partition: (file['partition'] as readonly JsonObject[]).map((field) =>
        goldenValue(primitiveOf(String(field['type'])), field['value']),
      ),
      first_row_id: bigintOrNull(file['first_row_id']),
    },
  };
}

/** Java gives these of delete files only. */
const describeAbsent = {
  referenced_data_file: null,
  content_offset: null,
  content_size_in_bytes: null,
};

function bigintOrNull(value: unknown): bigint | null {
  return value === null || value === undefined ? null : BigInt(value as number);
}

function hexOrNull(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : toHex(bytes);
}

function mapOrNull(map: ReadonlyMap<number, number> | undefined): unknown {
  return map === undefined ? null : Object.fromEntries(map);
}

function hexMapOrNull(map: ReadonlyMap<number, Uint8Array> | undefined): unknown {
  if (map === undefined) return null;
  return Object.fromEntries([...map].map(([id, bytes]) => [id, toHex(bytes)]));
}
