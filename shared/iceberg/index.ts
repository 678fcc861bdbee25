/**
 * The Iceberg table format, versions 1 to 3, as pure values: types, schemas, transforms, partition specs, sort
 * orders, single values and bounds, table metadata and its updates, manifests, snapshot summaries, table
 * properties, file locations. No storage, no catalog, no clock: bytes and values in, bytes and values out.
 * Left out on purpose: format version 4, encrypted tables (both are recognized and refused), views, geometry
 * values, the contents of variants.
 */
export { compareSingleValues } from './compare-values.ts';
export { isDeletionVector } from './content-file.ts';
export { dataLocation, newDataLocation } from './data-location.ts';
export {
  type AttachedDeletes,
  createDeleteIndex,
  type DeleteIndex,
  referencedDataFile,
} from './delete-index.ts';
export {
  deletionVectorBlob,
  parseDeletionVector,
  readDeletionVector,
  serializeDeletionVector,
} from './deletion-vector.ts';
export { humanText } from './human-text.ts';
export { readManifestList } from './manifest-list.ts';
export { writeManifestList } from './manifest-list-write.ts';
export { type ManifestContext, readManifest } from './manifest-read.ts';
export { assignFirstRowIds } from './manifest-row-ids.ts';
export type {
  DataFile,
  FieldSummary,
  FileContent,
  ManifestEntry,
  ManifestFile,
  UnknownField,
} from './manifest-types.ts';
export {
  type ManifestContent,
  type NewManifestEntry,
  toManifestFile,
  type WrittenManifest,
  writeManifest,
} from './manifest-write.ts';
export { CLOCK_SKEW_TOLERANCE_MS } from './metadata-check.ts';
export {
  newManifestListLocation,
  newManifestLocation,
  newMetadataLocation,
  stripTrailingSlash,
} from './metadata-location.ts';
export {
  currentSchema,
  isEncrypted,
  schemaById,
  snapshotById,
  snapshotOfRef,
  sortOrderById,
  specById,
  tablePartitionType,
} from './metadata-lookup.ts';
export {
  describeUnsupported,
  parseTableMetadata,
  type UnsupportedMetadata,
} from './metadata-parse.ts';
export { serializeTableMetadata } from './metadata-serialize.ts';
export type {
  FormatVersion,
  MetadataLogEntry,
  Snapshot,
  SnapshotLogEntry,
  SnapshotOperation,
  SnapshotRef,
  StatisticsFile,
  TableMetadata,
} from './metadata-types.ts';
export { metricsModes } from './metrics-config.ts';
export type { MetricsMode } from './metrics-mode.ts';
export { findMappedField, type MappedField, parseNameMapping } from './name-mapping.ts';
export { partitionKey } from './partition-key.ts';
export { partitionPath } from './partition-path.ts';
export {
  createPartitionSpec,
  hasUnrecognizedTransform,
  isUnpartitioned,
  PARTITION_FIELD_ID_START,
  type PartitionType,
  type PartitionTypeField,
  parsePartitionFields,
  parsePartitionSpec,
  partitionType,
} from './partition-spec.ts';
export { isPromotionAllowed } from './promotion.ts';
export {
  childrenOf,
  createSchema,
  FIELD_ID_MAX,
  parseSchema,
  parseType,
  SCHEMA_DEPTH_MAX,
  typeToJson,
} from './schema.ts';
export { fieldById, fieldByName, type SchemaField, schemaFields } from './schema-index.ts';
export { decodeSingleValue, encodeSingleValue } from './single-value.ts';
export { singleValueFromJson, singleValueToJson } from './single-value-json.ts';
export { createSnapshot, MAIN_BRANCH, type SnapshotFields } from './snapshot.ts';
export {
  type FileOfSpec,
  type ReplaceChange,
  replaceSummary,
} from './snapshot-summary.ts';
export { parseSortOrder, UNSORTED_ORDER_ID } from './sort-order.ts';
export {
  type ColumnPropertyPrefix,
  columnProperties,
  malformedProperties,
  type Properties,
  type PropertyKey,
  requireWellFormed,
  tableProperty,
  unknownFirnProperties,
} from './table-properties.ts';
export { checkRequirement, type TableRequirement } from './table-requirement.ts';
export { applyTableUpdates, type TableUpdate, type UpdateContext } from './table-update.ts';
export { canTransform, parseTransform, transformResultType, transformText } from './transform.ts';
export { applyTransform } from './transform-apply.ts';
export { truncateLowerBound, truncateUpperBound } from './truncate-bound.ts';
export { isPrimitiveType, isSamePrimitiveType, typeText } from './type-text.ts';
export type {
  IcebergType,
  ListType,
  MapType,
  NestedField,
  Partition,
  PartitionField,
  PartitionSpec,
  PrimitiveType,
  Schema,
  SimplePrimitiveKind,
  SingleValue,
  SortField,
  SortOrder,
  StructType,
  Transform,
} from './types.ts';
