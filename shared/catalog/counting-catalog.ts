import type { Catalog } from './catalog.ts';

export interface CatalogRequestCounts {
  readCount: number;
  writeCount: number;
}

export interface CountingCatalog extends Catalog {
  /** Live: it goes on counting. A request that failed counts too. */
  readonly requestCounts: Readonly<CatalogRequestCounts>;
}

/** Wraps a catalog so that a run can say what it cost. Listings count as one read, however long they are. */
export function countingCatalog(catalog: Catalog): CountingCatalog {
  const requestCounts: CatalogRequestCounts = { readCount: 0, writeCount: 0 };
  return {
    requestCounts,
    loadTable: (identifier) => {
      requestCounts.readCount++;
      return catalog.loadTable(identifier);
    },
    listTables: (namespace) => {
      requestCounts.readCount++;
      return catalog.listTables(namespace);
    },
    registerTable: (identifier, metadataLocation) => {
      requestCounts.writeCount++;
      return catalog.registerTable(identifier, metadataLocation);
    },
    commitTable: (update) => {
      requestCounts.writeCount++;
      return catalog.commitTable(update);
    },
    fenceTable: (fence) => {
      requestCounts.writeCount++;
      return catalog.fenceTable(fence);
    },
  };
}
