/**
 * Why a plan is made of the whole table:
 * - `requested`: whoever asked wants it so, as a person always does, or there is no ledger to go on from;
 * - `few-manifests`: reading them all costs less than remembering anything;
 * - `first-plan`: nothing is remembered yet;
 * - `full-plan-interval`: the last full plan is too long ago;
 * - `state-unreadable`: what was remembered is gone, damaged, or of another version of Firn;
 * - `history-unknown`: the snapshot that was planned last is not among the head's ancestors: it expired, the branch was
 *   set back, or another table has the name;
 * - `options-changed`: another choice of files than last time;
 * - `global-deletes`: equality deletes that apply to every partition came or went.
 */
export type FullPlanReason =
  | 'requested'
  | 'few-manifests'
  | 'first-plan'
  | 'full-plan-interval'
  | 'state-unreadable'
  | 'history-unknown'
  | 'options-changed'
  | 'global-deletes';

/** What of the table a plan was made of. */
export type PlanScope =
  | { readonly kind: 'full'; readonly reason: FullPlanReason }
  | {
      readonly kind: 'incremental';
      /** What was planned last. */
      readonly sinceSnapshotId: bigint;
      /** Partitions that changed since, or were left due; only these were looked at. */
      readonly partitionCount: number;
      /** Manifests that were read, of those that the snapshot has. */
      readonly readManifestCount: number;
      readonly manifestCount: number;
    };

/** What a plan that nobody said more of is made of. */
export const WHOLE_TABLE: PlanScope = { kind: 'full', reason: 'requested' };
