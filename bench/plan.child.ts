import { NO_DEADLINE, silentLogger, systemClock, systemRandom } from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import { rewriteDataFiles } from '../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../shared/table/index.ts';
import { serve } from './support/child-process.ts';
import { cpuSeconds, peakRssMb } from './support/resources.ts';
import { openBenchWarehouse } from './support/warehouse.ts';

const peakRssMbAtStart = peakRssMb();

/** Plans one table and measures this process while it does. */
const service = {
  plan: async ({ catalogUrl, table }: { readonly catalogUrl: string; readonly table: string }) => {
    const ports = {
      ...openBenchWarehouse(catalogUrl),
      clock: systemClock,
      random: systemRandom,
      deadline: NO_DEADLINE,
      logger: silentLogger,
    };
    const cpuSecondsBefore = cpuSeconds();
    const startMs = performance.now();
    const loaded = await loadTable(parseTableIdentifier(table), ports);
    const outcome = await rewriteDataFiles(
      {
        table: loaded,
        options: {},
        mode: 'observe',
        runId: 'bench',
        guards: LOWERED_GUARD_SETTINGS,
      },
      ports,
    );
    const seconds = (performance.now() - startMs) / 1000;
    if (outcome.outcome !== 'observed') throw new Error(`${table}: ${outcome.outcome}`);
    const { groups, skippedFiles, scanned } = outcome.plan;
    return {
      seconds,
      cpuSeconds: cpuSeconds() - cpuSecondsBefore,
      peakRssMbAtStart,
      peakRssMb: peakRssMb(),
      scannedFileCount: scanned.fileCount,
      groupCount: groups.length,
      plannedFileCount: groups.reduce((sum, group) => sum + group.files.length, 0),
      inRangeFileCount: skippedFiles['size-in-range']?.fileCount ?? 0,
    };
  },
};

export type PlanService = typeof service;
serve(service);
