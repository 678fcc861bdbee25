import { type Clock, ManualClock, seededRandom } from '../../shared/base/index.ts';
import {
  createLedger,
  type ItemStore,
  type Ledger,
  MemoryItemStore,
} from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';

/** A ledger in memory, with chance of its own so that it does not change anybody else's. */
export function memoryLedger({
  clock = new ManualClock(0),
  items = new MemoryItemStore(),
}: {
  readonly clock?: Clock;
  readonly items?: ItemStore;
} = {}): Ledger {
  const state = { store: new MemoryObjectStore({ clock }), prefix: 's3://firn-state/ledger/' };
  return createLedger({ items, state, clock, random: seededRandom(23) });
}
