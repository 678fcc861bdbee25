/**
 * Parquet data files of Iceberg tables (spec v1 to v3): their Parquet schema, what columns of an existing file
 * serve a table's schema, and the rewriting of a group of files into few, with row lineage, metrics and a map
 * of row positions; order-free hashes of rows and row ids, to check it by. Knows nothing of catalogs, manifests or commits. Left out: Avro and ORC data files, deletes,
 * shredded variants.
 */
export { type HashRowsOptions, hashRows, isSameRows, type RowsHash } from './hash-rows.ts';
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
  FileGroupInput,
  FileGroupOutput,
  FileGroupResult,
  OpenedOutput,
  RewriteFileGroupOptions,
  SourceRange,
} from './types.ts';
