import type { AttachedDeletes } from '../iceberg/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { CommitProposal } from './proposal.ts';
import { contentKey } from './stage.ts';

/** Whether there is anything about deletes in it at all. */
export function hasDeletes({ groups, deleteGroups, headFacts }: CommitProposal): boolean {
  return (
    deleteGroups.length > 0 ||
    headFacts.deletes.length > 0 ||
    groups.some(({ inputs, outputs }) =>
      [
        ...inputs.map(({ deletes }) => deletes !== undefined),
        ...outputs.map(({ deletedPositions }) => !deletedPositions.isEmpty),
      ].includes(true),
    )
  );
}

/** What the added delete file of each data file deletes, as it was read back. */
export function addedPositions({
  newDeletes,
  rereadDeletes,
}: CommitProposal): ReadonlyMap<string, RoaringBitmap> {
  const reread = new Map(rereadDeletes.map(({ key, found }) => [key, found]));
  return new Map(
    newDeletes.flatMap(({ dataFile, deleteFile }) => {
      const found = reread.get(contentKey(deleteFile));
      return found === undefined || 'flaw' in found ? [] : [[dataFile.filePath, found.positions]];
    }),
  );
}

/** A vector is all that counts by position: it says how many rows that are. */
export function vectorViolation(
  filePath: string,
  { deletionVectors: [vector] }: AttachedDeletes,
  positions: RoaringBitmap,
): string | undefined {
  if (vector === undefined || vector.dataFile.recordCount === positions.cardinality) {
    return undefined;
  }
  return `${filePath}: its vector deletes ${vector.dataFile.recordCount} rows, ${positions.cardinality} were read`;
}
