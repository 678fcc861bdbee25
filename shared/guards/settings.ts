const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * What the deployment demands of every table, in milliseconds. Each floor is what holds where a table says nothing;
 * a table's own property can only ask for more. Tests, benches and demos, whose tables are seconds old, lower them
 * and say so.
 */
export interface GuardSettings {
  /** Data files younger than this are left alone, whatever `firn.min-file-age-ms` and the table's commits say. */
  readonly minFileAgeMsFloor: number;
  /** What the age that follows from the table's commits may be at most; see `fileAgeRule`. */
  readonly minFileAgeMsDerivedMax: number;
  /** Between two runs of Firn that commit to the same branch. */
  readonly commitIntervalMsFloor: number;
  /** How long what waits to be published holds Firn back at least. */
  readonly wapWaitMsFloor: number;
  /** Absent where nobody has decided otherwise for this run. */
  readonly overrides?: GuardOverrides;
}

/** What a person decides for one run, against table and deployment. */
export interface GuardOverrides {
  readonly minFileAgeMs?: number;
  readonly commitIntervalMs?: number;
  readonly wapWaitMs?: number;
  /** Whether other maintainers of the table are no reason to stand down. */
  readonly isShared?: boolean;
}

export const DEFAULT_GUARD_SETTINGS: GuardSettings = Object.freeze({
  // A MERGE that reads files while they are written commits within minutes; 15 covers the common ones.
  minFileAgeMsFloor: 15 * MINUTE_MS,
  // A table committed to daily would otherwise keep its files for two days.
  minFileAgeMsDerivedMax: 2 * HOUR_MS,
  // A commit of ours costs a writer that commits at the same time one retry. At this distance, one that commits
  // each minute meets it once in five; it is also the period in which due tables are looked at again.
  commitIntervalMsFloor: 5 * MINUTE_MS,
  // An audit that was not finished within a day is most likely forgotten.
  wapWaitMsFloor: 24 * HOUR_MS,
});

/**
 * For tests, benches and demos only, whose tables are seconds old and have no writers to be careful of: no file is too
 * young, and nothing has to wait.
 */
export const LOWERED_GUARD_SETTINGS: GuardSettings = Object.freeze({
  minFileAgeMsFloor: 0,
  minFileAgeMsDerivedMax: 0,
  commitIntervalMsFloor: 0,
  wapWaitMsFloor: 0,
});

/** For whoever lowers them and says so. */
export function guardSettingsText(settings: GuardSettings): string {
  return (
    `file age from ${settings.minFileAgeMsFloor} ms to ${settings.minFileAgeMsDerivedMax} ms, ` +
    `commits ${settings.commitIntervalMsFloor} ms apart, ` +
    `publish wait ${settings.wapWaitMsFloor} ms`
  );
}
