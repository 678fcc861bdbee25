import assert from 'node:assert/strict';
import { ManualClock, randomUuid, seededRandom } from '../../../shared/base/index.ts';
import type { ItemStore, Lease, LeaseOutcome, Ledger, Run } from '../../../shared/ledger/index.ts';

export interface LedgerHarness {
  /** An empty ledger on the clock it was opened with. */
  readonly ledger: Ledger;
  /** Another client of the same ledger, as another process would have. */
  readonly other: Ledger;
  /** The items of both. */
  readonly items: ItemStore;
  close(): Promise<void>;
}

export const LEASE_MS = 60_000;

const START_MS = Date.UTC(2026, 10, 30);

/** One adapter's ledger, and the first steps of most tests. */
export class LedgerUnderTest {
  readonly clock = new ManualClock(START_MS);
  readonly #random = seededRandom(7);
  #harness: LedgerHarness | undefined;

  get harness(): LedgerHarness {
    assert.ok(this.#harness !== undefined, 'the ledger is not open yet');
    return this.#harness;
  }

  async open(open: (clock: ManualClock) => Promise<LedgerHarness>): Promise<void> {
    this.#harness = await open(this.clock);
  }

  readonly acquire = (
    table: string,
    by = this.harness.ledger,
    owner = randomUuid(this.#random),
  ): Promise<LeaseOutcome> =>
    by.leases.acquire({ table, scope: 'rewrite', owner, durationMs: LEASE_MS });

  readonly requireLease = async (table: string, by = this.harness.ledger): Promise<Lease> => {
    const outcome = await this.acquire(table, by);
    assert.ok(outcome.outcome === 'acquired', `${table} is busy`);
    return outcome.lease;
  };

  readonly openRun = async (
    table: string,
  ): Promise<{ readonly lease: Lease; readonly run: Run }> => {
    const lease = await this.requireLease(table);
    return { lease, run: await this.harness.ledger.runs.open(lease, 'rewrite-data-files') };
  };

  /** The run as another process reads it. */
  readonly requireRun = async (table: string, runId: string): Promise<Run> => {
    const run = await this.harness.other.runs.read(table, runId);
    assert.ok(run !== undefined, `${table} has no run ${runId}`);
    return run;
  };
}
