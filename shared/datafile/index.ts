/**
 * Parquet data files of Iceberg tables (spec v1 to v3): their Parquet schema, what columns of an existing file
 * serve a table's schema, and the rewriting of a group of files into few, with row lineage, metrics and a map
 * of row positions, deleted rows purged or carried along; order-free hashes of live rows and row ids, to check it by.
 * Knows nothing of catalogs, manifests, commits, or of the files that deletes stand in. Left out: Avro and ORC data
 * files, shredded variants.
 */

export { type EncodeOptionsOf, encodeOptionsFor } from './encode-options.ts';
export {
  cheaperTreatment,
  type DeletesEstimate,
  type EstimateDeletesOptions,
  estimateDeletes,
  type TreatmentEstimate,
} from './estimate-deletes.ts';
export { type HashRowsOptions, hashRows, isSameRows, type RowsHash } from './hash-rows.ts';
export { identityPartitionValues } from './partition-values.ts';
export { PositionMap, type TranslatedPositions } from './position-map.ts';
export type { KeptRange, MapParts, MappedInput } from './position-map-parts.ts';
export {
  type ColumnsBatch,
  type ColumnsInput,
  type ColumnsOptions,
  fieldIdOf,
  type OpenedColumns,
  openColumns,
  readColumns,
} from './read-columns.ts';
export { rewriteFileGroup } from './rewrite-file-group.ts';
export {
  addRowIds,
  isSameRowIds,
  NO_ROW_IDS,
  type RowIdTally,
  tallyRowIds,
} from './row-ids.ts';
export type {
  ColumnChunkCounts,
  DataFileToRead,
  DeleteTreatment,
  FileGroupInput,
  FileGroupOutput,
  FileGroupResult,
  OpenedOutput,
  PurgedColumnCounts,
  RewriteFileGroupOptions,
} from './types.ts';
