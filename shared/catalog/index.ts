/**
 * The catalog port and its adapters: from a table's name to its current metadata file, moved by one conditional
 * write. DynamoDB as Iceberg Java's `DynamoDbCatalog` lays it out, a local folder for one machine, and memory
 * with faults for tests. Leaves out namespaces as objects, views, dropping and renaming: others do those, and
 * here they only arrive as conflicts.
 */
export type { Catalog, PointerFence, PointerUpdate, TablePointer } from './catalog.ts';
export {
  type CatalogRequestCounts,
  type CountingCatalog,
  countingCatalog,
} from './counting-catalog.ts';
export { DynamoDbCatalog } from './dynamodb-catalog.ts';
export { createCatalogTable } from './dynamodb-table.ts';
export { FileCatalog, type FileCatalogOptions } from './file-catalog.ts';
export {
  type CatalogFaults,
  MemoryCatalog,
  type MemoryCatalogOptions,
  type WriteFault,
} from './memory-catalog.ts';
export {
  formatNamespace,
  formatTableIdentifier,
  parseTableIdentifier,
  type TableIdentifier,
} from './table-identifier.ts';
export type { TableRecord } from './table-record.ts';
