/**
 * From one catalog URL to the ports that operations work on: a catalog, an object store and the ledger beside them.
 * Used by the command, the Lambda handlers and the local cloud, so that all of them reach tables the same way. See
 * its README for where the ledger is.
 */
export {
  type CatalogUrl,
  parseCatalogUrl,
  parseLedgerTable,
  parseStateLocation,
} from './catalog-url.ts';
export {
  initLedger,
  LEDGER_TABLE_DEFAULT,
  type LedgerSetup,
  openWarehouse,
  type Warehouse,
  type WarehouseOptions,
} from './open-warehouse.ts';
