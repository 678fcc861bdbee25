import { createTurns, type JsonObject } from '../base/index.ts';
import type { Item } from './item-store.ts';
import { itemFields, newBody } from './record.ts';
import { type LedgerPorts, writeSettled } from './settled-write.ts';

/** What an item says of a lease. It is never removed, so the fencing number never falls. */
export interface LeaseRecord {
  /** Undefined when it was released. */
  readonly owner?: string;
  readonly expiresAtMs: number;
  /** How often the lease has been given to somebody, from 1. */
  readonly fencingNumber: number;
}

/** Who a lease was given to. */
export interface LeaseGrant {
  readonly table: string;
  readonly scope: string;
  readonly owner: string;
  readonly fencingNumber: number;
}

/** Whether nobody holds a lease any more, by the clock of the one who reads it. */
export function isLeaseFree(record: LeaseRecord, nowMs: number): boolean {
  return record.owner === undefined || nowMs >= record.expiresAtMs;
}

/** Whether a lease is still the grant's, expired or not. */
export function isGrantedTo(record: LeaseRecord, grant: LeaseGrant): boolean {
  return record.owner === grant.owner && record.fencingNumber === grant.fencingNumber;
}

export function leaseKey({ table, scope }: Pick<LeaseGrant, 'table' | 'scope'>) {
  return { partition: table, sort: `lease#${scope}` };
}

export function leaseBody({ owner, expiresAtMs, fencingNumber }: LeaseRecord): JsonObject {
  return newBody({
    ...(owner === undefined ? {} : { owner }),
    'expires-at-ms': expiresAtMs,
    'fencing-number': fencingNumber,
  });
}

/** @throws invalid-data, unsupported */
export function parseLease(item: Item): LeaseRecord {
  const fields = itemFields(item);
  return {
    ...(fields.has('owner') ? { owner: fields.text('owner') } : {}),
    expiresAtMs: fields.count('expires-at-ms'),
    fencingNumber: fields.count('fencing-number'),
  };
}

/**
 * A lease that its owner was given. It is a `Deadline`: work that needs the lease must fit in what remains of
 * it. It keeps two processes from doing the same work, and no more: what keeps a commit safe is the pointer's
 * own condition, since a process may sleep through its expiry.
 */
export class Lease implements LeaseGrant {
  readonly table: string;
  readonly scope: string;
  readonly owner: string;
  readonly fencingNumber: number;
  readonly #ports: LedgerPorts;
  readonly #inTurn = createTurns();
  /** As last written or seen. */
  #item: Item;
  #expiresAtMs: number;
  #isHeld = true;

  constructor(grant: LeaseGrant, item: Item, ports: LedgerPorts) {
    this.table = grant.table;
    this.scope = grant.scope;
    this.owner = grant.owner;
    this.fencingNumber = grant.fencingNumber;
    this.#ports = ports;
    this.#item = item;
    this.#expiresAtMs = parseLease(item).expiresAtMs;
  }

  /** Milliseconds until it expires; 0 once it is known to be lost or released, negative after its time. */
  remainingMs(): number {
    return this.#isHeld ? this.#expiresAtMs - this.#ports.clock.nowMs() : 0;
  }

  /**
   * Sets the expiry to `durationMs` from now; also after it expired, while nobody else has taken it. One write.
   *
   * @throws unavailable — the lease is as it was, or has been renewed
   */
  renew(durationMs: number): Promise<'renewed' | 'lost'> {
    return this.#inTurn(async () => {
      const expiresAtMs = this.#ports.clock.nowMs() + durationMs;
      const { owner, fencingNumber } = this;
      if (!(await this.#write({ owner, expiresAtMs, fencingNumber }))) return 'lost';
      this.#expiresAtMs = expiresAtMs;
      return 'renewed';
    });
  }

  /** Gives the lease back, if it is still this one's. One write. @throws unavailable — it may expire instead */
  release(): Promise<'released' | 'lost'> {
    return this.#inTurn(async () => {
      const { fencingNumber } = this;
      const wasHeld = await this.#write({ expiresAtMs: 0, fencingNumber });
      this.#isHeld = false;
      return wasHeld ? 'released' : 'lost';
    });
  }

  /** False when the lease is somebody else's, or nobody's. */
  async #write(record: LeaseRecord): Promise<boolean> {
    while (this.#isHeld) {
      const write = {
        ...leaseKey(this),
        body: leaseBody(record),
        baseRevision: this.#item.revision,
      };
      const outcome = await writeSettled(write, this.#ports);
      if (outcome.outcome === 'written') {
        this.#item = outcome.item;
        return true;
      }
      // A renewal that was given up may have arrived since: the lease is ours all the same.
      const { current } = outcome;
      this.#isHeld = current !== undefined && isGrantedTo(parseLease(current), this);
      if (current !== undefined) this.#item = current;
    }
    return false;
  }
}
