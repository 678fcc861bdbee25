import type { AttachedDeletes } from '../iceberg/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import { attachedAtHead } from './attached.ts';
import { attachedPositionDeletes, deleteKey, identityKey } from './delete-identity.ts';
import { firstViolation } from './first-violation.ts';
import { type CommitProposal, deleteManifests } from './proposal.ts';
import { addedPositions, vectorViolation } from './proposed-deletes.ts';
import type { ReplaceInput } from './replace-group.ts';

export function sameDeletesViolation(proposal: CommitProposal): string | undefined {
  const attachedTo = attachedAtHead(proposal.headFacts, proposal.base.partitionSpecs);
  const removed = new Set(
    deleteManifests(proposal.filteredManifests).flatMap((reread) =>
      reread.deletedEntries.map(deleteKey),
    ),
  );
  const added = addedPositions(proposal);
  const hasVectors = proposal.base.formatVersion >= 3;
  const covered = proposal.deleteGroups.flatMap(({ dataFiles }) => dataFiles);
  return firstViolation(covered, ({ input }) => {
    const attached = attachedTo(input);
    const after = added.get(input.filePath);
    return (
      removedUnread(input, attached, removed) ??
      changedRows(input, after) ??
      hiddenRows(input, attached, hasVectors && after !== undefined)
    );
  });
}

/** What was read must apply, and what is removed have been read. */
function removedUnread(
  { filePath, deletes }: ReplaceInput,
  attached: AttachedDeletes,
  removed: ReadonlySet<string>,
): string | undefined {
  const all = [...attachedPositionDeletes(attached), ...attached.equalityDeleteFiles];
  const keys = new Set(all.map(deleteKey));
  const gone = deletes?.applied.find((identity) => !keys.has(identityKey(identity)));
  if (gone !== undefined) return `${filePath}: ${gone.filePath} does not apply at head`;
  const applied = new Set(deletes?.applied.map(identityKey));
  const unread = all.find(
    (entry) => removed.has(deleteKey(entry)) && !applied.has(deleteKey(entry)),
  );
  return unread && `${filePath}: ${unread.dataFile.filePath} is removed and was not read`;
}

function changedRows(
  { filePath, deletes }: ReplaceInput,
  after: RoaringBitmap | undefined,
): string | undefined {
  const before =
    deletes === undefined
      ? RoaringBitmap.EMPTY
      : RoaringBitmap.unionOf([deletes.byPosition, deletes.byEquality]);
  const { cardinality } = after ?? RoaringBitmap.EMPTY;
  const isSame = cardinality === before.cardinality && (after?.isSupersetOf(before) ?? true);
  if (isSame) return undefined;
  return `${filePath}: ${before.cardinality} rows are deleted, ${cardinality} after it, or others`;
}

/** Readers of a vector look at no other position deletes. */
function hiddenRows(
  { filePath, deletes }: ReplaceInput,
  attached: AttachedDeletes,
  getsVector: boolean,
): string | undefined {
  const applied = new Set(deletes?.applied.map(identityKey));
  const unread = attachedPositionDeletes(attached).find((entry) => !applied.has(deleteKey(entry)));
  if (unread === undefined) {
    return vectorViolation(filePath, attached, deletes?.byPosition ?? RoaringBitmap.EMPTY);
  }
  if (!getsVector) return undefined;
  return `${filePath}: ${unread.dataFile.filePath} was not read, and its vector hides it`;
}
