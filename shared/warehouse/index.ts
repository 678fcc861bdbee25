/**
 * From one catalog URL to the ports that operations work on: a catalog and an object store. Used by the command,
 * the Lambda handlers and the local cloud, so that all of them reach tables the same way.
 */
export { type CatalogUrl, parseCatalogUrl } from './catalog-url.ts';
export { openWarehouse, type Warehouse, type WarehouseOptions } from './open-warehouse.ts';
