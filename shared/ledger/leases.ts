import { assert } from '../base/index.ts';
import {
  isGrantedTo,
  isLeaseFree,
  Lease,
  type LeaseGrant,
  leaseBody,
  leaseKey,
  parseLease,
} from './lease.ts';
import { type LedgerPorts, writeSettled } from './settled-write.ts';

export interface LeaseRequest {
  readonly table: string;
  /** Which operations exclude each other, such as `rewrite`. */
  readonly scope: string;
  /** The run's id: unique to this request. */
  readonly owner: string;
  readonly durationMs: number;
}

export type LeaseOutcome =
  | { readonly outcome: 'acquired'; readonly lease: Lease }
  /** Somebody has it; what is known of them. */
  | { readonly outcome: 'busy'; readonly owner: string; readonly expiresAtMs: number };

/** Who may work on a table, one at a time and for a limited time. */
export class Leases {
  readonly #ports: LedgerPorts;

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
  }

  /**
   * Takes a lease that is free or, by this process's clock, expired; its fencing number is one more than that
   * of any grant before. One read and one write; of any number of requests, one is granted.
   *
   * @throws unavailable — the lease may have been granted all the same: then it expires
   */
  async acquire(request: LeaseRequest): Promise<LeaseOutcome> {
    const { table, scope, owner, durationMs } = request;
    assert(durationMs > 0, `lease: duration ${durationMs} ms is not positive`);
    const { items, clock } = this.#ports;
    let item = await items.read(leaseKey(request));
    for (;;) {
      const record = item === undefined ? undefined : parseLease(item);
      if (record?.owner !== undefined && !isLeaseFree(record, clock.nowMs())) {
        return { outcome: 'busy', owner: record.owner, expiresAtMs: record.expiresAtMs };
      }
      const fencingNumber = (record?.fencingNumber ?? 0) + 1;
      const expiresAtMs = clock.nowMs() + durationMs;
      const write = {
        ...leaseKey(request),
        body: leaseBody({ owner, expiresAtMs, fencingNumber }),
        baseRevision: item?.revision,
      };
      const outcome = await writeSettled(write, this.#ports);
      if (outcome.outcome === 'written') {
        const grant = { table, scope, owner, fencingNumber };
        return { outcome: 'acquired', lease: new Lease(grant, outcome.item, this.#ports) };
      }
      item = outcome.current;
    }
  }

  /** Who has a lease, by this process's clock; undefined when it is free. One read. */
  async holder(
    lease: Pick<LeaseRequest, 'table' | 'scope'>,
  ): Promise<{ readonly owner: string; readonly expiresAtMs: number } | undefined> {
    const item = await this.#ports.items.read(leaseKey(lease));
    if (item === undefined) return undefined;
    const record = parseLease(item);
    const { owner, expiresAtMs } = record;
    if (owner === undefined || isLeaseFree(record, this.#ports.clock.nowMs())) return undefined;
    return { owner, expiresAtMs };
  }

  /** Whether a lease is still the grant's and has not expired, by this process's clock. One read. */
  async isHeld(grant: LeaseGrant): Promise<boolean> {
    const item = await this.#ports.items.read(leaseKey(grant));
    if (item === undefined) return false;
    const record = parseLease(item);
    return isGrantedTo(record, grant) && !isLeaseFree(record, this.#ports.clock.nowMs());
  }
}
