import type { JsonObject, JsonValue } from '../base/index.ts';
import {
  invalidJson,
  optionalCount,
  optionalInt,
  optionalLong,
  optionalString,
  requireArray,
  requireCount,
  requireLong,
  requireObject,
  requireString,
  requireStringMap,
  requireUnsignedLong,
} from './json-fields.ts';
import type { FormatVersion, Snapshot, SnapshotRef } from './metadata-types.ts';

/** The branch that `current-snapshot-id` mirrors. */
export const MAIN_BRANCH = 'main';

/** Java's mark for "no current snapshot", so no snapshot may have this id. */
export const NO_SNAPSHOT_ID = -1n;

/**
 * Parses one snapshot of table metadata.
 *
 * @param formatVersion in v1 the sequence number is 0, whatever the file says
 * @throws invalid-data — when a key is missing or malformed
 * @see Iceberg spec, "Snapshots"
 */
export function parseSnapshot(value: JsonValue, formatVersion: FormatVersion): Snapshot {
  const source = requireObject(value, 'snapshot');
  const snapshotId = requireLong(source, 'snapshot-id', 'snapshot');
  const subject = `snapshot ${snapshotId}`;
  if (snapshotId === NO_SNAPSHOT_ID) throw invalidJson(subject, 'the id means no snapshot');
  const parentSnapshotId = optionalLong(source, 'parent-snapshot-id', subject);
  const schemaId = optionalInt(source, 'schema-id', subject);
  return {
    snapshotId,
    ...(parentSnapshotId === undefined ? {} : { parentSnapshotId }),
    sequenceNumber: sequenceNumberOf(source, formatVersion, subject),
    timestampMs: requireCount(source, 'timestamp-ms', subject),
    ...manifestListOf(source, subject),
    summary: isPresent(source['summary'])
      ? requireStringMap(source['summary'], `${subject} summary`)
      : {},
    ...(schemaId === undefined ? {} : { schemaId }),
    ...rowLineageOf(source, formatVersion, subject),
    source,
  };
}

/** What a new snapshot is made of; `source` follows from it. */
export type SnapshotFields = Omit<Snapshot, 'source'> & { readonly manifestList: string };

/** A new snapshot with the JSON form that the format version wants. */
export function createSnapshot(fields: SnapshotFields, formatVersion: FormatVersion): Snapshot {
  const source: JsonObject = {
    ...(formatVersion === 1 ? {} : { 'sequence-number': fields.sequenceNumber }),
    'snapshot-id': fields.snapshotId,
    ...(fields.parentSnapshotId === undefined
      ? {}
      : { 'parent-snapshot-id': fields.parentSnapshotId }),
    'timestamp-ms': fields.timestampMs,
    summary: fields.summary,
    'manifest-list': fields.manifestList,
    ...(fields.schemaId === undefined ? {} : { 'schema-id': fields.schemaId }),
    ...(fields.firstRowId === undefined ? {} : { 'first-row-id': fields.firstRowId }),
    ...(fields.addedRows === undefined ? {} : { 'added-rows': fields.addedRows }),
  };
  return { ...fields, source };
}

/**
 * Parses one snapshot reference.
 *
 * @throws invalid-data — when a key is missing or malformed, or a tag carries branch settings
 * @see Iceberg spec, "Snapshot References"
 */
export function parseSnapshotRef(name: string, value: JsonValue): SnapshotRef {
  const subject = `ref ${name.slice(0, 100)}`;
  const source = requireObject(value, subject);
  const type = requireString(source, 'type', subject).toLowerCase();
  if (type !== 'branch' && type !== 'tag') {
    throw invalidJson(subject, `type ${type.slice(0, 40)} is neither branch nor tag`);
  }
  const minSnapshotsToKeep = optionalInt(source, 'min-snapshots-to-keep', subject);
  const maxSnapshotAgeMs = optionalCount(source, 'max-snapshot-age-ms', subject);
  const maxRefAgeMs = optionalCount(source, 'max-ref-age-ms', subject);
  for (const limit of [minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs]) {
    if (limit !== undefined && limit <= 0) {
      throw invalidJson(subject, `retention limit ${limit} is not positive`);
    }
  }
  if (type === 'tag' && (minSnapshotsToKeep ?? maxSnapshotAgeMs) !== undefined) {
    throw invalidJson(subject, 'a tag has the retention settings of a branch');
  }
  return {
    snapshotId: requireLong(source, 'snapshot-id', subject),
    type,
    ...(minSnapshotsToKeep === undefined ? {} : { minSnapshotsToKeep }),
    ...(maxSnapshotAgeMs === undefined ? {} : { maxSnapshotAgeMs }),
    ...(maxRefAgeMs === undefined ? {} : { maxRefAgeMs }),
    source,
  };
}

function sequenceNumberOf(
  source: JsonObject,
  formatVersion: FormatVersion,
  subject: string,
): bigint {
  // Snapshots from before an upgrade to v2 have no sequence number.
  const isAbsent = !isPresent(source['sequence-number']);
  if (formatVersion === 1 || isAbsent) return 0n;
  return requireUnsignedLong(source, 'sequence-number', subject);
}

function manifestListOf(source: JsonObject, subject: string): { readonly manifestList?: string } {
  const manifestList = optionalString(source, 'manifest-list', subject);
  if (manifestList !== undefined) return { manifestList };
  // Written by v1 tables of long ago, and kept when such a table is upgraded.
  requireArray(source['manifests'], `${subject} manifests`);
  return {};
}

function rowLineageOf(
  source: JsonObject,
  formatVersion: FormatVersion,
  subject: string,
): { readonly firstRowId?: bigint; readonly addedRows?: bigint } {
  // Snapshots from before an upgrade to v3 have neither.
  if (formatVersion < 3 || !isPresent(source['first-row-id'])) return {};
  return {
    firstRowId: requireUnsignedLong(source, 'first-row-id', subject),
    addedRows: requireUnsignedLong(source, 'added-rows', subject),
  };
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}
