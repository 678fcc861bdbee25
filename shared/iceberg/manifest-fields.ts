import type { JsonObject, JsonValue } from '../base/index.ts';

/** A field of a manifest list or manifest: found by id, named in errors and in what Firn writes. */
export interface ManifestField {
  readonly id: number;
  readonly name: string;
  /** The Avro schema of its values. */
  readonly avroType: JsonValue;
}

/** @see Iceberg spec, "Manifest Lists" */
export const MANIFEST_FILE = {
  manifestPath: field(500, 'manifest_path', 'string'),
  manifestLength: field(501, 'manifest_length', 'long'),
  partitionSpecId: field(502, 'partition_spec_id', 'int'),
  content: field(517, 'content', 'int'),
  sequenceNumber: field(515, 'sequence_number', 'long'),
  minSequenceNumber: field(516, 'min_sequence_number', 'long'),
  addedSnapshotId: field(503, 'added_snapshot_id', 'long'),
  addedFilesCount: field(504, 'added_files_count', 'int'),
  existingFilesCount: field(505, 'existing_files_count', 'int'),
  deletedFilesCount: field(506, 'deleted_files_count', 'int'),
  addedRowsCount: field(512, 'added_rows_count', 'long'),
  existingRowsCount: field(513, 'existing_rows_count', 'long'),
  deletedRowsCount: field(514, 'deleted_rows_count', 'long'),
  partitions: field(507, 'partitions', fieldSummaryList()),
  keyMetadata: field(519, 'key_metadata', 'bytes'),
  firstRowId: field(520, 'first_row_id', 'long'),
} as const;

/** @see Iceberg spec, "Manifest Lists", `field_summary` */
export const FIELD_SUMMARY = {
  containsNull: field(509, 'contains_null', 'boolean'),
  containsNan: field(518, 'contains_nan', 'boolean'),
  lowerBound: field(510, 'lower_bound', 'bytes'),
  upperBound: field(511, 'upper_bound', 'bytes'),
} as const;

/** `dataFile` and its `partition` get their types where the manifest's schema is built. */
export const MANIFEST_ENTRY = {
  status: field(0, 'status', 'int'),
  snapshotId: field(1, 'snapshot_id', 'long'),
  sequenceNumber: field(3, 'sequence_number', 'long'),
  fileSequenceNumber: field(4, 'file_sequence_number', 'long'),
  dataFile: field(2, 'data_file', 'null'),
} as const;

/** @see Iceberg spec, "Data File Fields" */
export const DATA_FILE = {
  content: field(134, 'content', 'int'),
  filePath: field(100, 'file_path', 'string'),
  fileFormat: field(101, 'file_format', 'string'),
  partition: field(102, 'partition', 'null'),
  recordCount: field(103, 'record_count', 'long'),
  fileSizeInBytes: field(104, 'file_size_in_bytes', 'long'),
  columnSizes: field(108, 'column_sizes', mapType(117, 118, 'long')),
  valueCounts: field(109, 'value_counts', mapType(119, 120, 'long')),
  nullValueCounts: field(110, 'null_value_counts', mapType(121, 122, 'long')),
  nanValueCounts: field(137, 'nan_value_counts', mapType(138, 139, 'long')),
  lowerBounds: field(125, 'lower_bounds', mapType(126, 127, 'bytes')),
  upperBounds: field(128, 'upper_bounds', mapType(129, 130, 'bytes')),
  keyMetadata: field(131, 'key_metadata', 'bytes'),
  splitOffsets: field(132, 'split_offsets', listType(133, 'long')),
  equalityIds: field(135, 'equality_ids', listType(136, 'int')),
  sortOrderId: field(140, 'sort_order_id', 'int'),
  firstRowId: field(142, 'first_row_id', 'long'),
  referencedDataFile: field(143, 'referenced_data_file', 'string'),
  contentOffset: field(144, 'content_offset', 'long'),
  contentSizeInBytes: field(145, 'content_size_in_bytes', 'long'),
} as const;

/** A required field of v1 that v2 removed; its value never meant anything. */
export const BLOCK_SIZE_IN_BYTES = field(105, 'block_size_in_bytes', 'long');

/** Fields of v1 that must not be written any more: read past, and not kept as unknown. */
export const REMOVED_DATA_FILE_IDS: readonly number[] = [
  BLOCK_SIZE_IN_BYTES.id,
  106, // file_ordinal
  107, // sort_columns
  111, // distinct_counts
];

/** The maps over columns, most of a manifest's bytes. */
export const METRICS_IDS: readonly number[] = [
  DATA_FILE.columnSizes.id,
  DATA_FILE.valueCounts.id,
  DATA_FILE.nullValueCounts.id,
  DATA_FILE.nanValueCounts.id,
  DATA_FILE.lowerBounds.id,
  DATA_FILE.upperBounds.id,
];

/** The Avro field in a file's schema: `{name, type, field-id}`, optional ones with null as default. */
export function toAvroField(
  { id, name, avroType }: ManifestField,
  presence: 'required' | 'optional',
): JsonObject {
  return presence === 'required'
    ? { name, type: avroType, 'field-id': id }
    : { name, type: ['null', avroType], default: null, 'field-id': id };
}

function field(id: number, name: string, avroType: JsonValue): ManifestField {
  return { id, name, avroType };
}

/** Avro's own maps have string keys only, so maps by field id are arrays of key and value. */
function mapType(keyId: number, valueId: number, valueType: string): JsonValue {
  const fields = [
    { name: 'key', type: 'int', 'field-id': keyId },
    { name: 'value', type: valueType, 'field-id': valueId },
  ];
  const items = { type: 'record', name: `k${keyId}_v${valueId}`, fields };
  return { type: 'array', items, logicalType: 'map' };
}

function listType(elementId: number, elementType: string): JsonValue {
  return { type: 'array', items: elementType, 'element-id': elementId };
}

function fieldSummaryList(): JsonValue {
  const fields = [
    { name: 'contains_null', type: 'boolean', 'field-id': 509 },
    { name: 'contains_nan', type: ['null', 'boolean'], default: null, 'field-id': 518 },
    { name: 'lower_bound', type: ['null', 'bytes'], default: null, 'field-id': 510 },
    { name: 'upper_bound', type: ['null', 'bytes'], default: null, 'field-id': 511 },
  ];
  return { type: 'array', items: { type: 'record', name: 'r508', fields }, 'element-id': 508 };
}
