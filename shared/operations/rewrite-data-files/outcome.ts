import type { ColumnChunkCounts } from '../../datafile/index.ts';
import type { GuardVerdict } from '../../guards/index.ts';
import type {
  CommitSummary,
  GroupResult,
  NamedGroup,
  UnmaintainableReason,
} from '../../maintenance/index.ts';
import type { RequestCounts } from '../../storage/index.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import type { TableCounts } from './scan-candidates.ts';

/** What became of one planned group. */
export type RewriteGroupResult = GroupResult<GroupOutputs>;

/** What one group took out and put in. */
export interface GroupOutputs extends NamedGroup {
  readonly inputFileCount: number;
  readonly inputBytes: number;
  readonly inputRowGroupCount: number;
  readonly outputFileCount: number;
  readonly outputBytes: number;
  readonly outputRowGroupCount: number;
  readonly columnChunks: ColumnChunkCounts;
  readonly deletes: GroupDeletes;
}

/** What became of the deletes that applied to the inputs of a group. */
export interface GroupDeletes {
  /** Delete files and vectors that were read, each once. */
  readonly appliedFileCount: number;
  /** Rows of the inputs that they delete: some are purged, the others carried. */
  readonly deletedRowCount: number;
  /** Those that stand in no output. */
  readonly purgedRowCount: number;
  /** Those that stand in an output, where a new delete file deletes them. */
  readonly carriedRowCount: number;
}

/** Everything a run did. */
export interface RewriteReport {
  readonly plan: RewriteDataFilesPlan;
  /** In the order of the plan's groups. */
  readonly groups: readonly RewriteGroupResult[];
  readonly commits: readonly CommitSummary[];
  /** The planned snapshot, and the same with the committed groups exchanged; other writers are left out. */
  readonly before: TableCounts;
  readonly after: TableCounts;
  /** Rules that applied and were overruled. */
  readonly verdicts: readonly GuardVerdict[];
  /** Where that lies which the next plan can go on from; absent where nothing was kept. */
  readonly planStateLocation?: string;
}

/** How a run ended, but for another one that has the table's lease. */
export type RewriteDataFilesResult =
  | { readonly outcome: 'no-snapshot' }
  | {
      readonly outcome: 'skipped';
      readonly reason: UnmaintainableReason;
      readonly detail: string;
    }
  /** `held-back`: there is work, but the verdicts say that it must wait. They are the same when observing. */
  | {
      readonly outcome: 'nothing-planned' | 'observed' | 'held-back';
      readonly plan: RewriteDataFilesPlan;
      readonly before: TableCounts;
      readonly verdicts: readonly GuardVerdict[];
      readonly planStateLocation?: string;
    }
  /** `partial`: some planned groups, or all, were not committed; each says why. */
  | ({ readonly outcome: 'committed' | 'partial' } & RewriteReport);

/** How a run ended. */
export type RewriteDataFilesOutcome = { readonly requests: RequestCounts } & (
  | RewriteDataFilesResult
  /** Another run has the table's lease; nothing was done. */
  | { readonly outcome: 'busy'; readonly owner: string; readonly expiresAtMs: number }
);
