import { type Clock, type Logger, type Random, silentLogger } from '../../shared/base/index.ts';
import type { Catalog } from '../../shared/catalog/index.ts';
import { createLedger, type Ledger } from '../../shared/ledger/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { ActorFaults } from './actor-faults.ts';
import { randomOf } from './chance.ts';
import type { Actor } from './scheduler.ts';
import { SimulatedCatalog } from './simulated-catalog.ts';
import { simulatedItems } from './simulated-items.ts';
import { SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

/** The world as one actor has it: each call waits for its turns and may meet a fault. */
export interface ActorPorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts what it is told. */
  readonly logger: Logger;
}

export function actorPorts(actor: Actor, world: World, skewMs: number): ActorPorts {
  const faults = new ActorFaults(actor, world);
  const clock: Clock = {
    nowMs: () => world.clock.nowMs() + skewMs,
    sleepMs: (durationMs) => world.scheduler.sleep(actor, durationMs),
  };
  return {
    catalog: new SimulatedCatalog(actor, world, faults),
    store: new SimulatedStore(actor, world, { faults, kind: 'store' }),
    ledger: createLedger({
      items: simulatedItems(actor, world, faults),
      state: {
        store: new SimulatedStore(actor, world, { faults, kind: 'state' }),
        prefix: 's3://firn-state/',
      },
      clock,
      random: randomOf(world.script.seed, `${actor.name} ledger`),
    }),
    clock,
    random: randomOf(world.script.seed, actor.name),
    logger: {
      ...silentLogger,
      debug: (event) => world.count(event),
      warn: (event, message) => world.count(event === 'commit.settled' ? message : event),
    },
  };
}
