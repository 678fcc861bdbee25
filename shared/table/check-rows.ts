import { addRowIds, isSameRowIds, isSameRows, NO_ROW_IDS } from '../datafile/index.ts';
import { firstViolation } from './first-violation.ts';
import type { CommitProposal } from './proposal.ts';
import { outputFiles, type ReplaceGroup } from './replace-group.ts';

/** Outputs store the ids that their rows had, so that those of their own entries are never inherited by them. */
export function lineageViolation({ groups, outputs }: CommitProposal): string | undefined {
  const reread = new Map(outputs.map((output) => [output.filePath, output]));
  return firstViolation(groups, (group) => {
    const before = group.inputRowIds;
    if (before === undefined) return unknownIds(group);
    let after = NO_ROW_IDS;
    for (const { filePath } of outputFiles([group])) {
      const found = reread.get(filePath);
      if (found === undefined || 'flaw' in found) return `${filePath}: its row ids are not known`;
      after = addRowIds(after, found.rowIds);
    }
    if (isSameRowIds(before, after)) return undefined;
    const counts = `${before.idCount} rows with ids and ${before.nullCount} without became ${after.idCount} and ${after.nullCount}`;
    return `group ${group.groupIndex}: ${counts}, or an id has changed`;
  });
}

/** A group that was rewritten before its table had row lineage; such files have no ids yet. */
function unknownIds({ groupIndex, inputs }: ReplaceGroup): string | undefined {
  const known = inputs.find(({ firstRowId }) => firstRowId !== undefined);
  return known && `group ${groupIndex}: row ids of ${known.filePath} were not looked at`;
}

export function rowHashViolation({ groups }: CommitProposal): string | undefined {
  return firstViolation(groups, ({ groupIndex, rowHashes }) => {
    if (rowHashes === undefined || isSameRows(rowHashes.inputs, rowHashes.outputs))
      return undefined;
    const { inputs, outputs } = rowHashes;
    return `group ${groupIndex}: ${inputs.rowCount} rows became ${outputs.rowCount}, or a value has changed`;
  });
}
