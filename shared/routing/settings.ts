import {
  DEFAULT_GUARD_SETTINGS,
  type DeploymentSwitches,
  type GuardSettings,
} from '../guards/index.ts';

/** What a deployment decides for all of its tables. */
export interface RoutingSettings extends DeploymentSwitches {
  readonly guards: GuardSettings;
  /** Between two reads of one table's metadata; `firn.routing.min-interval-ms` can only ask for more. */
  readonly routingIntervalMsFloor: number;
}

/** As shipped: nothing is allowed. */
export const DEFAULT_ROUTING_SETTINGS: RoutingSettings = Object.freeze({
  enabledTables: Object.freeze([]),
  isObserving: false,
  guards: DEFAULT_GUARD_SETTINGS,
  // A table that is committed to every second is read once in sixty commits. No trigger is in a hurry: files are
  // left alone for longer than that.
  routingIntervalMsFloor: 60_000,
});

/**
 * How long a message may be on its way before another one is sent for the same work: a run of 15 minutes, and as long in the
 * queue. A second one does no harm, since the ledger's lease keeps runs apart.
 */
export const REQUEUE_MS = 30 * 60_000;
