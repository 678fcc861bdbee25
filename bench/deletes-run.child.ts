import {
  mapConcurrent,
  NO_DEADLINE,
  randomUuid,
  silentLogger,
  systemClock,
  systemRandom,
} from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import type { OperationPorts } from '../shared/maintenance/index.ts';
import { deletesOf, rewriteDataFiles } from '../shared/operations/rewrite-data-files/index.ts';
import { rewriteDeletes } from '../shared/operations/rewrite-deletes/index.ts';
import { loadTable, type Table } from '../shared/table/index.ts';
import { serve } from './support/child-process.ts';
import { recordPuffinReads } from './support/puffin-reads.ts';
import { cpuSeconds, peakRssMb } from './support/resources.ts';
import { BENCH_BUCKET, openBenchWarehouse } from './support/warehouse.ts';

const peakRssMbAtStart = peakRssMb();

interface Place {
  readonly catalogUrl: string;
  readonly table: string;
}

/** Runs one operation on one table and measures this process while it does. */
const service = {
  rewriteDeletes: (place: Place) =>
    measure(place, async (table, ports, runId) => {
      const outcome = await rewriteDeletes(
        { table, options: {}, mode: 'commit', runId, guards: LOWERED_GUARD_SETTINGS },
        ports,
      );
      if (!('groups' in outcome)) throw new Error(`${place.table}: ${outcome.outcome}`);
      const { groups, commits, requests, before } = outcome;
      return {
        requests,
        isCommitted: outcome.outcome === 'committed',
        groupCount: groups.length,
        commitCount: commits.length,
        attemptCount: commits.reduce((sum, commit) => sum + commit.attemptCount, 0),
        before,
        addedCount: commits.reduce((sum, { deletes }) => sum + deletes.addedCount, 0),
        removedCount: commits.reduce((sum, { deletes }) => sum + deletes.removedCount, 0),
      };
    }),

  rewriteDataFiles: (place: Place) =>
    measure(place, async (table, ports, runId) => {
      const outcome = await rewriteDataFiles(
        { table, options: {}, mode: 'commit', runId, guards: LOWERED_GUARD_SETTINGS },
        ports,
      );
      if (!('groups' in outcome)) throw new Error(`${place.table}: ${outcome.outcome}`);
      const { requests, groups, commits } = outcome;
      let [copiedChunkCount, encodedChunkCount] = [0, 0];
      for (const group of groups) {
        if (group.state !== 'committed') throw new Error(`${place.table}: ${group.state}`);
        copiedChunkCount += group.columnChunks.copiedCount;
        encodedChunkCount += group.columnChunks.encodedCount;
      }
      return { requests, copiedChunkCount, encodedChunkCount, ...deletesOf({ groups, commits }) };
    }),

  /** Data objects of a table, those of some names. */
  readObjects: ({ catalogUrl, table, namePrefix }: Place & { readonly namePrefix: string }) =>
    readObjects(catalogUrl, `s3://${BENCH_BUCKET}/${table}/data/${namePrefix}`),
};

/** Delete files that a loader has under way at a time. */
const READS_CONCURRENT = 16;
const OBJECT_BYTES_MAX = 1024 ** 2;

/** One GET for each object, and nothing done with it: what reading alone takes from here. */
async function readObjects(
  catalogUrl: string,
  prefix: string,
): Promise<{ readonly seconds: number; readonly objectCount: number }> {
  const { store } = openBenchWarehouse(catalogUrl);
  const locations: string[] = [];
  for await (const { location } of store.list(prefix)) {
    if (location.endsWith('.parquet')) locations.push(location);
  }
  const startMs = performance.now();
  const limit = { concurrencyMax: READS_CONCURRENT };
  await mapConcurrent(locations, limit, (location) => store.read(location, OBJECT_BYTES_MAX));
  return { seconds: (performance.now() - startMs) / 1000, objectCount: locations.length };
}

export type DeletesRunService = typeof service;
serve(service);

async function measure<Result extends object>(
  { catalogUrl, table }: Place,
  work: (table: Table, ports: OperationPorts, runId: string) => Promise<Result>,
) {
  const warehouse = openBenchWarehouse(catalogUrl);
  const { store, puffinReads } = recordPuffinReads(warehouse.store);
  const ports = {
    ...warehouse,
    store,
    ledger: warehouse.openLedger(),
    clock: systemClock,
    random: systemRandom,
    deadline: NO_DEADLINE,
    logger: silentLogger,
  };
  const cpuSecondsBefore = cpuSeconds();
  const startMs = performance.now();
  const loaded = await loadTable(parseTableIdentifier(table), ports);
  const result = await work(loaded, ports, randomUuid(systemRandom));
  return {
    ...result,
    puffinReads,
    seconds: (performance.now() - startMs) / 1000,
    cpuSeconds: cpuSeconds() - cpuSecondsBefore,
    peakRssMbAtStart,
    peakRssMb: peakRssMb(),
  };
}
