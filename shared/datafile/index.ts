/**
 * Parquet data files of Iceberg tables (spec v1 to v3): their Parquet schema, what columns of an existing file
 * serve a table's schema, and the rewriting of a group of files into few, with row lineage, metrics and a map
 * of row positions. Knows nothing of catalogs, manifests or commits. Left out: Avro and ORC data files, deletes,
 * shredded variants.
 */
export { rewriteFileGroup } from './rewrite-file-group.ts';
export type {
  ColumnChunkCounts,
  FileGroupInput,
  FileGroupOutput,
  FileGroupResult,
  OpenedOutput,
  RewriteFileGroupOptions,
  SourceRange,
} from './types.ts';
