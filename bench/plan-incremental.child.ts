import { createHash } from 'node:crypto';
import {
  NO_DEADLINE,
  serializeJson,
  silentLogger,
  systemClock,
  systemRandom,
} from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import {
  type Continuation,
  planToJson,
  rewriteDataFiles,
} from '../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../shared/table/index.ts';
import { serve } from './support/child-process.ts';
import { cpuSeconds, peakRssMb } from './support/resources.ts';
import { openBenchWarehouse } from './support/warehouse.ts';

const peakRssMbAtStart = peakRssMb();

/** Plans one table once and measures this process while it does, the report and what is remembered included. */
const service = {
  plan: async ({
    catalogUrl,
    table,
    continuation,
  }: {
    readonly catalogUrl: string;
    readonly table: string;
    /** A plan of the whole table, which leaves nothing behind, where it is not given. */
    readonly continuation?: Continuation;
  }) => {
    const warehouse = openBenchWarehouse(catalogUrl);
    const ports = {
      ...warehouse,
      ledger: warehouse.openLedger(),
      clock: systemClock,
      random: systemRandom,
      deadline: NO_DEADLINE,
      logger: silentLogger,
    };
    const cpuSecondsBefore = cpuSeconds();
    const startMs = performance.now();
    const outcome = await rewriteDataFiles(
      {
        table: await loadTable(parseTableIdentifier(table), ports),
        options: {},
        mode: 'observe',
        runId: 'bench',
        guards: LOWERED_GUARD_SETTINGS,
        ...(continuation === undefined ? {} : { continuation }),
      },
      ports,
    );
    const seconds = (performance.now() - startMs) / 1000;
    if (outcome.outcome !== 'observed' && outcome.outcome !== 'nothing-planned') {
      throw new Error(`${table}: ${outcome.outcome}`);
    }
    const { plan, before, planStateLocation } = outcome;
    const groups = serializeJson(planToJson(plan)['groups'] ?? null);
    return {
      seconds,
      cpuSeconds: cpuSeconds() - cpuSecondsBefore,
      peakRssMb: peakRssMb(),
      peakRssMbAtStart,
      isIncremental: plan.scope.kind === 'incremental',
      planStateLocation,
      fileCountBefore: before.fileCount,
      groupCount: plan.groups.length,
      plannedFileCount: plan.groups.reduce((sum, group) => sum + group.files.length, 0),
      groupsHash: createHash('sha256').update(groups).digest('hex'),
    };
  },
};

export type IncrementalPlanService = typeof service;
serve(service);
