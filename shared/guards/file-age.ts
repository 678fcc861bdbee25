import { type TableMetadata, tableProperty } from '../iceberg/index.ts';
import type { GuardSettings } from './settings.ts';
import { isForeign } from './snapshots.ts';

/** Foreign commits that the age follows from: enough to see a day's rhythm of an hourly job. */
const FOREIGN_COMMITS_MAX = 50;

/** The gap that only one in twenty exceeds, twice: whoever read a file has committed or given up by then. */
const GAP_PERCENTILE = 0.95;
const GAP_FACTOR = 2;

/** How old data files must be before they are rewritten, and which of them are. */
export interface FileAgeRule {
  /** 0 turns the rule off. */
  readonly minFileAgeMs: number;
  /**
   * When a file may be rewritten; undefined for one that may be now. Its age is that of the snapshot that added
   * it; where that one has expired, the file is old.
   */
  readonly dueAtMs: (addingSnapshotId: bigint) => number | undefined;
}

/**
 * Leaves young files alone: they are the ones that a MERGE, UPDATE or DELETE in flight is most likely to have read, and
 * it would fail to find them. The age is `firn.min-file-age-ms`, or twice the 95th percentile of the gaps between the last
 * 50 foreign commits; the deployment's floor holds in any case. Where there are no two foreign commits to tell a gap, the
 * longest derived age is taken.
 *
 * @throws invalid-config — when the property is malformed
 */
export function fileAgeRule({
  metadata,
  settings,
  nowMs,
}: {
  readonly metadata: TableMetadata;
  readonly settings: GuardSettings;
  readonly nowMs: number;
}): FileAgeRule {
  const minFileAgeMs = minFileAge(metadata, settings);
  const addedMs = new Map(
    metadata.snapshots.map(({ snapshotId, timestampMs }) => [snapshotId, timestampMs]),
  );
  return {
    minFileAgeMs,
    dueAtMs(addingSnapshotId) {
      const timestampMs = addedMs.get(addingSnapshotId);
      if (timestampMs === undefined || minFileAgeMs === 0) return undefined;
      const dueAtMs = timestampMs + minFileAgeMs;
      return dueAtMs > nowMs ? dueAtMs : undefined;
    },
  };
}

function minFileAge(metadata: TableMetadata, settings: GuardSettings): number {
  const property = tableProperty(metadata.properties, 'firn.min-file-age-ms');
  const overriding = settings.overrides?.minFileAgeMs;
  if (overriding !== undefined) return overriding;
  return Math.max(settings.minFileAgeMsFloor, property ?? derivedAge(metadata, settings));
}

function derivedAge(
  { snapshots }: TableMetadata,
  { minFileAgeMsDerivedMax }: GuardSettings,
): number {
  const times = snapshots
    .filter(isForeign)
    .map(({ timestampMs }) => timestampMs)
    .sort((one, other) => one - other)
    .slice(-FOREIGN_COMMITS_MAX);
  const gaps = times
    .slice(1)
    .map((timestampMs, index) => timestampMs - times[index]!)
    .sort((one, other) => one - other);
  const gapMs = gaps[Math.ceil(GAP_PERCENTILE * gaps.length) - 1];
  return gapMs === undefined
    ? minFileAgeMsDerivedMax
    : Math.min(GAP_FACTOR * gapMs, minFileAgeMsDerivedMax);
}
