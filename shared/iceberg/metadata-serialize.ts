import { assert, type JsonObject, serializeJson } from '../base/index.ts';
import { encodeMetadataText } from './metadata-bytes.ts';
import type { TableMetadata } from './metadata-types.ts';

/**
 * The bytes of a metadata file. Objects are written as they were read, key for key; only what updates
 * change is written anew, so keys that Firn does not know survive at every level.
 *
 * @param metadataLocation where the file will lie: gzip where the name ends in `.gz.metadata.json`
 * @see Iceberg spec, "Table Metadata and Snapshots"
 */
export function serializeTableMetadata(
  metadata: TableMetadata,
  metadataLocation: string,
): Uint8Array {
  return encodeMetadataText(serializeJson(metadataToJson(metadata)), metadataLocation);
}

function metadataToJson(metadata: TableMetadata): JsonObject {
  return {
    ...metadata.source,
    ...(metadata.formatVersion === 1
      ? singularKeys(metadata)
      : { 'last-sequence-number': metadata.lastSequenceNumber }),
    'last-updated-ms': metadata.lastUpdatedMs,
    ...(metadata.currentSnapshotId === undefined
      ? {}
      : { 'current-snapshot-id': metadata.currentSnapshotId }),
    ...(metadata.nextRowId === undefined ? {} : { 'next-row-id': metadata.nextRowId }),
    refs: Object.fromEntries([...metadata.refs].map(([name, ref]) => [name, ref.source])),
    snapshots: metadata.snapshots.map((snapshot) => snapshot.source),
    'snapshot-log': metadata.snapshotLog.map((entry) => entry.source),
    'metadata-log': metadata.metadataLog.map((entry) => entry.source),
  };
}

/** v1 readers of long ago need the current schema and the default spec's fields by themselves. */
function singularKeys(metadata: TableMetadata): JsonObject {
  const schema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId);
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  assert(schema !== undefined && spec !== undefined, 'table metadata: current ids were checked');
  return {
    schema: metadata.source['schema'] ?? schema.source,
    'partition-spec': metadata.source['partition-spec'] ?? spec.source['fields'] ?? [],
  };
}
