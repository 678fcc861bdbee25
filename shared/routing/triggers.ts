import { type Properties, type PropertyKey, tableProperty } from '../iceberg/index.ts';
import type { CommitFacts } from './commit-facts.ts';

/** What triggers are measured by. */
export interface TriggerFacts {
  /** Foreign commits since the last plan, the oldest first. */
  readonly commits: readonly CommitFacts[];
  /** Firn's own that were too young for it. */
  readonly ownCommits: readonly CommitFacts[];
  /** Files may be rewritten from this age on: a commit counts once it is as old. */
  readonly minFileAgeMs: number;
  /** Files below are too small. */
  readonly fileSizeBytesMin: number;
  /** Undefined before the first plan. */
  readonly plannedAtMs: number | undefined;
  readonly nowMs: number;
}

interface Measure {
  /** Of everything since the last plan, what is too young included. */
  readonly value: number;
  /** When the threshold is reached, files being old enough; undefined when not without further commits. */
  readonly metAtMs?: number;
}

/** One row of the table of triggers: any one of them makes the operation due. */
export interface TriggerRow {
  readonly name: string;
  readonly property: PropertyKey;
  readonly unit: 'commits' | 'files' | 'bytes' | 'ms' | 'share';
  readonly measure: (facts: TriggerFacts, threshold: number) => Measure;
}

/** One trigger on one table. */
export interface TriggerView {
  readonly name: string;
  readonly property: string;
  readonly unit: TriggerRow['unit'];
  readonly value: number;
  readonly threshold: number;
  readonly isMet: boolean;
  readonly metAtMs?: number;
}

/** Fewer files than the compaction of one partition needs twice over are no backfill, whatever their share. */
const BACKFILL_FILES_MIN = 10;

/** In the order in which they are shown; README.md says what each is for. */
export const REWRITE_DATA_FILES_TRIGGERS: readonly TriggerRow[] = [
  {
    name: 'commit-count',
    property: 'firn.rewrite-data-files.trigger.commit-count',
    unit: 'commits',
    measure: sumOf((commit, facts) => (isSmall(commit, facts) ? 1 : 0)),
  },
  {
    name: 'small-file-count',
    property: 'firn.rewrite-data-files.trigger.small-file-count',
    unit: 'files',
    measure: sumOf((commit, facts) => (isSmall(commit, facts) ? commit.addedDataFileCount : 0)),
  },
  {
    name: 'small-file-bytes',
    property: 'firn.rewrite-data-files.trigger.small-file-bytes',
    unit: 'bytes',
    measure: sumOf((commit, facts) => (isSmall(commit, facts) ? commit.addedBytes : 0)),
  },
  {
    name: 'interval',
    property: 'firn.rewrite-data-files.trigger.interval-ms',
    unit: 'ms',
    measure: timeSincePlan,
  },
  {
    name: 'backfill',
    property: 'firn.rewrite-data-files.trigger.backfill-ratio',
    unit: 'share',
    measure: largestShare,
  },
];

/** Partitions have to be cold, which takes twice as long as data files need to be old. */
const COLD_FACTOR = 2;

/** In the order in which they are shown; README.md says what each is for. */
export const REWRITE_DELETES_TRIGGERS: readonly TriggerRow[] = [
  {
    name: 'delete-file-count',
    property: 'firn.rewrite-deletes.trigger.delete-file-count',
    unit: 'files',
    measure: sumOf((commit) => commit.addedPositionDeleteCount, COLD_FACTOR),
  },
  {
    name: 'equality-delete-file-count',
    property: 'firn.rewrite-deletes.trigger.equality-delete-file-count',
    unit: 'files',
    measure: sumOf((commit) => commit.addedEqualityDeleteFileCount, COLD_FACTOR),
  },
];

/** @throws invalid-config — when a trigger's property is malformed */
export function measureTriggers(
  rows: readonly TriggerRow[],
  facts: TriggerFacts,
  properties: Properties,
): readonly TriggerView[] {
  return rows.map(({ name, property, unit, measure }) => {
    const threshold = Number(tableProperty(properties, property));
    const { value, metAtMs } = measure(facts, threshold);
    const isMet = metAtMs !== undefined && metAtMs <= facts.nowMs;
    const common = { name, property, unit, value, threshold, isMet };
    return metAtMs === undefined ? common : { ...common, metAtMs };
  });
}

/** A trigger in a sentence: how far it is, and how far it has to be. */
export function triggerText({ name, value, threshold, unit }: TriggerView): string {
  switch (unit) {
    case 'ms':
      return `${name}: ${minutes(value)} of ${minutes(threshold)} min`;
    case 'share':
      return `${name}: ${Math.round(100 * value)} % of ${Math.round(100 * threshold)} %`;
    default:
      return `${name}: ${value} of ${threshold} ${unit}`;
  }
}

function minutes(durationMs: number): number {
  return Math.round(durationMs / 60_000);
}

/** Whether one commit added more than a share of the table, in files enough to call it a backfill. */
export function isBackfill(
  { addedShare, addedDataFileCount }: CommitFacts,
  threshold: number,
): boolean {
  return addedDataFileCount >= BACKFILL_FILES_MIN && (addedShare ?? 0) >= threshold;
}

function isSmall(commit: CommitFacts, { fileSizeBytesMin }: TriggerFacts): boolean {
  return commit.addedDataFileCount > 0 && commit.addedFileBytesMean < fileSizeBytesMin;
}

/** Reached with the commit that brings the sum there. */
function sumOf(
  amountOf: (commit: CommitFacts, facts: TriggerFacts) => number,
  waitFactor = 1,
): TriggerRow['measure'] {
  return (facts, threshold) => {
    let value = 0;
    let metAtMs: number | undefined;
    for (const commit of facts.commits) {
      value += amountOf(commit, facts);
      if (value >= threshold) metAtMs ??= commit.timestampMs + waitFactor * facts.minFileAgeMs;
    }
    return metAtMs === undefined ? { value } : { value, metAtMs };
  };
}

/**
 * Counts only where something was added; by Firn only small files that were too young for the last plan: together with what
 * that left they may be worth another rewrite, and no commit of anybody would tell.
 */
function timeSincePlan(facts: TriggerFacts, threshold: number): Measure {
  const { commits, ownCommits, minFileAgeMs, plannedAtMs, nowMs } = facts;
  const foreign = commits.find(hasAddedFiles);
  const own = ownCommits.find((commit) => isSmall(commit, facts));
  const first = earlier(foreign, own);
  const sinceMs = plannedAtMs ?? first?.timestampMs;
  if (sinceMs === undefined) return { value: 0 };
  const value = Math.max(0, nowMs - sinceMs);
  if (first === undefined) return { value };
  return { value, metAtMs: Math.max(sinceMs + threshold, first.timestampMs + minFileAgeMs) };
}

function hasAddedFiles(commit: CommitFacts): boolean {
  const { addedDataFileCount, addedPositionDeleteCount, addedEqualityDeleteFileCount } = commit;
  return addedDataFileCount + addedPositionDeleteCount + addedEqualityDeleteFileCount > 0;
}

function earlier(
  one: CommitFacts | undefined,
  other: CommitFacts | undefined,
): CommitFacts | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.timestampMs < one.timestampMs ? other : one;
}

function largestShare({ commits, minFileAgeMs }: TriggerFacts, threshold: number): Measure {
  const value = commits.reduce((most, { addedShare }) => Math.max(most, addedShare ?? 0), 0);
  const first = commits.find((commit) => isBackfill(commit, threshold));
  return first === undefined ? { value } : { value, metAtMs: first.timestampMs + minFileAgeMs };
}
