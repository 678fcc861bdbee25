import { IcebergError, type JsonObject, type JsonValue } from '../base/index.ts';
import {
  invalidJson,
  optionalArray,
  optionalLong,
  optionalString,
  requireCount,
  requireInt,
  requireLong,
  requireObject,
  requireString,
  requireStringMap,
  requireUnsignedLong,
} from './json-fields.ts';
import { decodeMetadataJson } from './metadata-bytes.ts';
import { checkTableMetadata } from './metadata-check.ts';
import { parsePartitionSpecs, parseSchemas, parseSortOrders } from './metadata-definitions.ts';
import type {
  FormatVersion,
  MetadataLogEntry,
  SnapshotLogEntry,
  SnapshotRef,
  StatisticsFile,
  TableMetadata,
} from './metadata-types.ts';
import { MAIN_BRANCH, NO_SNAPSHOT_ID, parseSnapshot, parseSnapshotRef } from './snapshot.ts';

const SUBJECT = 'table metadata';
const FORMAT_VERSION_MAX = 3;

/** What can be said of a metadata file whose version Firn does not read. */
export interface UnsupportedMetadata {
  readonly formatVersion: number;
  readonly tableUuid?: string;
  readonly location?: string;
}

/**
 * Parses a table metadata file of format version 1, 2 or 3, plain or compressed with gzip, and checks
 * everything in it that a commit relies on.
 *
 * @param bytes the whole file
 * @param metadataLocation names the file in errors; its ending tells whether gzip is expected
 * @throws invalid-data — when the document breaks the specification
 * @throws unsupported — when its format version is above 3, or it has types that Firn does not know
 * @see Iceberg spec, "Table Metadata Fields"
 */
export function parseTableMetadata(bytes: Uint8Array, metadataLocation: string): TableMetadata {
  try {
    return parseMetadataObject(decodeMetadataJson(bytes, metadataLocation));
  } catch (cause) {
    if (!(cause instanceof IcebergError)) throw cause;
    throw new IcebergError(
      cause.kind,
      cause.message,
      { ...cause.context, metadataLocation },
      cause.cause,
    );
  }
}

/**
 * Format version, uuid and location of a metadata file, whatever its version: for telling people about
 * tables that `parseTableMetadata` refuses.
 *
 * @throws invalid-data — when the file is no JSON object with a format version
 */
export function describeUnsupported(
  bytes: Uint8Array,
  metadataLocation: string,
): UnsupportedMetadata {
  const source = decodeMetadataJson(bytes, metadataLocation);
  const tableUuid = optionalString(source, 'table-uuid', SUBJECT);
  const location = optionalString(source, 'location', SUBJECT);
  return {
    formatVersion: requireInt(source, 'format-version', SUBJECT),
    ...(tableUuid === undefined ? {} : { tableUuid }),
    ...(location === undefined ? {} : { location }),
  };
}

function parseMetadataObject(source: JsonObject): TableMetadata {
  const formatVersion = parseFormatVersion(source);
  const currentSnapshotId = parseCurrentSnapshotId(source);
  const nextRowId =
    formatVersion < 3 ? undefined : requireUnsignedLong(source, 'next-row-id', SUBJECT);
  const metadata: TableMetadata = {
    formatVersion,
    ...parseTableUuid(source, formatVersion),
    location: parseLocation(source),
    lastSequenceNumber:
      formatVersion === 1 ? 0n : requireUnsignedLong(source, 'last-sequence-number', SUBJECT),
    lastUpdatedMs: requireCount(source, 'last-updated-ms', SUBJECT),
    lastColumnId: requireInt(source, 'last-column-id', SUBJECT),
    ...parseSchemas(source, formatVersion),
    ...parsePartitionSpecs(source, formatVersion),
    ...parseSortOrders(source, formatVersion),
    properties: isAbsent(source, 'properties')
      ? {}
      : requireStringMap(source['properties'], `${SUBJECT} properties`),
    ...(currentSnapshotId === undefined ? {} : { currentSnapshotId }),
    snapshots: optionalArray(source, 'snapshots', SUBJECT).map((snapshot) =>
      parseSnapshot(snapshot, formatVersion),
    ),
    snapshotLog: optionalArray(source, 'snapshot-log', SUBJECT).map(parseSnapshotLogEntry),
    metadataLog: optionalArray(source, 'metadata-log', SUBJECT).map(parseMetadataLogEntry),
    refs: parseRefs(source, currentSnapshotId),
    statistics: optionalArray(source, 'statistics', SUBJECT).map(parseStatisticsFile),
    partitionStatistics: optionalArray(source, 'partition-statistics', SUBJECT).map(
      parseStatisticsFile,
    ),
    ...(nextRowId === undefined ? {} : { nextRowId }),
    source,
  };
  checkTableMetadata(metadata);
  return metadata;
}

function parseFormatVersion(source: JsonObject): FormatVersion {
  const version = requireInt(source, 'format-version', SUBJECT);
  if (version > FORMAT_VERSION_MAX) {
    throw new IcebergError(
      'unsupported',
      `${SUBJECT}: format version ${version} exceeds ${FORMAT_VERSION_MAX}, the highest that Firn reads`,
      { formatVersion: version },
    );
  }
  if (version < 1) throw invalidJson(SUBJECT, `format version ${version} is below 1`);
  return version as FormatVersion;
}

function parseTableUuid(
  source: JsonObject,
  formatVersion: FormatVersion,
): { readonly tableUuid?: string } {
  const tableUuid = optionalString(source, 'table-uuid', SUBJECT);
  if (tableUuid !== undefined && tableUuid !== '') return { tableUuid };
  if (formatVersion > 1) throw invalidJson(SUBJECT, 'table-uuid is missing');
  return {};
}

function parseLocation(source: JsonObject): string {
  const location = requireString(source, 'location', SUBJECT);
  if (location === '') throw invalidJson(SUBJECT, 'location is empty');
  return location;
}

function parseCurrentSnapshotId(source: JsonObject): bigint | undefined {
  const snapshotId = optionalLong(source, 'current-snapshot-id', SUBJECT);
  return snapshotId === NO_SNAPSHOT_ID ? undefined : snapshotId;
}

function parseRefs(
  source: JsonObject,
  currentSnapshotId: bigint | undefined,
): ReadonlyMap<string, SnapshotRef> {
  const refs = new Map<string, SnapshotRef>();
  if (!isAbsent(source, 'refs')) {
    const named = requireObject(source['refs'], `${SUBJECT} refs`);
    for (const [name, ref] of Object.entries(named)) refs.set(name, parseSnapshotRef(name, ref));
  }
  if (currentSnapshotId !== undefined && !refs.has(MAIN_BRANCH)) {
    refs.set(MAIN_BRANCH, {
      snapshotId: currentSnapshotId,
      type: 'branch',
      source: { 'snapshot-id': currentSnapshotId, type: 'branch' },
    });
  }
  return refs;
}

function parseSnapshotLogEntry(value: JsonValue): SnapshotLogEntry {
  const source = requireObject(value, 'snapshot-log entry');
  return {
    timestampMs: requireCount(source, 'timestamp-ms', 'snapshot-log entry'),
    snapshotId: requireLong(source, 'snapshot-id', 'snapshot-log entry'),
    source,
  };
}

function parseMetadataLogEntry(value: JsonValue): MetadataLogEntry {
  const source = requireObject(value, 'metadata-log entry');
  return {
    timestampMs: requireCount(source, 'timestamp-ms', 'metadata-log entry'),
    metadataFile: requireString(source, 'metadata-file', 'metadata-log entry'),
    source,
  };
}

function parseStatisticsFile(value: JsonValue): StatisticsFile {
  const source = requireObject(value, 'statistics file');
  return {
    snapshotId: requireLong(source, 'snapshot-id', 'statistics file'),
    statisticsPath: requireString(source, 'statistics-path', 'statistics file'),
    source,
  };
}

function isAbsent(source: JsonObject, key: string): boolean {
  return source[key] === undefined || source[key] === null;
}
