import {
  type AvroCodec,
  type AvroRecord,
  parseAvroType,
  serializeAvroFile,
  serializeAvroType,
} from '../avro/index.ts';
import { assert, IcebergError, type JsonValue } from '../base/index.ts';
import { MANIFEST_FILE, toAvroField } from './manifest-fields.ts';
import type { FieldSummary, ManifestFile } from './manifest-types.ts';
import { type ExtendedRecord, withUnknownFields } from './manifest-unknown.ts';
import type { FormatVersion } from './metadata-types.ts';

export interface ManifestListContent {
  readonly formatVersion: FormatVersion;
  readonly snapshotId: bigint;
  readonly parentSnapshotId?: bigint;
  /** Of the snapshot; not written in v1. */
  readonly sequenceNumber: bigint;
  /** The snapshot's `first-row-id`; v3 only. */
  readonly firstRowId?: bigint;
  /** In v3 every data manifest has its `firstRowId` (see `assignFirstRowIds`). */
  readonly manifests: readonly ManifestFile[];
  /** `deflate` where it is not given, as Iceberg Java. */
  readonly codec?: AvroCodec;
}

/**
 * Writes a manifest list. The same content gives the same bytes.
 *
 * @throws unsupported — when a manifest of v1 has no counts, which v2 and v3 require, or v1 is to list deletes
 * @see Iceberg spec, "Manifest Lists"
 */
export function writeManifestList(content: ManifestListContent): Uint8Array {
  const { formatVersion, manifests } = content;
  const subject = `manifest list of snapshot ${content.snapshotId}`;
  const base = parseAvroType(listSchema(formatVersion), subject);
  const unknownFields = manifests.map((manifest) => manifest.unknownFields);
  const record = withUnknownFields(base, unknownFields, subject);
  for (const manifest of manifests) requireWritable(manifest, formatVersion, subject);
  return serializeAvroFile(
    {
      schema: serializeAvroType(record.type),
      metadata: listMetadata(content),
      records: manifests.map((manifest) => toRecord(manifest, record)),
      codec: content.codec ?? 'deflate',
    },
    subject,
  );
}

function listMetadata(content: ManifestListContent): Record<string, string> {
  const { formatVersion, firstRowId } = content;
  assert((firstRowId !== undefined) === formatVersion >= 3, 'v3 lists have a first row id');
  return {
    'snapshot-id': String(content.snapshotId),
    'parent-snapshot-id': String(content.parentSnapshotId ?? null),
    ...(formatVersion >= 2 ? { 'sequence-number': String(content.sequenceNumber) } : {}),
    ...(formatVersion >= 3 ? { 'first-row-id': String(firstRowId) } : {}),
    'format-version': String(formatVersion),
  };
}

/** Field order as Iceberg Java writes it. */
function listSchema(formatVersion: FormatVersion): JsonValue {
  const sinceV2 = formatVersion >= 2 ? 'required' : 'optional';
  const f = MANIFEST_FILE;
  const counts = [f.addedFilesCount, f.existingFilesCount, f.deletedFilesCount];
  const rowsCounts = [f.addedRowsCount, f.existingRowsCount, f.deletedRowsCount];
  const isV1 = formatVersion === 1;
  const fields = [
    toAvroField(f.manifestPath, 'required'),
    toAvroField(f.manifestLength, 'required'),
    toAvroField(f.partitionSpecId, 'required'),
    ...(isV1 ? [] : [f.content, f.sequenceNumber, f.minSequenceNumber]).map((field) =>
      toAvroField(field, 'required'),
    ),
    toAvroField(f.addedSnapshotId, 'required'),
    ...counts.map((field) => toAvroField(field, sinceV2)),
    ...(isV1 ? [toAvroField(f.partitions, 'optional')] : []),
    ...rowsCounts.map((field) => toAvroField(field, sinceV2)),
    ...(isV1 ? [] : [toAvroField(f.partitions, 'optional')]),
    toAvroField(f.keyMetadata, 'optional'),
    ...(formatVersion >= 3 ? [toAvroField(f.firstRowId, 'optional')] : []),
  ];
  return { type: 'record', name: 'manifest_file', fields };
}

function requireWritable(
  manifest: ManifestFile,
  formatVersion: FormatVersion,
  subject: string,
): void {
  if (formatVersion === 1) {
    if (manifest.content === 'data') return;
    throw new IcebergError('unsupported', `${subject}: a v1 table has no delete manifests`);
  }
  const { addedFilesCount, existingFilesCount, deletedFilesCount } = manifest;
  const { addedRowsCount, existingRowsCount, deletedRowsCount } = manifest;
  const filesCounts = [addedFilesCount, existingFilesCount, deletedFilesCount];
  const rowsCounts = [addedRowsCount, existingRowsCount, deletedRowsCount];
  if (filesCounts.includes(undefined) || rowsCounts.includes(undefined)) {
    throw new IcebergError(
      'unsupported',
      `${subject}: manifest ${manifest.manifestPath} has no counts, which v${formatVersion} requires`,
    );
  }
  const hasRowId = manifest.firstRowId !== undefined;
  const needsRowId = formatVersion >= 3 && manifest.content === 'data';
  assert(hasRowId === needsRowId, 'data manifests of v3, and no others, have a first row id');
}

/** Fields that the version's schema does not have are ignored by the encoder. */
function toRecord(manifest: ManifestFile, record: ExtendedRecord): AvroRecord {
  const f = MANIFEST_FILE;
  return {
    [f.manifestPath.name]: manifest.manifestPath,
    [f.manifestLength.name]: BigInt(manifest.manifestLengthBytes),
    [f.partitionSpecId.name]: manifest.partitionSpecId,
    [f.content.name]: manifest.content === 'data' ? 0 : 1,
    [f.sequenceNumber.name]: manifest.sequenceNumber,
    [f.minSequenceNumber.name]: manifest.minSequenceNumber,
    [f.addedSnapshotId.name]: manifest.addedSnapshotId,
    [f.addedFilesCount.name]: manifest.addedFilesCount ?? null,
    [f.existingFilesCount.name]: manifest.existingFilesCount ?? null,
    [f.deletedFilesCount.name]: manifest.deletedFilesCount ?? null,
    [f.addedRowsCount.name]: toLong(manifest.addedRowsCount),
    [f.existingRowsCount.name]: toLong(manifest.existingRowsCount),
    [f.deletedRowsCount.name]: toLong(manifest.deletedRowsCount),
    [f.partitions.name]: manifest.partitions?.map(toSummaryRecord) ?? null,
    [f.keyMetadata.name]: manifest.keyMetadata ?? null,
    [f.firstRowId.name]: manifest.firstRowId ?? null,
    ...record.unknownValues(manifest.unknownFields),
  };
}

function toSummaryRecord(summary: FieldSummary): AvroRecord {
  return {
    contains_null: summary.containsNull,
    contains_nan: summary.containsNan ?? null,
    lower_bound: summary.lowerBound ?? null,
    upper_bound: summary.upperBound ?? null,
  };
}

function toLong(count: number | undefined): bigint | null {
  return count === undefined ? null : BigInt(count);
}
