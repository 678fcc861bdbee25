import type { Clock, Random } from '../base/index.ts';
import { CountingItemStore, type ItemRequestCounts } from './counting-item-store.ts';
import type { ItemStore } from './item-store.ts';
import { Leases } from './leases.ts';
import { Reports } from './reports.ts';
import { Runs } from './runs.ts';
import { Sidecars } from './sidecars.ts';
import type { StateStore } from './state-store.ts';
import { TableStates } from './table-states.ts';
import { Tombstones } from './tombstones.ts';

export interface LedgerOptions {
  readonly items: ItemStore;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * What Firn remembers of the tables of one catalog; a table is named by its full name. Every method throws
 * `access-denied`, `not-found` and `invalid-config` when the store of its items demands it, `unavailable` when it
 * does not answer (a change may then have taken effect, and can be made again), `invalid-data` for a record that
 * cannot be read and `unsupported` for one of a later version.
 */
export interface Ledger {
  readonly leases: Leases;
  readonly runs: Runs;
  readonly tombstones: Tombstones;
  readonly reports: Reports;
  readonly states: TableStates;
  readonly sidecars: Sidecars;
  /** Where its bulky state lies. */
  readonly statePrefix: string;
  /** Requests for items since it was opened; it goes on counting. */
  readonly requestCounts: Readonly<ItemRequestCounts>;
}

/** A ledger on the given stores. No request is made yet. */
export function createLedger(options: LedgerOptions): Ledger {
  const items = new CountingItemStore(options.items);
  const ports = { ...options, items };
  const leases = new Leases(ports);
  return {
    leases,
    runs: new Runs(ports, leases),
    tombstones: new Tombstones(ports),
    reports: new Reports(ports),
    states: new TableStates(ports),
    sidecars: new Sidecars(ports.state),
    statePrefix: options.state.prefix,
    requestCounts: items.requestCounts,
  };
}
