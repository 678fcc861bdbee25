import { gunzipSync } from 'node:zlib';
import { isJsonObject, type JsonObject, parseJson } from '../../shared/base/index.ts';
import { type NestedField, parseSchema, type Schema } from '../../shared/iceberg/index.ts';

/** What the slow reader needs of a metadata file, read from its JSON without `parseTableMetadata`. */
export interface SlowMetadata {
  readonly currentSnapshotId: bigint | undefined;
  readonly manifestLists: ReadonlyMap<bigint, string>;
  /** The schema that a snapshot is read with: the current one for the current snapshot. */
  readonly schemaOf: (snapshotId: bigint) => Schema;
  /** The newest field of an id in any schema, for columns that were dropped since. */
  readonly fieldOf: (fieldId: number) => NestedField | undefined;
  /** By spec id, in order. */
  readonly specs: ReadonlyMap<number, readonly SlowPartitionField[]>;
}

export interface SlowPartitionField {
  readonly fieldId: number;
  readonly sourceId: number;
  readonly transform: string;
}

const PARTITION_FIELD_ID_START = 1000;

export function parseMetadataSlowly(bytes: Uint8Array): SlowMetadata {
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(plain);
  const json = object(parseJson(text, 'slow metadata'));
  const schemas = array(json['schemas'] ?? [json['schema']]).map((schema) =>
    parseSchema(object(schema)),
  );
  const currentSchema =
    schemas.find(({ schemaId }) => schemaId === Number(json['current-schema-id'] ?? 0)) ??
    schemas[0]!;
  const snapshots = array(json['snapshots'] ?? []).map(object);
  const currentSnapshotId = long(json['current-snapshot-id'] ?? -1);
  const schemaOf = (snapshotId: bigint): Schema => {
    if (snapshotId === currentSnapshotId) return currentSchema;
    const snapshot = snapshots.find((one) => long(one['snapshot-id']) === snapshotId);
    return schemas.find(({ schemaId }) => schemaId === snapshot?.['schema-id']) ?? currentSchema;
  };
  return {
    currentSnapshotId: currentSnapshotId === -1n ? undefined : currentSnapshotId,
    manifestLists: new Map(
      snapshots.map((one) => [long(one['snapshot-id']), String(one['manifest-list'])]),
    ),
    schemaOf,
    fieldOf: (fieldId) =>
      [...schemas, currentSchema]
        .flatMap(({ fields }) => fields)
        .findLast((field) => field.fieldId === fieldId),
    specs: new Map(parseSpecs(json)),
  };
}

function parseSpecs(json: JsonObject): [number, readonly SlowPartitionField[]][] {
  const specs = json['partition-specs'];
  if (specs === undefined || specs === null) return [[0, parseFields(json['partition-spec'])]];
  return array(specs)
    .map(object)
    .map((spec) => [Number(spec['spec-id']), parseFields(spec['fields'])]);
}

function parseFields(fields: unknown): readonly SlowPartitionField[] {
  return array(fields ?? [])
    .map(object)
    .map((field, index) => ({
      fieldId: Number(field['field-id'] ?? PARTITION_FIELD_ID_START + index),
      sourceId: Number(field['source-id'] ?? array(field['source-ids'])[0]),
      transform: String(field['transform']),
    }));
}

function object(value: unknown): JsonObject {
  if (isJsonObject(value as JsonObject)) return value as JsonObject;
  throw new TypeError('slow metadata: not an object');
}

function array(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('slow metadata: not an array');
}

function long(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  throw new TypeError(`slow metadata: ${String(value)} is not a whole number`);
}
