import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/base/index.ts';
import type { TableMetadata } from '../../../shared/iceberg/index.ts';

/** From a snapshot back through its parents, as far as they are there. */
export function ancestorsOf(
  metadata: TableMetadata,
  snapshotId: bigint | undefined,
): readonly bigint[] {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
  const ancestors: bigint[] = [];
  for (let next = snapshotId; next !== undefined && byId.has(next); ) {
    ancestors.push(next);
    next = byId.get(next)?.parentSnapshotId;
  }
  return ancestors;
}

export function requireObject(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

export function requireArray(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== key));
}
