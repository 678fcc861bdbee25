/**
 * What is due on a table, and why: one pure view of its metadata and of what the ledger remembers, the same for the
 * router, the workers and the command; the look that reads both, sends messages and marks what is due later; and
 * what a run leaves behind for the next look. Design, "How data flows". Knows no SDK, and nothing of Lambda.
 */
export {
  type LookCause,
  type LookOutcome,
  type LookPorts,
  type LookRequest,
  lookAtTable,
  type OperationQueues,
  type SentMessage,
} from './look-at-table.ts';
export {
  addTallies,
  type LookManyPorts,
  type LookTally,
  lookAtTables,
  NO_LOOKS,
} from './look-at-tables.ts';
export {
  type OperationRequest,
  type RequestOutcome,
  requestOperation,
} from './request-operation.ts';
export {
  type OperationStanding,
  type OperationView,
  type RoutingInput,
  type RoutingView,
  routingView,
} from './routing-view.ts';
export { DEFAULT_ROUTING_SETTINGS, REQUEUE_MS, type RoutingSettings } from './settings.ts';
export { ofSameTable } from './state-after-look.ts';
export { type EndedRun, ROUNDS_MAX, type RunEnding, stateAfterRun } from './state-after-run.ts';
export { type TriggerView, triggerText } from './triggers.ts';
