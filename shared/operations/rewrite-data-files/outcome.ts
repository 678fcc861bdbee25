import type { IcebergError } from '../../base/index.ts';
import type { ColumnChunkCounts } from '../../datafile/index.ts';
import type { GuardVerdict } from '../../guards/index.ts';
import type { RequestCounts } from '../../storage/index.ts';
import type { DropReason } from '../../table/index.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import type { TableCounts } from './scan-candidates.ts';

/** What became of one planned group. */
export type GroupResult =
  | ({ readonly state: 'committed'; readonly snapshotId: bigint } & GroupOutputs)
  /** Rewritten, but its inputs were no longer as planned. */
  | ({
      readonly state: 'dropped';
      readonly reason: DropReason;
      readonly detail: string;
    } & GroupOutputs)
  /** Rewritten, but the commit of its batch gave up (partial progress only). */
  | ({ readonly state: 'commit-failed'; readonly error: IcebergError } & GroupOutputs)
  /** Not rewritten (partial progress only). */
  | { readonly state: 'failed'; readonly groupIndex: number; readonly error: IcebergError }
  /** Not begun, since too little time was left. */
  | { readonly state: 'not-started'; readonly groupIndex: number };

export interface GroupOutputs {
  readonly groupIndex: number;
  readonly inputFileCount: number;
  readonly inputBytes: number;
  readonly inputRowGroupCount: number;
  readonly outputFileCount: number;
  readonly outputBytes: number;
  readonly outputRowGroupCount: number;
  readonly columnChunks: ColumnChunkCounts;
}

export interface CommitSummary {
  readonly snapshotId: bigint;
  readonly metadataLocation: string;
  readonly attemptCount: number;
  readonly groupIndexes: readonly number[];
  /** Numbers of the claims that were checked before it. */
  readonly invariants: readonly number[];
}

/** Everything a run did. */
export interface RewriteReport {
  readonly plan: RewriteDataFilesPlan;
  /** In the order of the plan's groups. */
  readonly groups: readonly GroupResult[];
  readonly commits: readonly CommitSummary[];
  /** The planned snapshot, and the same with the committed groups exchanged; other writers are left out. */
  readonly before: TableCounts;
  readonly after: TableCounts;
  /** Rules that applied and were overruled. */
  readonly verdicts: readonly GuardVerdict[];
}

/** Why nothing was even planned. */
export type SkipReason = 'custom-location-provider' | 'no-manifest-list';

/** How a run ended. */
export type RewriteDataFilesOutcome = { readonly requests: RequestCounts } & (
  | { readonly outcome: 'no-snapshot' }
  /** Another run has the table's lease; nothing was done. */
  | { readonly outcome: 'busy'; readonly owner: string; readonly expiresAtMs: number }
  | { readonly outcome: 'skipped'; readonly reason: SkipReason; readonly detail: string }
  /** `held-back`: there is work, but the verdicts say that it must wait. They are the same when observing. */
  | {
      readonly outcome: 'nothing-planned' | 'observed' | 'held-back';
      readonly plan: RewriteDataFilesPlan;
      readonly before: TableCounts;
      readonly verdicts: readonly GuardVerdict[];
    }
  /** `partial`: some planned groups, or all, were not committed; each says why. */
  | ({ readonly outcome: 'committed' | 'partial' } & RewriteReport)
);
