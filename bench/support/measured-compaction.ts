import { TableWriter } from '../../local/table-writer/index.ts';
import {
  type Clock,
  deadlineAfter,
  isIcebergError,
  type Random,
  randomUuid,
  silentLogger,
} from '../../shared/base/index.ts';
import {
  countingCatalog,
  type MemoryCatalog,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { createLedger, MemoryItemStore } from '../../shared/ledger/index.ts';
import type { OptionTexts } from '../../shared/maintenance/index.ts';
import {
  type RewriteDataFilesOutcome,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import type { MemoryObjectStore } from '../../shared/storage/index.ts';
import { type Latencies, slowCatalog, slowItems, slowStore } from './slow-ports.ts';

/** A catalog and a store in memory, and how far away they are. */
export interface SlowWorld {
  readonly catalog: MemoryCatalog;
  readonly store: MemoryObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly latencies: Latencies;
}

/** What a compaction took. */
export interface CompactionCosts {
  readonly isLanded: boolean;
  readonly attemptCount: number;
  readonly seconds: number;
  readonly getCount: number;
  readonly putCount: number;
  readonly pointerReadCount: number;
  readonly pointerWriteCount: number;
  readonly ledgerRequestCount: number;
}

export interface MeasuredCompaction {
  readonly costs: CompactionCosts;
  /** Absent where the commit gave up. */
  readonly outcome?: RewriteDataFilesOutcome;
  /** Until the last group was rewritten. */
  readonly rewriteSeconds: number;
}

/** Compacts a table from over there, with a ledger of its own. */
export async function compactMeasured(
  identifier: TableIdentifier,
  { deadlineMs, options = {} }: { readonly deadlineMs: number; readonly options?: OptionTexts },
  { catalog, store, clock, random, latencies }: SlowWorld,
): Promise<MeasuredCompaction> {
  const counted = countingCatalog(slowCatalog(catalog, clock, latencies));
  const slow = slowStore(store, clock, latencies);
  const ledger = createLedger({
    items: slowItems(new MemoryItemStore(), clock, latencies),
    state: { store: slow, prefix: 's3://firn-state/ledger/' },
    clock,
    random,
  });
  const ports = { catalog: counted, store: slow, clock, random, ledger, logger: silentLogger };
  const startMs = clock.nowMs();
  const table = await new TableWriter(identifier, ports).load();
  let outcome: RewriteDataFilesOutcome | undefined;
  let rewrittenMs = startMs;
  let gaveUpAfter = 0;
  try {
    outcome = await rewriteDataFiles(
      {
        table,
        options,
        mode: 'commit',
        runId: randomUuid(random),
        guards: LOWERED_GUARD_SETTINGS,
        onProgress: ({ step }) => {
          if (step === 'group-rewritten') rewrittenMs = clock.nowMs();
        },
      },
      { ...ports, deadline: deadlineAfter(clock, deadlineMs) },
    );
  } catch (error) {
    if (!isIcebergError(error, 'commit-conflict')) throw error;
    gaveUpAfter = Number(error.context['attemptCount']);
  }
  const landed = outcome?.outcome === 'committed' ? outcome.commits[0] : undefined;
  const { readCount, writeCount } = ledger.requestCounts;
  return {
    ...(outcome === undefined ? {} : { outcome }),
    rewriteSeconds: (rewrittenMs - startMs) / 1000,
    costs: {
      isLanded: landed !== undefined,
      attemptCount: landed?.attemptCount ?? gaveUpAfter,
      seconds: (clock.nowMs() - startMs) / 1000,
      ...storeRequests(outcome),
      pointerReadCount: counted.requestCounts.readCount,
      pointerWriteCount: counted.requestCounts.writeCount,
      ledgerRequestCount: readCount + writeCount,
    },
  };
}

/** With the metadata file that the table was loaded from. */
function storeRequests(
  outcome: RewriteDataFilesOutcome | undefined,
): Pick<CompactionCosts, 'getCount' | 'putCount'> {
  if (outcome === undefined) return { getCount: 0, putCount: 0 };
  const { head, read, readRange, write, openWriter } = outcome.requests;
  return { getCount: 1 + head + read + readRange, putCount: write + openWriter };
}
