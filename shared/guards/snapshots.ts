import { type Snapshot, snapshotOfRef, type TableMetadata } from '../iceberg/index.ts';

/** Every snapshot of Firn's carries it; one without was made by somebody else. */
const RUN_ID_KEY = 'firn.run-id';

export function isForeign({ summary }: Snapshot): boolean {
  return summary[RUN_ID_KEY] === undefined;
}

/** The snapshot of a branch or tag and what it was built on, newest first, as far as the metadata still has it. */
export function* ancestorsOfRef(
  metadata: TableMetadata,
  refName: string,
): Generator<Snapshot, void, undefined> {
  const head = snapshotOfRef(metadata, refName);
  if (head !== undefined) yield* ancestorsOf(metadata, head);
}

function* ancestorsOf(
  metadata: TableMetadata,
  head: Snapshot,
): Generator<Snapshot, void, undefined> {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
  let snapshot: Snapshot | undefined = head;
  // Metadata that is wrong may have a circle of parents.
  for (let count = 0; snapshot !== undefined && count < metadata.snapshots.length; count++) {
    yield snapshot;
    const parentId: bigint | undefined = snapshot.parentSnapshotId;
    snapshot = parentId === undefined ? undefined : byId.get(parentId);
  }
}
