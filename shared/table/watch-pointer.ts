import type { Clock } from '../base/index.ts';
import type { Catalog, TableIdentifier, TablePointer } from '../catalog/index.ts';

/**
 * How long the next move of a pointer is waited for, and how often it is looked at: writers that leave less time than
 * this between two commits are the ones to fear, and a look costs a fraction of the time that an attempt takes.
 */
export const WATCH_MS_MAX = 500;
const LOOK_EVERY_MS = 10;

/**
 * Reads the pointer until it has moved, or for half a second. A commit that starts just after another one has landed has
 * all the time that its writer takes for the next one; at any other moment it has only the rest. Up to 50 reads.
 *
 * @throws as `Catalog.loadTable`
 */
export async function watchPointer(
  identifier: TableIdentifier,
  { catalog, clock }: { readonly catalog: Catalog; readonly clock: Clock },
): Promise<TablePointer> {
  const endMs = clock.nowMs() + WATCH_MS_MAX;
  const before = await catalog.loadTable(identifier);
  for (let pointer = before; ; pointer = await catalog.loadTable(identifier)) {
    const isMoved = pointer.metadataLocation !== before.metadataLocation;
    if (isMoved || clock.nowMs() >= endMs) return pointer;
    await clock.sleepMs(LOOK_EVERY_MS);
  }
}
