import type { LookPorts } from '../routing/index.ts';
import type { Deployment } from './deployment.ts';

/** What a deployment looks at tables with. */
export function lookPorts({ settings, warehouse, queues, clock, random }: Deployment): LookPorts {
  const { catalog, store } = warehouse;
  return { catalog, store, ledger: warehouse.openLedger(), queues, settings, clock, random };
}
