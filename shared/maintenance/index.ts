/**
 * What the operations have in common: options as texts, the frame of a run (lease, meter, reports), groups that are run and
 * committed in batches, and how all that is told. Knows no operation; operations know nothing of each other.
 */
export {
  attemptGroup,
  executeGroups,
  type GroupRun,
  type GroupsToExecute,
  type PartialProgress,
} from './execute-groups.ts';
export {
  type CommitSummary,
  commitFacts,
  commitToJson,
  type Execution,
  type GroupResult,
  groupCounts,
  type NamedGroup,
} from './group-result.ts';
export { createMeter, LAMBDA_MEMORY_MIB, type Meter } from './meter.ts';
export {
  boolean,
  integer,
  malformed,
  type OptionTexts,
  positiveNumber,
  ratio,
  refuseUnknownOptions,
} from './option-values.ts';
export {
  heldBackReason,
  newReport,
  type ReportedRun,
  type ReportPorts,
  verdictFacts,
  verdictToJson,
} from './report-run.ts';
export {
  type OperationOutcome,
  type OperationPorts,
  type OperationRequest,
  type OperationSteps,
  type PlanPorts,
  runOperation,
} from './run-operation.ts';
export { type UnmaintainableReason, unmaintainable } from './unmaintainable.ts';
