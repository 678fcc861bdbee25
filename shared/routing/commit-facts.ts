import { ancestorsOfRef, isForeign } from '../guards/index.ts';
import { MAIN_BRANCH, type Snapshot, type TableMetadata } from '../iceberg/index.ts';
import type { PlanMark } from '../ledger/index.ts';

/** What the summary of a commit says of its files. */
export interface CommitFacts {
  readonly snapshotId: bigint;
  readonly timestampMs: number;
  readonly addedDataFileCount: number;
  /** Position delete files and vectors. */
  readonly addedPositionDeleteCount: number;
  readonly addedEqualityDeleteFileCount: number;
  /** Of data and delete files together, as summaries have it. */
  readonly addedBytes: number;
  /** Mean of all files that were added; 0 where none were. */
  readonly addedFileBytesMean: number;
  /** What was added, of the table's bytes after the commit; undefined where the summary does not tell. */
  readonly addedShare: number | undefined;
}

/** What happened to `main` since a plan. */
export interface History {
  /** Foreign commits but `replace`s, the oldest first; those that were too young for the plan are among them. */
  readonly commits: readonly CommitFacts[];
  /** Of Firn's own, the oldest first, only those that were too young for the plan. */
  readonly ownCommits: readonly CommitFacts[];
  /** False where what was planned, or was committed then, is not among the ancestors of the head: expired, or rolled back. */
  readonly isKnown: boolean;
  /** The first snapshot that was walked over; undefined where the branch has none. */
  readonly oldestMs: number | undefined;
}

/**
 * Walks back from the head of `main` to the planned snapshot, and on to the commits whose files were too young for
 * that plan. What other maintainers rewrote does not count.
 */
export function historySince(metadata: TableMetadata, plan: PlanMark | undefined): History {
  const commits: CommitFacts[] = [];
  const ownCommits: CommitFacts[] = [];
  let isReached = false;
  let isUndone = plan?.committedSnapshotId !== undefined;
  let oldestMs: number | undefined;
  for (const snapshot of ancestorsOfRef(metadata, MAIN_BRANCH)) {
    if (isPlanned(snapshot.snapshotId, plan)) isReached = true;
    if (snapshot.snapshotId === plan?.committedSnapshotId) isUndone = false;
    if (isReached && plan !== undefined && snapshot.timestampMs <= plan.untilMs) break;
    oldestMs = snapshot.timestampMs;
    if (!isForeign(snapshot)) {
      if (isReached) ownCommits.push(commitFacts(snapshot));
    } else if (snapshot.summary['operation'] !== 'replace') {
      commits.push(commitFacts(snapshot));
    }
    // The planned snapshot may have expired while the one after it has not.
    if (isPlanned(snapshot.parentSnapshotId, plan)) isReached = true;
    if (snapshot.parentSnapshotId === plan?.committedSnapshotId) isUndone = false;
  }
  commits.sort(byTime);
  ownCommits.sort(byTime);
  return { commits, ownCommits, isKnown: isReached && !isUndone, oldestMs };
}

function byTime(one: CommitFacts, other: CommitFacts): number {
  return one.timestampMs - other.timestampMs;
}

function isPlanned(snapshotId: bigint | undefined, plan: PlanMark | undefined): boolean {
  return snapshotId !== undefined && snapshotId === plan?.snapshotId;
}

function commitFacts({ snapshotId, timestampMs, summary }: Snapshot): CommitFacts {
  const addedBytes = counter(summary, 'added-files-size') ?? 0;
  const addedDataFileCount = addedDataFiles(summary);
  const addedDeleteFileCount = counter(summary, 'added-delete-files') ?? 0;
  const addedEqualityDeleteFileCount = counter(summary, 'added-equality-delete-files') ?? 0;
  const addedFileCount = addedDataFileCount + addedDeleteFileCount;
  const tableBytes = counter(summary, 'total-files-size');
  return {
    snapshotId,
    timestampMs,
    addedDataFileCount,
    addedPositionDeleteCount: Math.max(0, addedDeleteFileCount - addedEqualityDeleteFileCount),
    addedEqualityDeleteFileCount,
    addedBytes,
    addedFileBytesMean: addedFileCount === 0 ? 0 : addedBytes / addedFileCount,
    addedShare:
      tableBytes === undefined || addedBytes === 0
        ? undefined
        : addedBytes / Math.max(tableBytes, addedBytes),
  };
}

const COUNTER_PREFIXES = ['added-', 'deleted-', 'removed-', 'total-'];

/** Writers leave out what is 0. One that counts nothing at all is taken to have added one small file. */
function addedDataFiles(summary: Snapshot['summary']): number {
  const count = counter(summary, 'added-data-files');
  if (count !== undefined) return count;
  const hasCounted = Object.keys(summary).some((key) =>
    COUNTER_PREFIXES.some((prefix) => key.startsWith(prefix)),
  );
  return hasCounted || summary['operation'] === 'delete' ? 0 : 1;
}

function counter(summary: Snapshot['summary'], key: string): number | undefined {
  const text = summary[key] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
