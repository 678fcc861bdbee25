import type { JsonObject } from '../base/index.ts';
import { type Intent, parseIntent, serializeIntent } from './intent.ts';
import type { Item, ItemKey } from './item-store.ts';
import { itemFields, newBody } from './record.ts';

/**
 * How a run ended: `unknown` when it cannot be told whether one of its pointer writes was applied, so that
 * none of its objects may be deleted on its account.
 */
export const RUN_OUTCOMES = ['committed', 'abandoned', 'unknown'] as const;

export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** One run of an operation on one table. */
export interface RunRecord {
  readonly runId: string;
  readonly table: string;
  readonly operation: string;
  /** Of the lease that the run was opened with. */
  readonly leaseScope: string;
  readonly fencingNumber: number;
  readonly openedAtMs: number;
  readonly status: 'open' | RunOutcome;
  readonly closedAtMs?: number;
  /** Locations of objects that the run may have written, those in the objects of `objectLists` aside. */
  readonly objects: readonly string[];
  /** Locations in the state store. */
  readonly objectLists: readonly string[];
  /** Pointer writes, the oldest first; at most one is open. */
  readonly intents: readonly Intent[];
}

export function runKey(table: string, runId: string): ItemKey {
  return { partition: table, sort: `run#${runId}` };
}

/** Runs that are not closed have a second item with their first record, by which they are found. */
export function openRunKey(table: string, runId: string): ItemKey {
  return { partition: table, sort: `${OPEN_RUN_PREFIX}${runId}` };
}

export const OPEN_RUN_PREFIX = 'open-run#';

export function serializeRun(record: RunRecord): JsonObject {
  return newBody({
    'run-id': record.runId,
    operation: record.operation,
    'lease-scope': record.leaseScope,
    'fencing-number': record.fencingNumber,
    'opened-at-ms': record.openedAtMs,
    status: record.status,
    ...(record.closedAtMs === undefined ? {} : { 'closed-at-ms': record.closedAtMs }),
    objects: record.objects,
    'object-lists': record.objectLists,
    intents: record.intents.map(serializeIntent),
  });
}

/** @throws invalid-data, unsupported */
export function parseRun(item: Item): RunRecord {
  const fields = itemFields(item);
  return {
    runId: fields.text('run-id'),
    table: item.partition,
    operation: fields.text('operation'),
    leaseScope: fields.text('lease-scope'),
    fencingNumber: fields.count('fencing-number'),
    openedAtMs: fields.count('opened-at-ms'),
    status: fields.oneOf('status', ['open', ...RUN_OUTCOMES]),
    ...(fields.has('closed-at-ms') ? { closedAtMs: fields.count('closed-at-ms') } : {}),
    objects: fields.texts('objects'),
    objectLists: fields.texts('object-lists'),
    intents: fields.objects('intents').map(parseIntent),
  };
}
