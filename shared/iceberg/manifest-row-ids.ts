import { IcebergError } from '../base/index.ts';
import type { ManifestFile } from './manifest-types.ts';

/**
 * Gives each data manifest that has no `firstRowId` one, in list order, for a v3 snapshot that begins at
 * `nextRowId`. Manifests that have one, and delete manifests, stay as they are.
 *
 * The counter advances by the rows that can inherit an id: all added and existing rows of the manifest, or
 * exactly the rows of files without one where `unassignedRowsCounts` names the manifest by its path (the
 * spec allows both; Iceberg Java always does the former, so rewriting manifests burns ids there, here not).
 *
 * @returns the manifests in the given order, and `addedRows`, by which the table's `next-row-id` grows
 * @throws unsupported — when a manifest of v1 does not say its row counts
 * @see Iceberg spec, "First Row ID Assignment"
 */
export function assignFirstRowIds(
  manifests: readonly ManifestFile[],
  nextRowId: bigint,
  unassignedRowsCounts: ReadonlyMap<string, number> = new Map(),
): { readonly manifests: readonly ManifestFile[]; readonly addedRows: bigint } {
  let firstRowId = nextRowId;
  const assigned = manifests.map((manifest) => {
    if (manifest.content !== 'data' || manifest.firstRowId !== undefined) return manifest;
    const withRowId = { ...manifest, firstRowId };
    const rowsCount = unassignedRowsCounts.get(manifest.manifestPath) ?? liveRowsCount(manifest);
    firstRowId += BigInt(rowsCount);
    return withRowId;
  });
  return { manifests: assigned, addedRows: firstRowId - nextRowId };
}

function liveRowsCount({ manifestPath, addedRowsCount, existingRowsCount }: ManifestFile): number {
  if (addedRowsCount === undefined || existingRowsCount === undefined) {
    throw new IcebergError(
      'unsupported',
      `manifest ${manifestPath}: row ids cannot be assigned without row counts`,
    );
  }
  return addedRowsCount + existingRowsCount;
}
