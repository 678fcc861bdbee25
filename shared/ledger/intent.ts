import type { JsonObject } from '../base/index.ts';
import type { RecordFields } from './record.ts';

/** What became of a pointer write; see design, "The pointer and the settled commit". */
export const INTENT_OUTCOMES = ['applied', 'not-applied', 'unknown'] as const;

export type IntentOutcome = (typeof INTENT_OUTCOMES)[number];

/** One conditional pointer write that is about to be sent. */
export interface PointerWrite {
  /** Absent on old v1 tables. */
  readonly tableUuid?: string;
  readonly baseMetadataLocation: string;
  /** The pointer's version that the write is conditional on. */
  readonly baseVersion: string;
  readonly metadataLocation: string;
  /** The version it sets: fresh for each attempt, so it names the intent, too. */
  readonly version: string;
  /** Absent when the commit adds no snapshot. */
  readonly snapshotId?: bigint;
}

export interface Intent extends PointerWrite {
  readonly recordedAtMs: number;
  readonly state: 'open' | IntentOutcome;
}

/** Lost attempts that a run record keeps; the others say which of its objects must stay. */
const LOST_COUNT_MAX = 20;

/** A run's intents, the oldest first; without the oldest that were not applied when there are many. */
export function trimIntents(intents: readonly Intent[]): readonly Intent[] {
  const lost = intents.filter(({ state }) => state === 'not-applied');
  const dropped = new Set(lost.slice(0, Math.max(0, lost.length - LOST_COUNT_MAX)));
  return intents.filter((intent) => !dropped.has(intent));
}

export function serializeIntent(intent: Intent): JsonObject {
  const { tableUuid, snapshotId } = intent;
  return {
    ...(tableUuid === undefined ? {} : { 'table-uuid': tableUuid }),
    'base-metadata-location': intent.baseMetadataLocation,
    'base-version': intent.baseVersion,
    'metadata-location': intent.metadataLocation,
    version: intent.version,
    ...(snapshotId === undefined ? {} : { 'snapshot-id': snapshotId }),
    'recorded-at-ms': intent.recordedAtMs,
    state: intent.state,
  };
}

/** @throws invalid-data */
export function parseIntent(fields: RecordFields): Intent {
  return {
    ...(fields.has('table-uuid') ? { tableUuid: fields.text('table-uuid') } : {}),
    baseMetadataLocation: fields.text('base-metadata-location'),
    baseVersion: fields.text('base-version'),
    metadataLocation: fields.text('metadata-location'),
    version: fields.text('version'),
    ...(fields.has('snapshot-id') ? { snapshotId: fields.int64('snapshot-id') } : {}),
    recordedAtMs: fields.count('recorded-at-ms'),
    state: fields.oneOf('state', ['open', ...INTENT_OUTCOMES]),
  };
}
