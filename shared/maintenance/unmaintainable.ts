import { type Snapshot, tableProperty } from '../iceberg/index.ts';
import type { Table } from '../table/index.ts';

/** Why nothing is even planned. */
export type UnmaintainableReason = 'custom-location-provider' | 'no-manifest-list';

/** Why the files of a table are not rewritten at all, whatever they are; undefined where they may be. */
export function unmaintainable(
  { metadata }: Pick<Table, 'metadata'>,
  snapshot: Snapshot,
): { readonly reason: UnmaintainableReason; readonly detail: string } | undefined {
  const provider = tableProperty(metadata.properties, 'write.location-provider.impl');
  if (provider !== undefined) return { reason: 'custom-location-provider', detail: provider };
  if (snapshot.manifestList === undefined) {
    return { reason: 'no-manifest-list', detail: `snapshot ${snapshot.snapshotId}` };
  }
  return undefined;
}
