/**
 * A writer of tables beside Firn, for the demo, tests and benches: creates, appends, deletes and evolves through
 * Firn's manifest and metadata writers, with Parquet files by hyparquet-writer, but with none of the code that scans
 * or commits.
 */
export { type ParquetLayout, type Row, writeParquetDataFile } from './parquet-data-file.ts';
export {
  deleteFileOf,
  type NewDataFile,
  type NewFile,
  type NewTable,
  type SnapshotChange,
  TableWriter,
  type TableWriterPorts,
} from './table-writer.ts';
