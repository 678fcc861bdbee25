/**
 * Whether Firn may change a table now: the enabling switches, and the rules that keep its commits from making
 * other writers fail. Pure functions of the table's metadata, the deployment's settings and the time; each says by
 * a stable name why not yet, with its figures, and from when on it would be allowed.
 * @see design, "Living with writers". Left out: budgets, quiet hours, and whatever needs to read files.
 */
export { type ColdPartitionRule, coldPartitionRule } from './cold-partitions.ts';
export { type FileAgeRule, fileAgeRule } from './file-age.ts';
export type { MaintenanceKind } from './maintenance-kind.ts';
export {
  type DeploymentSwitches,
  type Permission,
  type PermissionRule,
  permissionFor,
  permissionOfPerson,
} from './permission.ts';
export { judgeRun } from './run-guards.ts';
export type { RunToJudge } from './run-to-judge.ts';
export {
  DEFAULT_GUARD_SETTINGS,
  type GuardOverrides,
  type GuardSettings,
  guardSettingsText,
  LOWERED_GUARD_SETTINGS,
} from './settings.ts';
export { ancestorsOfRef, isForeign } from './snapshots.ts';
export { type GuardName, type GuardVerdict, heldBackUntilMs, isHeldBack } from './verdict.ts';
