import { tableProperty } from '../iceberg/index.ts';
import type { RunToJudge } from './run-to-judge.ts';
import { seconds } from './seconds.ts';
import { ancestorsOfRef, isForeign } from './snapshots.ts';
import type { GuardVerdict } from './verdict.ts';

/**
 * Keeps runs apart that commit to one branch, so that writers beside them do not lose again and again. The batches of
 * one run count as one commit.
 *
 * @throws invalid-config — when `firn.commit.min-interval-ms` is malformed
 */
export function commitIntervalVerdict(run: RunToJudge): GuardVerdict | undefined {
  const { metadata, branch, settings, nowMs } = run;
  const property = tableProperty(metadata.properties, 'firn.commit.min-interval-ms') ?? 0;
  const intervalMs =
    settings.overrides?.commitIntervalMs ?? Math.max(property, settings.commitIntervalMsFloor);
  const last = ancestorsOfRef(metadata, branch).find((snapshot) => !isForeign(snapshot));
  if (last === undefined) return undefined;
  const dueAtMs = last.timestampMs + intervalMs;
  if (intervalMs === 0 || dueAtMs <= nowMs) return undefined;
  const agoMs = nowMs - last.timestampMs;
  return {
    guard: 'commit-interval',
    state: 'held-back',
    detail: `Firn committed to ${branch} ${seconds(agoMs)} ago, its runs are ${seconds(intervalMs)} apart`,
    figures: { branch, lastSnapshotId: String(last.snapshotId), agoMs, intervalMs },
    dueAtMs,
  };
}
