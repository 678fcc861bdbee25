import { IcebergError, isIcebergError } from '../base/index.ts';
import type { Lease } from '../ledger/index.ts';

/** What a run may take between two steps; after a crash, others wait that long at most. */
export const LEASE_MS = 180_000;

/** A commit may wait a minute between attempts (`commit.retry.max-wait-ms`), and must have time left after it. */
const RENEWED_BELOW_MS = 90_000;

/**
 * A lease that is renewed by the work done under it: each request asks for it first, so nothing has to run beside.
 * Once it is lost, every further step is refused, whoever asks.
 */
export class HeldLease {
  readonly #lease: Lease;
  #isLost = false;
  #renewal: Promise<void> | undefined;

  constructor(lease: Lease) {
    this.#lease = lease;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /**
   * Makes sure that the lease is ours, renewing it when half of it is over. No request most of the time.
   *
   * @throws commit-conflict — it is somebody else's: nothing more may be written, and nothing committed
   * @throws unavailable — it has expired, and could not be renewed
   */
  async requireHeld(): Promise<void> {
    this.#refuseLost();
    if (this.#lease.remainingMs() > RENEWED_BELOW_MS) return;
    this.#renewal ??= this.#renew();
    await this.#renewal;
    this.#refuseLost();
  }

  /** As `requireHeld`, for steps that do no harm without it, such as finding out what became of a commit. */
  async keepAlive(): Promise<void> {
    try {
      await this.requireHeld();
    } catch (error) {
      // Whoever writes next is refused.
      if (!isIcebergError(error)) throw error;
    }
  }

  /** Ours no longer, as something else than the lease itself has told. */
  markLost(): void {
    this.#isLost = true;
  }

  async release(): Promise<void> {
    await this.#lease.release();
  }

  async #renew(): Promise<void> {
    try {
      if ((await this.#lease.renew(LEASE_MS)) === 'lost') this.#isLost = true;
    } catch (error) {
      // As long as there is time left the next step asks again.
      if (!isIcebergError(error, 'unavailable') || this.#lease.remainingMs() <= 0) throw error;
    } finally {
      this.#renewal = undefined;
    }
  }

  #refuseLost(): void {
    if (this.#isLost) throw leaseLost(this.#lease);
  }
}

export function leaseLost({ owner, scope, table }: Lease): IcebergError {
  return new IcebergError(
    'commit-conflict',
    `run ${owner}: has lost the ${scope} lease of ${table}, somebody else has it`,
    { runId: owner },
  );
}
