import { assertNever, IcebergError, toInt64 } from '../base/index.ts';
import { CLOCK_SKEW_TOLERANCE_MS } from './metadata-check.ts';
import { snapshotById } from './metadata-lookup.ts';
import type {
  MetadataLogEntry,
  Snapshot,
  SnapshotLogEntry,
  SnapshotRef,
  TableMetadata,
} from './metadata-types.ts';
import { MAIN_BRANCH } from './snapshot.ts';
import { tableProperty } from './table-properties.ts';

/** A change of table metadata as data, under the action names of the REST catalog's specification. */
export type TableUpdate =
  | { readonly action: 'add-snapshot'; readonly snapshot: Snapshot }
  | {
      readonly action: 'set-snapshot-ref';
      readonly refName: string;
      readonly type: 'branch' | 'tag';
      readonly snapshotId: bigint;
      readonly minSnapshotsToKeep?: number;
      readonly maxSnapshotAgeMs?: number;
      readonly maxRefAgeMs?: number;
    };

export interface UpdateContext {
  /** Becomes `last-updated-ms`. */
  readonly nowMs: number;
  /** Where the metadata being updated lies; it goes into the metadata log. */
  readonly metadataLocationBefore: string;
}

/**
 * The metadata after the updates: last sequence number, next row id and last update move on, a new current
 * snapshot enters the snapshot log, the file before enters the metadata log, which is cut to
 * `write.metadata.previous-versions-max` entries. Without updates the same value comes back.
 *
 * @throws commit-conflict — when a snapshot's sequence number or first row id is behind the table's
 * @throws commit-rejected — when an update cannot apply to this table, or the clock is behind its logs by
 *   more than a minute
 * @throws invalid-config — when a property it needs is malformed
 * @see Iceberg spec, "Table Metadata Fields" and "Snapshot Row IDs"
 */
export function applyTableUpdates(
  metadata: TableMetadata,
  updates: readonly TableUpdate[],
  context: UpdateContext,
): TableMetadata {
  if (updates.length === 0) return metadata;
  const updated = updates.reduce(applyUpdate, metadata);
  const snapshotLog = extendSnapshotLog(metadata, updated, context.nowMs);
  const metadataLog = extendMetadataLog(metadata, context.metadataLocationBefore);
  requireClockNotBehind('snapshot-log', snapshotLog, context.nowMs);
  requireClockNotBehind('metadata-log', metadataLog, context.nowMs);
  return { ...updated, lastUpdatedMs: context.nowMs, snapshotLog, metadataLog };
}

function applyUpdate(metadata: TableMetadata, update: TableUpdate): TableMetadata {
  switch (update.action) {
    case 'add-snapshot':
      return addSnapshot(metadata, update.snapshot);
    case 'set-snapshot-ref':
      return setSnapshotRef(metadata, update);
    default:
      return assertNever(update, 'table update');
  }
}

function addSnapshot(metadata: TableMetadata, snapshot: Snapshot): TableMetadata {
  const subject = `snapshot ${snapshot.snapshotId}`;
  if (snapshotById(metadata, snapshot.snapshotId) !== undefined) {
    throw new IcebergError(
      'commit-rejected',
      `${subject}: the table already has a snapshot of this id`,
    );
  }
  return {
    ...metadata,
    ...nextRowIdAfter(metadata, snapshot, subject),
    lastSequenceNumber: sequenceNumberAfter(metadata, snapshot, subject),
    snapshots: [...metadata.snapshots, snapshot],
  };
}

function sequenceNumberAfter(
  { formatVersion, lastSequenceNumber }: TableMetadata,
  { sequenceNumber }: Snapshot,
  subject: string,
): bigint {
  if (formatVersion === 1) {
    if (sequenceNumber === 0n) return 0n;
    throw new IcebergError(
      'commit-rejected',
      `${subject}: sequence number ${sequenceNumber} in a v1 table, where it must be 0`,
    );
  }
  if (sequenceNumber > lastSequenceNumber) return sequenceNumber;
  throw new IcebergError(
    'commit-conflict',
    `${subject}: sequence number ${sequenceNumber} does not exceed the table's ${lastSequenceNumber}`,
  );
}

function nextRowIdAfter(
  { formatVersion, nextRowId = 0n }: TableMetadata,
  { firstRowId, addedRows }: Snapshot,
  subject: string,
): { readonly nextRowId?: bigint } {
  if (formatVersion < 3) return {};
  if (firstRowId === undefined || addedRows === undefined || addedRows < 0n) {
    throw new IcebergError('commit-rejected', `${subject}: a v3 snapshot without assigned row ids`);
  }
  if (firstRowId < nextRowId) {
    throw new IcebergError(
      'commit-conflict',
      `${subject}: first row id ${firstRowId} is below the table's next row id ${nextRowId}`,
    );
  }
  return { nextRowId: toInt64(firstRowId + addedRows, `${subject} next row id`) };
}

function setSnapshotRef(
  metadata: TableMetadata,
  update: Extract<TableUpdate, { action: 'set-snapshot-ref' }>,
): TableMetadata {
  const { refName, type, snapshotId } = update;
  const subject = `ref ${refName}`;
  const before = metadata.refs.get(refName);
  if (snapshotById(metadata, snapshotId) === undefined) {
    throw new IcebergError('commit-rejected', `${subject}: snapshot ${snapshotId} does not exist`);
  }
  if (type === 'tag' && (refName === MAIN_BRANCH || before?.type === 'branch')) {
    throw new IcebergError('commit-rejected', `${subject}: a branch cannot become a tag`);
  }
  if (type === 'branch' && before?.type === 'tag') {
    throw new IcebergError('commit-rejected', `${subject}: a tag cannot become a branch`);
  }
  return {
    ...metadata,
    refs: new Map([...metadata.refs, [refName, refAfter(before, update)]]),
    ...(refName === MAIN_BRANCH ? { currentSnapshotId: snapshotId } : {}),
  };
}

/** Retention settings are those of the update; keys that Firn does not know stay. */
function refAfter(
  before: SnapshotRef | undefined,
  update: Extract<TableUpdate, { action: 'set-snapshot-ref' }>,
): SnapshotRef {
  const { action: _action, refName: _refName, ...settings } = update;
  const {
    'min-snapshots-to-keep': _min,
    'max-snapshot-age-ms': _age,
    'max-ref-age-ms': _refAge,
    ...kept
  } = before?.source ?? {};
  const source = {
    ...kept,
    'snapshot-id': update.snapshotId,
    type: update.type,
    ...(update.minSnapshotsToKeep === undefined
      ? {}
      : { 'min-snapshots-to-keep': update.minSnapshotsToKeep }),
    ...(update.maxSnapshotAgeMs === undefined
      ? {}
      : { 'max-snapshot-age-ms': update.maxSnapshotAgeMs }),
    ...(update.maxRefAgeMs === undefined ? {} : { 'max-ref-age-ms': update.maxRefAgeMs }),
  };
  return { ...settings, source };
}

/** Only what is current at the end is logged, at the time its snapshot was made or, if older, set again. */
function extendSnapshotLog(
  before: TableMetadata,
  after: TableMetadata,
  nowMs: number,
): readonly SnapshotLogEntry[] {
  const snapshotId = after.currentSnapshotId;
  if (snapshotId === undefined || snapshotId === before.currentSnapshotId)
    return before.snapshotLog;
  const isOld = snapshotById(before, snapshotId) !== undefined;
  const timestampMs = isOld ? nowMs : (snapshotById(after, snapshotId)?.timestampMs ?? nowMs);
  const source = { 'timestamp-ms': timestampMs, 'snapshot-id': snapshotId };
  return [...before.snapshotLog, { timestampMs, snapshotId, source }];
}

function extendMetadataLog(
  before: TableMetadata,
  metadataFile: string,
): readonly MetadataLogEntry[] {
  const entriesMax = Math.max(
    1,
    tableProperty(before.properties, 'write.metadata.previous-versions-max'),
  );
  const timestampMs = before.lastUpdatedMs;
  const source = { 'timestamp-ms': timestampMs, 'metadata-file': metadataFile };
  return [...before.metadataLog, { timestampMs, metadataFile, source }].slice(-entriesMax);
}

function requireClockNotBehind(
  log: string,
  entries: readonly { readonly timestampMs: number }[],
  nowMs: number,
): void {
  for (const [index, { timestampMs }] of entries.entries()) {
    const nextMs = entries[index + 1]?.timestampMs ?? nowMs;
    if (nextMs >= timestampMs - CLOCK_SKEW_TOLERANCE_MS) continue;
    throw new IcebergError(
      'commit-rejected',
      `${log}: timestamp ${nextMs} would follow ${timestampMs}, more than ${CLOCK_SKEW_TOLERANCE_MS} ms later`,
    );
  }
}
