import { plannedDataFile } from './attached.ts';
import { deletedWhenRead, type ReplaceGroup, type ReplaceInput } from './replace-group.ts';
import type { RewriteDeletesGroup } from './rewrite-deletes-group.ts';
import type { NewDelete } from './stage-deletes.ts';

/** What a commit is asked to do; groups that can no longer be committed are left out of it. */
export interface CommitRequest {
  /** Of the snapshot whose files were rewritten; the outputs' data sequence number. 0n in v1. */
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly ReplaceGroup[];
  readonly deleteGroups: readonly RewriteDeletesGroup[];
}

/** The part of it that can be committed on some head. */
export type CommittableGroups = Pick<CommitRequest, 'groups' | 'deleteGroups'>;

/** Data files that must be found at head as they were planned. */
export function plannedDataFiles({
  groups,
  deleteGroups,
}: CommittableGroups): readonly ReplaceInput[] {
  return [
    ...groups.flatMap(({ inputs }) => inputs),
    ...deleteGroups.flatMap(({ dataFiles }) => dataFiles.map(({ input }) => input)),
  ];
}

/** The delete files that the caller has written. */
export function plannedDeletes({
  deleteGroups,
}: Pick<CommitRequest, 'deleteGroups'>): readonly NewDelete[] {
  return deleteGroups.flatMap(({ dataFiles }) =>
    dataFiles.flatMap(({ input, addedDelete }) => {
      if (addedDelete === undefined) return [];
      const { dataFile: deleteFile, dataSequenceNumber } = addedDelete;
      const { specId, deletes } = input;
      return [
        {
          specId,
          dataFile: plannedDataFile(input),
          positions: deletedWhenRead(deletes),
          deleteFile,
          ...(dataSequenceNumber === undefined ? {} : { dataSequenceNumber }),
        },
      ];
    }),
  );
}
