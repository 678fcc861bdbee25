import type { AttachedDeletes } from '../iceberg/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import { attachedAtHead } from './attached.ts';
import { attachedPositionDeletes, deleteKey, identityKey } from './delete-identity.ts';
import { firstViolation } from './first-violation.ts';
import type { CommitProposal } from './proposal.ts';
import { addedPositions, vectorViolation } from './proposed-deletes.ts';
import type { ReplaceGroup, ReplaceInput } from './replace-group.ts';

export function accountViolation(proposal: CommitProposal): string | undefined {
  const attachedTo = attachedAtHead(proposal.headFacts, proposal.base.partitionSpecs);
  const added = addedPositions(proposal);
  return firstViolation(
    proposal.groups,
    (group) =>
      firstViolation(group.inputs, (input) => unaccounted(input, attachedTo(input), proposal)) ??
      untranslated(group, added, proposal),
  );
}

/** A delete of an input that was neither applied nor looked at, and does not reach the outputs. */
function unaccounted(
  { filePath, deletes }: ReplaceInput,
  attached: AttachedDeletes,
  { positionsAtHead, startingSequenceNumber }: CommitProposal,
): string | undefined {
  const applied = new Set(deletes?.applied.map(identityKey));
  const missed = attached.equalityDeleteFiles.find(
    (entry) =>
      !(entry.dataSequenceNumber > startingSequenceNumber || applied.has(deleteKey(entry))),
  );
  if (missed !== undefined) return `${filePath}: ${missed.dataFile.filePath} was not applied`;
  const atHead = positionsAtHead.get(filePath);
  const [first] = attachedPositionDeletes(attached);
  if (first === undefined) return undefined;
  if (atHead === undefined) return `${filePath}: ${first.dataFile.filePath} was not looked at`;
  return vectorViolation(filePath, attached, atHead);
}

/** Each row that is deleted at head and stands in an output must be deleted there; and no other one. */
function untranslated(
  { groupIndex, inputs, outputs, positionMap }: ReplaceGroup,
  added: ReadonlyMap<string, RoaringBitmap>,
  { positionsAtHead }: CommitProposal,
): string | undefined {
  const deleted = outputs.map(
    ({ dataFile }) => added.get(dataFile.filePath) ?? RoaringBitmap.EMPTY,
  );
  const expected = inputs.map(({ filePath, deletes }) =>
    RoaringBitmap.unionOf([
      positionsAtHead.get(filePath) ?? RoaringBitmap.EMPTY,
      ...(deletes === undefined ? [] : [deletes.byPosition, deletes.byEquality]),
    ]),
  );
  const places = expected.map((positions, index) => positionMap.translate(index, positions));
  const goneCount = places.reduce((sum, { gone }) => sum + gone.cardinality, 0);
  if (goneCount !== positionMap.goneCount) {
    return `group ${groupIndex}: ${positionMap.goneCount} rows are purged, ${goneCount} of them are deleted`;
  }
  return firstViolation(outputs.entries(), ([output, { dataFile }]) => {
    const meant = RoaringBitmap.unionOf(places.map(({ outputs: ofInput }) => ofInput[output]!));
    const found = deleted[output]!;
    return meant.cardinality === found.cardinality && found.isSupersetOf(meant)
      ? undefined
      : `${dataFile.filePath}: ${found.cardinality} rows are deleted, expected ${meant.cardinality}, or others`;
  });
}

export function supersetViolation(proposal: CommitProposal): string | undefined {
  const attachedTo = attachedAtHead(proposal.headFacts, proposal.base.partitionSpecs);
  const inputs = proposal.groups.flatMap((group) => group.inputs);
  return firstViolation(inputs, (input) => {
    const { filePath, deletes } = input;
    if (deletes === undefined) return undefined;
    const keys = new Set(attachedTo(input).equalityDeleteFiles.map(deleteKey));
    const isMatched = deletes.applied
      .filter(({ kind }) => kind === 'equality-deletes')
      .every((identity) => keys.has(identityKey(identity)));
    const atHead = proposal.positionsAtHead.get(filePath) ?? RoaringBitmap.EMPTY;
    const { byPosition, byEquality } = deletes;
    const isKept =
      atHead.isSupersetOf(isMatched ? byPosition.difference(byEquality) : byPosition) &&
      (isMatched || atHead.isSupersetOf(byEquality));
    return isKept
      ? undefined
      : `${filePath}: rows are live at head that were deleted when it was read`;
  });
}
