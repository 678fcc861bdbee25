// Firn in this process, for scenarios that step in between its plan and its commit.

import { systemClock, systemRandom } from '../../shared/base/index.ts';
import type { Catalog } from '../../shared/catalog/index.ts';
import { openWarehouse, type Warehouse as Ports } from '../../shared/warehouse/index.ts';
import { catalogUrl, STATE_LOCATION } from './firn.ts';
import type { Warehouse } from './tools.ts';

/** Firn's own ports, in this process. */
export function openPorts(warehouse: Warehouse): Ports {
  return openWarehouse({
    catalogUrl: catalogUrl(warehouse),
    s3Endpoint: warehouse.s3Endpoint,
    stateLocation: STATE_LOCATION,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    clock: systemClock,
    random: systemRandom,
  });
}

/** A catalog where others write right before the first pointer writes, the nth of `writes` before the nth. */
export function catalogWithRivals(
  catalog: Catalog,
  writes: readonly (() => Promise<void>)[],
): Catalog {
  const waiting = writes.values();
  return {
    listTables: (namespace) => catalog.listTables(namespace),
    registerTable: (...args) => catalog.registerTable(...args),
    fenceTable: (...args) => catalog.fenceTable(...args),
    loadTable: (identifier) => catalog.loadTable(identifier),
    commitTable: async (update) => {
      const { value: write } = waiting.next();
      await write?.();
      return await catalog.commitTable(update);
    },
  };
}
