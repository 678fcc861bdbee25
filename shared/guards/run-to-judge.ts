import type { TableMetadata } from '../iceberg/index.ts';
import type { MaintenanceKind } from './maintenance-kind.ts';
import type { GuardSettings } from './settings.ts';

/** A run that would add a snapshot to a branch. */
export interface RunToJudge {
  readonly metadata: TableMetadata;
  readonly branch: string;
  readonly operation: MaintenanceKind;
  readonly settings: GuardSettings;
  readonly nowMs: number;
  /** When the work was first found to be due, where somebody remembers it. */
  readonly firstDueAtMs?: number;
}
