import type { Clock } from '../base/index.ts';
import { type Catalog, countingCatalog } from '../catalog/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { estimatePrice, PRICE_TABLE, type Usage } from '../pricing/index.ts';
import { countingStore, type ObjectStore, type RequestCounts } from '../storage/index.ts';

/** The least with a whole processor. */
export const LAMBDA_MEMORY_MIB = 1769;

/** What a run has cost so far. */
interface RunCost {
  readonly durationMs: number;
  readonly usage: Usage;
  /** As if it had run as a Lambda, at list prices. */
  readonly estimatedDollars: number;
}

/** Counts requests and time of one run. */
export interface Meter {
  /** To be used instead of those it was made from. */
  readonly ports: { readonly catalog: Catalog; readonly store: ObjectStore };
  readonly clock: Clock;
  s3Requests(): RequestCounts;
  cost(): RunCost;
}

export function createMeter({
  catalog,
  store,
  ledger,
  clock,
}: {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly ledger?: Ledger;
  readonly clock: Clock;
}): Meter {
  const startMs = clock.nowMs();
  const countedStore = countingStore(store);
  const countedCatalog = countingCatalog(catalog);
  // The ledger may be older than the run.
  const ledgerAtStart = { readCount: 0, writeCount: 0, ...ledger?.requestCounts };
  const usage = (durationMs: number): Usage => {
    const { head, read, readRange, write, openWriter, list } = countedStore.requestCounts;
    const inLedger = ledger?.requestCounts ?? ledgerAtStart;
    const inCatalog = countedCatalog.requestCounts;
    return {
      s3GetCount: head + read + readRange,
      s3PutCount: write + openWriter + list,
      dynamoDbReadCount: inCatalog.readCount + inLedger.readCount - ledgerAtStart.readCount,
      dynamoDbWriteCount: inCatalog.writeCount + inLedger.writeCount - ledgerAtStart.writeCount,
      lambdaInvocationCount: 1,
      lambdaDurationMs: durationMs,
      lambdaMemoryMib: LAMBDA_MEMORY_MIB,
    };
  };
  return {
    ports: { catalog: countedCatalog, store: countedStore },
    clock,
    s3Requests: () => ({ ...countedStore.requestCounts }),
    cost: () => {
      const durationMs = clock.nowMs() - startMs;
      const used = usage(durationMs);
      const { totalDollars } = estimatePrice(used, PRICE_TABLE);
      return { durationMs, usage: used, estimatedDollars: totalDollars };
    },
  };
}
