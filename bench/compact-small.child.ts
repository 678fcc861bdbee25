import {
  NO_DEADLINE,
  randomUuid,
  silentLogger,
  systemClock,
  systemRandom,
} from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../shared/guards/index.ts';
import { rewriteDataFiles } from '../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../shared/table/index.ts';
import { serve } from './support/child-process.ts';
import { cpuSeconds, peakRssMb } from './support/resources.ts';
import { openBenchWarehouse } from './support/warehouse.ts';

const peakRssMbAtStart = peakRssMb();

/** Compacts one table and measures this process while it does. */
const service = {
  compact: async ({
    catalogUrl,
    table,
  }: {
    readonly catalogUrl: string;
    readonly table: string;
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
    let planMs = 0;
    let rewriteMs = 0;
    const loaded = await loadTable(parseTableIdentifier(table), ports);
    const outcome = await rewriteDataFiles(
      {
        table: loaded,
        options: {},
        mode: 'commit',
        runId: randomUuid(systemRandom),
        guards: LOWERED_GUARD_SETTINGS,
        onProgress: ({ step }) => {
          if (step === 'planned') planMs = performance.now() - startMs;
          if (step === 'group-rewritten') rewriteMs = performance.now() - startMs - planMs;
        },
      },
      ports,
    );
    const seconds = (performance.now() - startMs) / 1000;
    if (!('groups' in outcome)) throw new Error(`${table}: ${outcome.outcome}`);
    const { plan, groups, commits, before, after, requests } = outcome;
    const committed = groups.filter((group) => group.state === 'committed');
    const sum = (count: (group: (typeof committed)[number]) => number): number =>
      committed.reduce((total, group) => total + count(group), 0);
    return {
      seconds,
      planSeconds: planMs / 1000,
      rewriteSeconds: rewriteMs / 1000,
      cpuSeconds: cpuSeconds() - cpuSecondsBefore,
      peakRssMbAtStart,
      peakRssMb: peakRssMb(),
      plannedFileCount: plan.groups.reduce((total, group) => total + group.files.length, 0),
      skippedFileCount: Object.values(plan.skippedFiles).reduce(
        (total, { fileCount }) => total + fileCount,
        0,
      ),
      skippedGroupCount: Object.values(plan.skippedGroups).reduce(
        (total, { groupCount }) => total + groupCount,
        0,
      ),
      uncommittedGroupCount: groups.length - committed.length,
      committedGroupCount: committed.length,
      commitCount: commits.length,
      outputFileCount: sum((group) => group.outputFileCount),
      copiedChunkCount: sum((group) => group.columnChunks.copiedCount),
      encodedChunkCount: sum((group) => group.columnChunks.encodedCount),
      bytesBefore: before.bytes,
      bytesAfter: after.bytes,
      requests,
    };
  },
};

export type CompactSmallService = typeof service;
serve(service);
