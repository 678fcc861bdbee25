import { assert, type Clock, isIcebergError, type Logger, type Random } from '../base/index.ts';
import { type Catalog, formatTableIdentifier, type TableIdentifier } from '../catalog/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { guardedStore } from './guarded-store.ts';
import { HeldLease, LEASE_MS } from './held-lease.ts';
import { type SettledRun, settleAbandonedRuns } from './settle-runs.ts';
import { TableRun } from './table-run.ts';

/** One lease for all operations that replace files of a table: they would overtake each other. */
export const REWRITE_LEASE = 'rewrite';

export interface LeasedRequest {
  readonly identifier: TableIdentifier;
  readonly operation: string;
  /** Unique to this run. */
  readonly runId: string;
}

export interface LeasedPorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What work under a lease has. */
export interface LeasedSession {
  /** For reading: each request keeps the lease alive, and is refused once it is lost. */
  readonly store: ObjectStore;
  /** Runs of others that were settled before this one began. */
  readonly settledRuns: readonly SettledRun[];
  /** Opens the run, before the first object is written; once. Two requests of the ledger. */
  openRun(): Promise<TableRun>;
}

/** How the work ended, its run closed or left to the next one. */
export type WorkEnding<Result> =
  | { readonly result: Result; readonly settledRuns: readonly SettledRun[] }
  | { readonly error: unknown; readonly settledRuns: readonly SettledRun[] };

export interface LeasedSteps<Result> {
  readonly work: (session: LeasedSession) => Promise<Result>;
  /** Tells people, while the lease is still held. */
  readonly report: (ending: WorkEnding<Result>) => Promise<void>;
}

/** Somebody else works on the table. */
export interface BusyOutcome {
  readonly outcome: 'busy';
  readonly owner: string;
  readonly expiresAtMs: number;
}

/**
 * Works on a table while nobody else rewrites it: takes the lease, settles runs that were left behind, works, closes
 * the run, reports, and gives the lease back. What goes wrong after the work changes nothing about its result; the
 * next run makes up for it.
 *
 * @throws unavailable — when the ledger does not answer, or an abandoned run cannot be settled now
 * @throws whatever the work throws
 */
export async function workUnderLease<Result>(
  request: LeasedRequest,
  ports: LeasedPorts,
  { work, report }: LeasedSteps<Result>,
): Promise<Result | BusyOutcome> {
  const acquired = await ports.ledger.leases.acquire({
    table: formatTableIdentifier(request.identifier),
    scope: REWRITE_LEASE,
    owner: request.runId,
    durationMs: LEASE_MS,
  });
  if (acquired.outcome === 'busy') return acquired;
  const lease = new HeldLease(acquired.lease);
  const runs: TableRun[] = [];
  const ending = await workToEnd({ ...request, lease, runs }, ports, work);
  for (const run of runs) await tidyUp('run.unfinished', () => finishRun(run, ports), ports);
  await tidyUp('report.unwritten', () => report(ending), ports);
  if (!lease.isLost) await tidyUp('lease.unreleased', () => lease.release(), ports);
  if ('error' in ending) throw ending.error;
  return ending.result;
}

async function workToEnd<Result>(
  {
    identifier,
    operation,
    lease,
    runs,
  }: LeasedRequest & { readonly lease: HeldLease; readonly runs: TableRun[] },
  ports: LeasedPorts,
  work: (session: LeasedSession) => Promise<Result>,
): Promise<WorkEnding<Result>> {
  let settledRuns: readonly SettledRun[] = [];
  const openRun = async (): Promise<TableRun> => {
    await lease.requireHeld();
    const { store, logger, ledger } = ports;
    const run = await ledger.runs.open(lease.lease, operation);
    const tableRun = new TableRun(run, lease, { store, logger, tombstones: ledger.tombstones });
    runs.push(tableRun);
    return tableRun;
  };
  try {
    settledRuns = await settleAbandonedRuns(identifier, ports);
    const store = readingStore(ports.store, lease);
    return { result: await work({ store, settledRuns, openRun }), settledRuns };
  } catch (error) {
    return { error, settledRuns };
  }
}

function readingStore(store: ObjectStore, lease: HeldLease): ObjectStore {
  return guardedStore(store, {
    beforeRead: () => lease.requireHeld(),
    beforeWrite: async (location) => {
      assert(false, `${location}: is written before the run is opened`);
    },
  });
}

async function finishRun(run: TableRun, { logger }: LeasedPorts): Promise<void> {
  if ((await run.finish()) !== 'open') return;
  logger.warn('run.unfinished', `run ${run.runId}: is left to the next one to settle`);
}

async function tidyUp(
  event: string,
  step: () => Promise<void>,
  { logger }: LeasedPorts,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    logger.warn(event, error.message, { kind: error.kind });
  }
}
