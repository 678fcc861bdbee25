import {
  type AvroCodec,
  type AvroRecord,
  type AvroRecordType,
  type AvroType,
  type AvroValue,
  parseAvroType,
  serializeAvroFile,
  serializeAvroType,
} from '../avro/index.ts';
import { assert, IcebergError, serializeJson } from '../base/index.ts';
import { ManifestCounts } from './manifest-counts.ts';
import { toDataFileRecord } from './manifest-data-file-write.ts';
import { MANIFEST_ENTRY } from './manifest-fields.ts';
import { type PartitionAvro, partitionAvro } from './manifest-partition.ts';
import { manifestSchema } from './manifest-schema.ts';
import { present } from './manifest-struct.ts';
import { PartitionSummary } from './manifest-summary.ts';
import type { DataFile, ManifestEntry, ManifestFile, UnknownField } from './manifest-types.ts';
import { type ExtendedRecord, withUnknownFields } from './manifest-unknown.ts';
import type { FormatVersion } from './metadata-types.ts';
import { hasUnrecognizedTransform, partitionType } from './partition-spec.ts';
import type { PartitionSpec, Schema } from './types.ts';

/** An entry to be written. */
export type NewManifestEntry =
  | {
      readonly status: 'added';
      readonly snapshotId: bigint;
      /** Only for data that belongs to an older sequence number; else inherited from the commit. */
      readonly dataSequenceNumber?: bigint;
      /** Without `firstRowId`: added files get their row ids by inheritance. */
      readonly dataFile: DataFile;
      readonly unknownFields?: readonly UnknownField[];
    }
  | ({ readonly status: 'existing' | 'deleted' } & Omit<ManifestEntry, 'status' | 'specId'>);

export interface ManifestContent {
  readonly formatVersion: FormatVersion;
  /** The table's schemas, the current one first (it stands in the header) and the others newest first. */
  readonly schemas: readonly [Schema, ...Schema[]];
  readonly spec: PartitionSpec;
  readonly content: 'data' | 'deletes';
  readonly entries: readonly NewManifestEntry[];
  /** `deflate` where it is not given, as Iceberg Java. */
  readonly codec?: AvroCodec;
  readonly compressionLevel?: number;
}

/** A manifest as bytes, with what its entry in a manifest list will say before place and commit are known. */
export interface WrittenManifest {
  readonly bytes: Uint8Array;
  readonly partitionSpecId: number;
  readonly content: 'data' | 'deletes';
  readonly counts: ManifestCounts['values'];
  readonly partitions?: ManifestFile['partitions'];
  /** Least explicit data sequence number of live files; absent where all inherit the commit's. */
  readonly minSequenceNumber?: bigint;
  /** Rows of live data files that will inherit row ids: what `assignFirstRowIds` needs at least. */
  readonly unassignedRowsCount: number;
}

/**
 * Writes a manifest. The same content gives the same bytes. Unknown fields of the entries are written with
 * the Avro schema they came with.
 *
 * Memory: the entries' Avro form and the file.
 *
 * @throws unsupported — for a spec with an unrecognized transform or a lost source column, for deletes in v1,
 *   and for unknown fields that contradict each other
 * @throws invalid-data — when an existing or deleted entry has no sequence number, or a value does not fit
 * @see Iceberg spec, "Manifests"
 */
export function writeManifest(content: ManifestContent): WrittenManifest {
  const { entries, spec } = content;
  const subject = `new manifest of spec ${spec.specId}`;
  requireWritable(content, subject);
  const type = partitionType(spec, content.schemas);
  const partition = partitionAvro(type);
  const base = parseAvroType(manifestSchema(content.formatVersion, partition.avroType), subject);
  const schema = extendedSchema(base, entries, subject);
  const counts = new ManifestCounts();
  const summary = new PartitionSummary(type);
  for (const entry of entries) {
    counts.add(entry.status, entry.dataFile.recordCount);
    summary.add(entry.dataFile.partition);
  }
  const bytes = serializeAvroFile(
    {
      schema: serializeAvroType(schema.entry.type),
      metadata: manifestMetadata(content),
      records: toRecords(content, schema, partition),
      codec: content.codec ?? 'deflate',
      ...present('compressionLevel', content.compressionLevel),
    },
    subject,
  );
  return {
    bytes,
    partitionSpecId: spec.specId,
    content: content.content,
    counts: counts.values,
    ...present('partitions', summary.finish()),
    ...present('minSequenceNumber', minSequenceNumber(entries)),
    unassignedRowsCount: unassignedRowsCount(content),
  };
}

/** The manifest-list entry of a written manifest, once its place and the commit's numbers are known. */
export function toManifestFile(
  written: WrittenManifest,
  place: {
    readonly manifestPath: string;
    readonly addedSnapshotId: bigint;
    readonly sequenceNumber: bigint;
  },
): ManifestFile {
  return {
    ...place,
    manifestLengthBytes: written.bytes.length,
    partitionSpecId: written.partitionSpecId,
    content: written.content,
    minSequenceNumber: written.minSequenceNumber ?? place.sequenceNumber,
    ...written.counts,
    ...present('partitions', written.partitions),
    unknownFields: [],
  };
}

function requireWritable(content: ManifestContent, subject: string): void {
  const { spec, formatVersion } = content;
  if (hasUnrecognizedTransform(spec)) {
    throw new IcebergError('unsupported', `${subject}: the spec has an unrecognized transform`);
  }
  if (formatVersion === 1 && content.content === 'deletes') {
    throw new IcebergError('unsupported', `${subject}: a v1 table has no delete manifests`);
  }
  for (const { status, dataFile, ...entry } of content.entries) {
    const isData = dataFile.content === 'data';
    assert(isData === (content.content === 'data'), 'a manifest holds data or deletes, not both');
    assert(dataFile.partition.length === spec.fields.length, 'partition tuples fit the spec');
    const hasRowId = dataFile.firstRowId !== undefined;
    assert(!hasRowId || status !== 'added', 'added files inherit their row ids');
    assert(!hasRowId || isData, 'delete files have no row ids');
    if (entry.dataSequenceNumber !== undefined && entry.dataSequenceNumber < 0n) {
      throw new IcebergError(
        'invalid-data',
        `${subject}: a ${status} entry has no sequence number`,
      );
    }
  }
}

interface ManifestAvro {
  readonly entry: ExtendedRecord;
  readonly dataFile: ExtendedRecord;
}

/** The version's schema with the unknown fields of entries and data files. */
function extendedSchema(
  base: AvroType,
  entries: readonly NewManifestEntry[],
  subject: string,
): ManifestAvro {
  assert(base.kind === 'record', 'manifest schemas are records');
  const dataFileType = base.fields.find(isDataFileField)?.type;
  assert(dataFileType !== undefined, 'manifest schemas have a data_file');
  const fileFields = entries.map((entry) => entry.dataFile.unknownFields);
  const dataFile = withUnknownFields(dataFileType, fileFields, subject);
  const withDataFile: AvroRecordType = {
    ...base,
    fields: base.fields.map((field) =>
      isDataFileField(field) ? { ...field, type: dataFile.type } : field,
    ),
  };
  const entryFields = entries.map((entry) => entry.unknownFields ?? []);
  return { entry: withUnknownFields(withDataFile, entryFields, subject), dataFile };
}

function isDataFileField({ name }: { readonly name: string }): boolean {
  return name === MANIFEST_ENTRY.dataFile.name;
}

function manifestMetadata({
  formatVersion,
  schemas: [schema],
  spec,
  content,
}: ManifestContent): Record<string, string> {
  return {
    schema: serializeJson(schema.source),
    'schema-id': String(schema.schemaId),
    'partition-spec': serializeJson(spec.source['fields'] ?? []),
    'partition-spec-id': String(spec.specId),
    'format-version': String(formatVersion),
    ...(formatVersion >= 2 ? { content } : {}),
  };
}

/** Fields that the version's schema does not have are ignored by the encoder. */
function* toRecords(
  { entries }: ManifestContent,
  schema: ManifestAvro,
  partition: PartitionAvro,
): Generator<AvroValue> {
  for (const entry of entries) {
    const fileSequenceNumber = entry.status === 'added' ? undefined : entry.fileSequenceNumber;
    const file: AvroRecord = {
      ...toDataFileRecord(entry.dataFile, partition),
      ...schema.dataFile.unknownValues(entry.dataFile.unknownFields),
    };
    yield {
      [MANIFEST_ENTRY.status.name]: STATUS_NUMBERS[entry.status],
      [MANIFEST_ENTRY.snapshotId.name]: entry.snapshotId,
      [MANIFEST_ENTRY.sequenceNumber.name]: entry.dataSequenceNumber ?? null,
      [MANIFEST_ENTRY.fileSequenceNumber.name]: fileSequenceNumber ?? null,
      [MANIFEST_ENTRY.dataFile.name]: file,
      ...schema.entry.unknownValues(entry.unknownFields ?? []),
    };
  }
}

const STATUS_NUMBERS = { existing: 0, added: 1, deleted: 2 } as const;

function minSequenceNumber(entries: readonly NewManifestEntry[]): bigint | undefined {
  let least: bigint | undefined;
  for (const { status, dataSequenceNumber } of entries) {
    if (status === 'deleted' || dataSequenceNumber === undefined) continue;
    if (least === undefined || dataSequenceNumber < least) least = dataSequenceNumber;
  }
  return least;
}

function unassignedRowsCount({ content, entries }: ManifestContent): number {
  if (content === 'deletes') return 0;
  const unassigned = entries.filter(
    ({ status, dataFile }) => status !== 'deleted' && dataFile.firstRowId === undefined,
  );
  return unassigned.reduce((sum, { dataFile }) => sum + dataFile.recordCount, 0);
}
