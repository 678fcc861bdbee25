import type { FunctionSettings } from '../../shared/deployment/index.ts';
import { formatDuration } from '../../shared/display/index.ts';
import { guardSettingsText } from '../../shared/guards/index.ts';

export const TABLE_NAME = 'demo.events';

/** Copies of each of the 48 files that Spark wrote, before the clock starts. */
export const COPY_COUNT = 2;

/** The writer's commits while everybody watches. */
export const LIVE_COMMIT_COUNT = 18;
export const LIVE_COMMIT_INTERVAL_MS = 1_000;
/** Each commit has this part of the files that Spark wrote, the next commit the next part: two files a partition. */
export const LIVE_COMMIT_SHARE = 1 / 6;

/**
 * A second of this demo stands for minutes of a real table: what a deployment would wait for minutes, it waits for
 * seconds.
 */
export const DEMO_SETTINGS: FunctionSettings = {
  enabledTables: [TABLE_NAME],
  isObserving: false,
  guards: {
    minFileAgeMsFloor: 1_000,
    minFileAgeMsDerivedMax: 1_000,
    commitIntervalMsFloor: 2_000,
    wapWaitMsFloor: 0,
  },
  routingIntervalMsFloor: 1_000,
  messageVisibilityMs: 180_000,
  // Messages that are queued are told at this level.
  logLevel: 'debug',
};

export const DEMO_SWEEP_INTERVAL_MS = 2_000;

/** Set on the table as anybody would, by `ALTER TABLE ... SET TBLPROPERTIES`. */
export const TABLE_PROPERTIES: Readonly<Record<string, string>> = {
  'firn.rewrite-data-files.trigger.commit-count': '5',
};

/** Everything that is not as shipped, for people. */
export function parameterLines(): string[] {
  const properties = Object.entries(TABLE_PROPERTIES).map(([key, value]) => `${key}=${value}`);
  return [
    'deployment parameters of this demo, the rest as shipped:',
    `  enabled tables   ${TABLE_NAME}; others are observed`,
    `  floors           ${guardSettingsText(DEMO_SETTINGS.guards)}`,
    `  router           reads a table's metadata every ${formatDuration(DEMO_SETTINGS.routingIntervalMsFloor)} at most; ` +
      `what is due is swept up every ${formatDuration(DEMO_SWEEP_INTERVAL_MS)}`,
    `  ${TABLE_NAME}      ${properties.join(', ')}`,
  ];
}
