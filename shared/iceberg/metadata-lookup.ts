import { IcebergError } from '../base/index.ts';
import type { Snapshot, TableMetadata } from './metadata-types.ts';
import { type PartitionType, partitionType } from './partition-spec.ts';
import { MAIN_BRANCH } from './snapshot.ts';
import type { PartitionSpec, Schema, SortOrder } from './types.ts';

/** The table's current schema. */
export function currentSchema(metadata: TableMetadata): Schema {
  return schemaById(metadata, metadata.currentSchemaId);
}

/** @throws invalid-data — when the table has no such schema */
export function schemaById(metadata: TableMetadata, schemaId: number): Schema {
  return requireKnown(
    metadata.schemas.find((schema) => schema.schemaId === schemaId),
    'schema',
    schemaId,
  );
}

/** @throws invalid-data — when the table has no such spec */
export function specById(metadata: TableMetadata, specId: number): PartitionSpec {
  const spec = metadata.partitionSpecs.find((candidate) => candidate.specId === specId);
  return requireKnown(spec, 'partition spec', specId);
}

/** @throws invalid-data — when the table has no such order */
export function sortOrderById(metadata: TableMetadata, orderId: number): SortOrder {
  const order = metadata.sortOrders.find((candidate) => candidate.orderId === orderId);
  return requireKnown(order, 'sort order', orderId);
}

/** The snapshot with the id, or undefined where it has expired. */
export function snapshotById(metadata: TableMetadata, snapshotId: bigint): Snapshot | undefined {
  return metadata.snapshots.find((snapshot) => snapshot.snapshotId === snapshotId);
}

/** The snapshot that a branch or tag points to, or undefined where there is none. */
export function snapshotOfRef(
  metadata: TableMetadata,
  refName: string = MAIN_BRANCH,
): Snapshot | undefined {
  const ref = metadata.refs.get(refName);
  return ref === undefined ? undefined : snapshotById(metadata, ref.snapshotId);
}

/**
 * The type of a spec's partition tuples in this table: a source column has its present type, or its last
 * one where it was dropped.
 *
 * @throws invalid-data — as `partitionType`
 */
export function tablePartitionType(metadata: TableMetadata, spec: PartitionSpec): PartitionType {
  const others = metadata.schemas
    .filter((schema) => schema.schemaId !== metadata.currentSchemaId)
    .toSorted((one, other) => other.schemaId - one.schemaId);
  return partitionType(spec, [currentSchema(metadata), ...others]);
}

/**
 * Whether files of the table are encrypted, or will be: the table has encryption keys, a snapshot names
 * one, or a property does. Firn refuses such tables.
 *
 * @see Iceberg spec, "Encryption Keys"
 */
export function isEncrypted(metadata: TableMetadata): boolean {
  const keys = metadata.source['encryption-keys'];
  return (
    (Array.isArray(keys) && keys.length > 0) ||
    metadata.properties['encryption.key-id'] !== undefined ||
    metadata.snapshots.some(({ source }) => (source['key-id'] ?? null) !== null)
  );
}

function requireKnown<Item>(item: Item | undefined, what: string, id: number): Item {
  if (item !== undefined) return item;
  throw new IcebergError('invalid-data', `table metadata: ${what} ${id} does not exist`, { id });
}
