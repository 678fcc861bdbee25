import { type Snapshot, tableProperty } from '../iceberg/index.ts';
import { kindOfReplace } from './maintenance-kind.ts';
import type { RunToJudge } from './run-to-judge.ts';
import { isForeign } from './snapshots.ts';
import type { GuardVerdict } from './verdict.ts';

/** Long enough to see a weekly job twice, and to be sure that one was turned off. */
const QUIET_MS = 7 * 24 * 60 * 60_000;

/**
 * Stands down where somebody else does the same work: two `replace` snapshots of the same kind without Firn's run id,
 * within seven days of each other, and the last of them not seven days ago. `firn.share=true` says that both shall go
 * on.
 *
 * Only what happened since the table was enabled should count, but metadata does not say when a property was set: the
 * log has the times of earlier files, not what they held, and a change of properties leaves no mark of its own. So
 * every foreign `replace` that the metadata still has counts. A table that changes over to Firn is left alone for
 * seven days after the last run of its old maintainer, unless its owner says `firn.share=true`.
 *
 * @throws invalid-config — when `firn.share` is malformed
 */
export function foreignMaintainerVerdict(run: RunToJudge): GuardVerdict | undefined {
  const { metadata, settings, nowMs, operation } = run;
  const isShared = tableProperty(metadata.properties, 'firn.share');
  const replaces = metadata.snapshots
    .filter((snapshot) => isForeign(snapshot) && isOfKind(snapshot, operation))
    .sort((one, other) => one.timestampMs - other.timestampMs);
  const [before, last] = replaces.slice(-2);
  if (before === undefined || last === undefined) return undefined;
  const gapMs = last.timestampMs - before.timestampMs;
  const dueAtMs = last.timestampMs + QUIET_MS;
  if (gapMs > QUIET_MS || dueAtMs <= nowMs) return undefined;
  const isOverruled = settings.overrides?.isShared ?? isShared;
  const who = maintainer(last);
  return {
    guard: 'foreign-maintainer',
    state: isOverruled ? 'overruled' : 'held-back',
    detail: isOverruled
      ? `${who} rewrites this table, too; the work is shared`
      : `${who} rewrites this table, too; seven days without it or firn.share=true let Firn go on`,
    figures: {
      operation,
      engine: last.summary['engine-name'] ?? 'unknown',
      appId: last.summary['app-id'] ?? last.summary['spark.app.id'] ?? 'unknown',
      lastSnapshotId: String(last.snapshotId),
      lastMs: last.timestampMs,
      gapMs,
      quietMs: QUIET_MS,
    },
    dueAtMs,
  };
}

function isOfKind(snapshot: Snapshot, operation: RunToJudge['operation']): boolean {
  return (
    snapshot.summary['operation'] === 'replace' &&
    (kindOfReplace(snapshot) ?? operation) === operation
  );
}

function maintainer({ snapshotId, summary }: Snapshot): string {
  const engine = summary['engine-name'] ?? 'another maintainer';
  const version = summary['engine-version'];
  const appId = summary['app-id'] ?? summary['spark.app.id'];
  return [
    version === undefined ? engine : `${engine} ${version}`,
    ...(appId === undefined ? [] : [`(app ${appId})`]),
    `(snapshot ${snapshotId})`,
  ].join(' ');
}
