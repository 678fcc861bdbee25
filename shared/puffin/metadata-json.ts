import {
  IcebergError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toCount,
  toInt64,
} from '../base/index.ts';
import type { BlobMetadata, PuffinProperties } from './metadata.ts';

const INT32_MAX = 2 ** 31 - 1;

const BLOB_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'fields',
  'snapshot-id',
  'sequence-number',
  'offset',
  'length',
  'compression-codec',
  'properties',
]);

/** Blobs and properties of a footer's payload; where the blobs lie is not checked here. */
export interface FooterPayload {
  readonly blobs: readonly BlobMetadata[];
  readonly properties: PuffinProperties;
}

/**
 * Reads the members of a footer's payload.
 *
 * @throws invalid-data — when one is missing or is not of its type
 * @see Puffin spec, "FileMetadata", "BlobMetadata"
 */
export function parsePayload(json: JsonValue, subject: string): FooterPayload {
  if (!isJsonObject(json)) throw invalid(subject, 'is not a JSON object');
  const blobs = json['blobs'];
  if (!Array.isArray(blobs)) throw invalid(subject, 'blobs is not a JSON array');
  return {
    blobs: blobs.map((blob: JsonValue, index) => parseBlob(blob, `${subject}: blob ${index}`)),
    properties: parseProperties(json, subject),
  };
}

/** In the order that Iceberg Java has, without properties where there are none. */
export function payloadToJson({ blobs, properties }: FooterPayload): JsonObject {
  return { blobs: blobs.map(blobToJson), ...propertiesToJson(properties) };
}

function parseBlob(json: JsonValue, subject: string): BlobMetadata {
  if (!isJsonObject(json)) throw invalid(subject, 'is not a JSON object');
  const codec = json['compression-codec'];
  const isCompressed = codec !== undefined && codec !== null;
  return {
    type: requireString(json['type'], `${subject}: type`),
    fields: parseFields(json['fields'], `${subject}: fields`),
    snapshotId: requireLong(json['snapshot-id'], `${subject}: snapshot-id`),
    sequenceNumber: requireLong(json['sequence-number'], `${subject}: sequence-number`),
    offset: requireCount(json['offset'], `${subject}: offset`),
    lengthBytes: requireCount(json['length'], `${subject}: length`),
    ...(isCompressed && {
      compressionCodec: requireString(codec, `${subject}: compression-codec`),
    }),
    properties: parseProperties(json, subject),
    unknownFields: Object.fromEntries(
      Object.entries(json).filter(([name]) => !BLOB_FIELDS.has(name)),
    ),
  };
}

function blobToJson(blob: BlobMetadata): JsonObject {
  const { compressionCodec } = blob;
  return {
    type: blob.type,
    fields: blob.fields,
    'snapshot-id': blob.snapshotId,
    'sequence-number': blob.sequenceNumber,
    offset: blob.offset,
    length: blob.lengthBytes,
    ...(compressionCodec !== undefined && { 'compression-codec': compressionCodec }),
    ...propertiesToJson(blob.properties),
    ...blob.unknownFields,
  };
}

function propertiesToJson(properties: PuffinProperties): JsonObject {
  return Object.keys(properties).length === 0 ? {} : { properties };
}

function parseFields(json: JsonValue | undefined, subject: string): readonly number[] {
  if (!Array.isArray(json)) throw invalid(subject, 'is not a JSON array');
  return json.map((field: JsonValue) => {
    const id = requireLong(field, subject);
    if (id < -INT32_MAX - 1 || id > INT32_MAX) throw invalid(subject, `${id} exceeds 32 bits`);
    return Number(id);
  });
}

function parseProperties(json: JsonObject, subject: string): PuffinProperties {
  const properties = json['properties'];
  if (properties === undefined || properties === null) return {};
  if (!isJsonObject(properties)) throw invalid(subject, 'properties is not a JSON object');
  const entries = Object.entries(properties).map(
    ([key, value]) => [key, requireString(value, `${subject}: property ${key}`)] as const,
  );
  return Object.fromEntries(entries);
}

function requireString(json: JsonValue | undefined, subject: string): string {
  if (typeof json !== 'string') throw invalid(subject, 'is not a string');
  return json;
}

function requireLong(json: JsonValue | undefined, subject: string): bigint {
  if (typeof json === 'bigint') return toInt64(json, subject);
  if (typeof json === 'number' && Number.isInteger(json)) return BigInt(json);
  throw invalid(subject, 'is not an integer');
}

function requireCount(json: JsonValue | undefined, subject: string): number {
  return toCount(requireLong(json, subject), subject);
}

function invalid(subject: string, problem: string): IcebergError {
  return new IcebergError('invalid-data', `${subject}: ${problem}`);
}
