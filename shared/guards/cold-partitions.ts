import type { Snapshot, TableMetadata } from '../iceberg/index.ts';
import { fileAgeRule } from './file-age.ts';
import type { GuardSettings } from './settings.ts';
import { ancestorsOfRef, isForeign } from './snapshots.ts';

/** Whoever deletes rows of a partition tends to come back to it: twice the age at which its files may be rewritten. */
const COLD_AGE_FACTOR = 2;

/** Neither changes which rows are deleted. All others do, row deltas among them, and so may a snapshot that does not say. */
const UNTOUCHING_OPERATIONS: readonly (string | undefined)[] = ['append', 'replace'];

/** Which partitions have been quiet for long enough that their delete files may be rewritten. */
export interface ColdPartitionRule {
  /** 0 turns the rule off. */
  readonly coldAgeMs: number;
  /**
   * Foreign snapshots of the branch, newest first, that deleted rows and are too young: a partition is cold when none of
   * them touched it. What they touched stands in the manifests that each of them added.
   */
  readonly touchingSnapshots: readonly Snapshot[];
  /** When what a snapshot touched is cold, if nothing else touches it. */
  readonly dueAtMs: (snapshot: Pick<Snapshot, 'timestampMs'>) => number;
}

/**
 * Leaves warm partitions alone: whoever deletes rows by vectors replaces the vector that was read, and fails where somebody
 * else has done so in the meantime. A partition is cold when no foreign delete, overwrite or row delta touched it for
 * twice the minimum file age. Snapshots that have expired are old.
 *
 * @throws invalid-config — when `firn.min-file-age-ms` is malformed
 */
export function coldPartitionRule({
  metadata,
  branch,
  settings,
  nowMs,
}: {
  readonly metadata: TableMetadata;
  readonly branch: string;
  readonly settings: GuardSettings;
  readonly nowMs: number;
}): ColdPartitionRule {
  const { minFileAgeMs } = fileAgeRule({ metadata, settings, nowMs });
  const coldAgeMs = COLD_AGE_FACTOR * minFileAgeMs;
  const dueAtMs = ({ timestampMs }: Pick<Snapshot, 'timestampMs'>): number =>
    timestampMs + coldAgeMs;
  const touchingSnapshots = [...ancestorsOfRef(metadata, branch)].filter(
    (snapshot) =>
      coldAgeMs > 0 &&
      dueAtMs(snapshot) > nowMs &&
      isForeign(snapshot) &&
      !UNTOUCHING_OPERATIONS.includes(snapshot.summary['operation']),
  );
  return { coldAgeMs, touchingSnapshots, dueAtMs };
}
