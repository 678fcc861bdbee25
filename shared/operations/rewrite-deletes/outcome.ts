import type { GuardVerdict } from '../../guards/index.ts';
import type {
  CommitSummary,
  GroupResult,
  NamedGroup,
  UnmaintainableReason,
} from '../../maintenance/index.ts';
import type { RequestCounts } from '../../storage/index.ts';
import type { RewriteDeletesPlan } from './plan.ts';
import type { DeleteCounts } from './scan-deletes.ts';

/** What one group took out and put in. */
export interface GroupDeletes extends NamedGroup {
  /** Delete files and vectors. */
  readonly removedFileCount: number;
  readonly addedFileCount: number;
  /** Of new objects. */
  readonly addedBytes: number;
  /** Data files that were given a new delete file, or found to need none. */
  readonly coveredFileCount: number;
}

export type DeleteGroupResult = GroupResult<GroupDeletes>;

interface Planned {
  readonly plan: RewriteDeletesPlan;
  /** Of the planned snapshot. */
  readonly before: DeleteCounts;
  /** Rules that applied; with a commit, that were overruled. */
  readonly verdicts: readonly GuardVerdict[];
}

/** Everything a run did. */
export interface RewriteDeletesReport extends Planned {
  /** In the order of the plan's groups. */
  readonly groups: readonly DeleteGroupResult[];
  readonly commits: readonly CommitSummary[];
}

/** How a run ended, but for another one that has the table's lease. */
export type RewriteDeletesResult =
  | { readonly outcome: 'no-snapshot' }
  | {
      readonly outcome: 'skipped';
      readonly reason: UnmaintainableReason;
      readonly detail: string;
    }
  /** `held-back`: there is work, but the verdicts say that it must wait. They are the same when observing. */
  | ({ readonly outcome: 'nothing-planned' | 'observed' | 'held-back' } & Planned)
  /** `partial`: some planned groups, or all, were not committed; each says why. */
  | ({ readonly outcome: 'committed' | 'partial' } & RewriteDeletesReport);

/** How a run ended. */
export type RewriteDeletesOutcome = { readonly requests: RequestCounts } & (
  | RewriteDeletesResult
  /** Another run has the table's lease; nothing was done. */
  | { readonly outcome: 'busy'; readonly owner: string; readonly expiresAtMs: number }
);
