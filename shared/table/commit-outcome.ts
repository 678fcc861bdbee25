import type { DroppedGroup } from './replace-group.ts';
import type { Table } from './table.ts';

/** What a commit did about deletes. */
export interface CommittedDeletes {
  /** Rows that others have deleted since the files were read, and whose deletes were carried over. */
  readonly carriedOverCount: number;
  /** Vectors, or position delete files, that it added, and their rows. */
  readonly addedCount: number;
  readonly addedRowCount: number;
  /** Vectors and delete files that it removed, and their rows. */
  readonly removedCount: number;
  readonly removedRowCount: number;
}

/** What became of a commit; groups that could no longer be committed are dropped, with the reason. */
export type CommitOutcome =
  | {
      readonly outcome: 'committed';
      readonly table: Table;
      readonly snapshotId: bigint;
      readonly attemptCount: number;
      readonly committedGroups: readonly number[];
      readonly droppedGroups: readonly DroppedGroup[];
      readonly deletes: CommittedDeletes;
      /** Numbers of the claims that were checked. */
      readonly invariants: readonly number[];
    }
  | {
      readonly outcome: 'all-dropped';
      readonly attemptCount: number;
      readonly droppedGroups: readonly DroppedGroup[];
    };

export type Committed = Extract<CommitOutcome, { outcome: 'committed' }>;
