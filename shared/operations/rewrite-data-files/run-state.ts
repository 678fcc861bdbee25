import type { Snapshot } from '../../iceberg/index.ts';
import type { Table } from '../../table/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { GroupResult } from './outcome.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import type { RewrittenGroup } from './run.ts';

/** Something happened that a person may want to see. */
export type RewriteProgress =
  | { readonly step: 'planned'; readonly groupCount: number; readonly inputBytes: number }
  | {
      readonly step: 'group-rewritten';
      readonly doneCount: number;
      readonly groupCount: number;
      readonly inputBytes: number;
    }
  | { readonly step: 'committed'; readonly snapshotId: bigint; readonly groupCount: number };

export interface ExecuteOptions {
  readonly table: Table;
  readonly snapshot: Snapshot;
  readonly plan: RewriteDataFilesPlan;
  readonly onProgress: (progress: RewriteProgress) => void;
}

/** What a run knows from batch to batch. */
export interface RunState extends ExecuteOptions {
  readonly runUuid: string;
  doneCount: number;
  failedCommitCount: number;
}

/** A group that was run, or was not, before its batch is committed. */
export type GroupRun =
  | { readonly group: PlannedGroup; readonly rewritten: RewrittenGroup }
  | { readonly group: PlannedGroup; readonly result: GroupResult };
