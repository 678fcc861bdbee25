import { IcebergError, isJsonObject, type JsonObject, type JsonValue } from '../base/index.ts';
import type { PointerFence, PointerUpdate, TablePointer } from './catalog.ts';
import { formatTableIdentifier, type TableIdentifier } from './table-identifier.ts';

/**
 * What the file and memory catalogs keep of a table, as JSON; fields that are not ours stay as they are:
 *
 *     format-version              1
 *     namespace, name             the identifier
 *     version                     the optimistic lock
 *     metadata-location, previous-metadata-location
 *     created-at-ms, updated-at-ms
 *     properties                  text by text
 */
export type TableRecord = JsonObject;

export const TABLE_RECORD_VERSION = 1;

/** A new table's record. */
export function newRecord(pointer: TablePointer, nowMs: number): TableRecord {
  return {
    'format-version': TABLE_RECORD_VERSION,
    namespace: pointer.identifier.namespace,
    name: pointer.identifier.name,
    version: pointer.version,
    'metadata-location': pointer.metadataLocation,
    'created-at-ms': nowMs,
    'updated-at-ms': nowMs,
    properties: pointer.properties,
  };
}

/** The record after a commit. */
export function movedRecord(
  record: TableRecord,
  { base, metadataLocation, version }: PointerUpdate,
  nowMs: number,
): TableRecord {
  return {
    ...record,
    version,
    'metadata-location': metadataLocation,
    'previous-metadata-location': base.metadataLocation,
    'updated-at-ms': nowMs,
  };
}

/** The record after a fence. */
export function fencedRecord(
  record: TableRecord,
  { version }: Pick<PointerFence, 'version'>,
  nowMs: number,
): TableRecord {
  return { ...record, version, 'updated-at-ms': nowMs };
}

/**
 * The pointer that a record holds.
 *
 * @throws invalid-data — when a field is missing, of another type, or names another table than `identifier`
 * @throws unsupported — when the record's format version is not ours
 */
export function parseRecord(
  record: JsonValue,
  identifier: TableIdentifier,
  subject: string,
): TablePointer {
  if (!isJsonObject(record)) throw new IcebergError('invalid-data', `${subject}: is not an object`);
  const formatVersion = record['format-version'];
  if (formatVersion !== TABLE_RECORD_VERSION) {
    throw new IcebergError(
      'unsupported',
      `${subject}: format version is ${String(formatVersion)}, not ${TABLE_RECORD_VERSION}`,
    );
  }
  requireSameTable(record, identifier, subject);
  const previous = record['previous-metadata-location'];
  return {
    identifier,
    metadataLocation: requireText(record, 'metadata-location', subject),
    ...(previous === undefined
      ? {}
      : { previousMetadataLocation: requireText(record, 'previous-metadata-location', subject) }),
    version: requireText(record, 'version', subject),
    properties: parseProperties(record, subject),
  };
}

/** On file systems that do not tell `A` from `a`, two names lead to one file. */
function requireSameTable(record: JsonObject, identifier: TableIdentifier, subject: string): void {
  const { namespace, name } = record;
  const levels = Array.isArray(namespace) ? namespace : [];
  const found = [...levels, name].map(String).join('.');
  const expected = formatTableIdentifier(identifier);
  if (found === expected) return;
  throw new IcebergError('invalid-data', `${subject}: is the record of ${found}, not ${expected}`);
}

function requireText(record: JsonObject, field: string, subject: string): string {
  const text = record[field];
  if (typeof text === 'string' && text !== '') return text;
  throw new IcebergError('invalid-data', `${subject}: ${field} is missing, empty or not a string`);
}

function parseProperties(record: JsonObject, subject: string): Readonly<Record<string, string>> {
  const { properties = {} } = record;
  if (!isJsonObject(properties)) {
    throw new IcebergError('invalid-data', `${subject}: properties is not an object`);
  }
  const entries = Object.keys(properties)
    .sort()
    .map((key) => {
      const value = properties[key];
      if (typeof value === 'string') return [key, value] as const;
      throw new IcebergError('invalid-data', `${subject}: property ${key} is not a string`);
    });
  return Object.fromEntries(entries);
}
