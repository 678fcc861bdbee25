import {
  MAIN_BRANCH,
  type Snapshot,
  snapshotOfRef,
  type TableMetadata,
  tableProperty,
} from '../iceberg/index.ts';
import type { RunToJudge } from './run-to-judge.ts';
import { seconds } from './seconds.ts';
import { ancestorsOfRef } from './snapshots.ts';
import type { GuardVerdict } from './verdict.ts';

/** Something that stands on main's head and waits to be published there. */
interface Unpublished {
  /** For people: the branch, or the snapshot. */
  readonly name: string;
  /** When it began to wait: the first snapshot beyond main's head. */
  readonly sinceMs: number;
}

/**
 * Does not take the ground from under what is being audited: a branch that main could be fast-forwarded to, or a staged
 * snapshot that only main's present head can take (any but an append, which can be picked onto any head). Such work
 * holds back commits to main, at most `firn.wap.wait-ms` from when a commit was first due; then Firn goes on, and
 * names it. Tags do not wait for anything.
 *
 * That happens once: the commit is main's head then, and what waited does not stand on it any more.
 *
 * @throws invalid-config — when `firn.wap.wait-ms` is malformed
 */
export function writeAuditPublishVerdict(run: RunToJudge): GuardVerdict | undefined {
  const { metadata, branch, settings, nowMs } = run;
  const property = tableProperty(metadata.properties, 'firn.wap.wait-ms') ?? 0;
  const waitMs = settings.overrides?.wapWaitMs ?? Math.max(property, settings.wapWaitMsFloor);
  if (branch !== MAIN_BRANCH) return undefined;
  const waiting = [...unpublishedBranches(metadata), ...stagedSnapshots(metadata)];
  const first = waiting.toSorted((one, other) => one.sinceMs - other.sinceMs)[0];
  if (first === undefined) return undefined;
  const dueAtMs = (run.firstDueAtMs ?? first.sinceMs) + waitMs;
  const isHeldBack = waitMs > 0 && nowMs < dueAtMs;
  const names = waiting.map(({ name }) => name).join(', ');
  return {
    guard: 'write-audit-publish',
    state: isHeldBack ? 'held-back' : 'overruled',
    detail: isHeldBack
      ? `${names} could not be published after a commit to main, which waits for at most ${seconds(waitMs)}`
      : `${names} cannot be published by fast-forward after this commit to main, which has waited for ${seconds(waitMs)}`,
    figures: { unpublished: names, sinceMs: first.sinceMs, waitMs },
    dueAtMs,
  };
}

function unpublishedBranches(metadata: TableMetadata): readonly Unpublished[] {
  const mainHead = snapshotOfRef(metadata);
  const branches = [...metadata.refs].filter(
    ([name, { type }]) => type === 'branch' && name !== MAIN_BRANCH,
  );
  return branches.flatMap(([name]) => {
    let first: Snapshot | undefined;
    for (const snapshot of ancestorsOfRef(metadata, name)) {
      if (snapshot.snapshotId === mainHead?.snapshotId) {
        return first === undefined ? [] : [{ name: `branch ${name}`, sinceMs: first.timestampMs }];
      }
      first = snapshot;
    }
    return [];
  });
}

/** Snapshots built on main's head that no branch or tag has, and that were never current (as rolled-back ones were). */
function stagedSnapshots(metadata: TableMetadata): readonly Unpublished[] {
  const mainHead = snapshotOfRef(metadata);
  const onHead = metadata.snapshots.filter(
    ({ parentSnapshotId, summary }) =>
      mainHead !== undefined &&
      parentSnapshotId === mainHead.snapshotId &&
      summary['operation'] !== 'append',
  );
  if (onHead.length === 0) return [];
  const known = new Set(metadata.snapshotLog.map(({ snapshotId }) => snapshotId));
  for (const name of metadata.refs.keys()) {
    for (const { snapshotId } of ancestorsOfRef(metadata, name)) known.add(snapshotId);
  }
  return onHead
    .filter(({ snapshotId }) => !known.has(snapshotId))
    .map(({ snapshotId, timestampMs, summary }) => {
      const wapId = summary['wap.id'];
      const name = `staged snapshot ${snapshotId}${wapId === undefined ? '' : ` (wap.id ${wapId})`}`;
      return { name, sinceMs: timestampMs };
    });
}
