import type { Snapshot, TableMetadata } from '../iceberg/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import { attachedAtHead } from './attached.ts';
import { carryOver, type RowsToDelete } from './carry-over.ts';
import type { CommitRequest, CommittableGroups } from './commit-request.ts';
import { deleteKey } from './delete-identity.ts';
import type { HeadDelete, HeadFacts } from './head.ts';
import { deletesToRemove } from './needed-deletes.ts';
import type { PositionReader } from './position-reader.ts';
import type { DroppedGroup } from './replace-group.ts';
import { revalidateGroups } from './revalidate.ts';
import { revalidateDeletes } from './rewrite-deletes-drops.ts';

/** What can be committed on some head, and what the commit does about deletes. */
export interface Decision extends CommittableGroups {
  readonly dropped: readonly DroppedGroup[];
  /** Rows of outputs that delete files are to be written for. */
  readonly outputDeletes: readonly RowsToDelete[];
  /** By path of an input, what its position deletes delete at head; absent where it has none, nor had. */
  readonly positionsAtHead: ReadonlyMap<string, RoaringBitmap>;
  /** Rows of inputs that were deleted since they were read. */
  readonly carriedOverCount: number;
  /** Live entries of delete manifests that leave. */
  readonly removedDeletes: readonly HeadDelete[];
}

export interface HeadToDecide {
  readonly base: TableMetadata;
  readonly head: Snapshot;
  readonly facts: HeadFacts;
}

/**
 * Decides what of a request can be committed on a head. Reads delete files that came since, and nothing where there
 * are none.
 *
 * @throws invalid-data — when a deletion vector belongs to no data file, or is older than it
 * @throws unavailable, access-denied — when the store cannot be asked
 */
export async function decide(
  request: CommitRequest,
  { base, head, facts }: HeadToDecide,
  reader: PositionReader,
): Promise<Decision> {
  const { startingSequenceNumber } = request;
  const at = { head: facts, age: { sequenceNumber: head.sequenceNumber, startingSequenceNumber } };
  const replaced = revalidateGroups(request.groups, ({ inputs }) => inputs, at);
  const covered = revalidateGroups(
    request.deleteGroups,
    ({ dataFiles }) => dataFiles.map(({ input }) => input),
    at,
  );
  const specs = base.partitionSpecs;
  const attachedTo = attachedAtHead(facts, specs);
  const groups = replaced.kept;
  const { kept, dropped, ...carried } = await carryOver({
    ...{ groups, startingSequenceNumber, metadata: base, attachedTo, reader },
  });
  const deletes = revalidateDeletes(covered.kept, {
    ...{ facts, specs, startingSequenceNumber, attachedTo },
    formatVersion: base.formatVersion,
  });
  const committable = { groups: kept, deleteGroups: deletes.kept };
  return {
    ...committable,
    ...carried,
    dropped: [...replaced.dropped, ...dropped, ...covered.dropped, ...deletes.dropped],
    removedDeletes: [
      ...deletesToRemove({ ...committable, facts, specs, startingSequenceNumber }),
      ...removedBy(committable, facts),
    ],
  };
}

/** As the head has them. */
function removedBy({ deleteGroups }: CommittableGroups, facts: HeadFacts): readonly HeadDelete[] {
  const keys = new Set(deleteGroups.flatMap(({ removedDeletes }) => removedDeletes.map(deleteKey)));
  return facts.deletes.filter(({ entry }) => keys.has(deleteKey(entry)));
}
