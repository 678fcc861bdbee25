import { IcebergError } from '../base/index.ts';
import { accountViolation, supersetViolation } from './check-carried-deletes.ts';
import {
  columnViolation,
  inputViolation,
  outputViolation,
  partitionViolation,
  pathViolation,
  rowViolation,
} from './check-files.ts';
import { listViolation, manifestViolation } from './check-manifests.ts';
import { metadataViolation } from './check-metadata.ts';
import {
  deleteFormatViolation,
  firstDeleteViolation,
  readBackViolation,
  vectorCountViolation,
} from './check-new-deletes.ts';
import { removedDeletesViolation } from './check-removed-deletes.ts';
import { sameDeletesViolation } from './check-rewritten-deletes.ts';
import { lineageViolation, rowHashViolation } from './check-rows.ts';
import { rowIdViolation, sequenceViolation } from './check-sequence.ts';
import type { CommitProposal } from './proposal.ts';
import { hasDeletes } from './proposed-deletes.ts';

/** A claim that every commit must fulfil. `violation` says where it does not hold, or nothing. */
export interface Invariant {
  /** Never reused for another claim. */
  readonly number: number;
  readonly name: string;
  readonly claim: string;
  readonly violation: (proposal: CommitProposal) => string | undefined;
  /** Whether there is anything to check; every commit has, where it is absent. */
  readonly appliesTo?: (proposal: CommitProposal) => boolean;
}

/** All of them, in the order in which they are checked. @see design, "The house": `verify` */
export const INVARIANTS: readonly Invariant[] = [
  {
    number: 1,
    name: 'inputs-live-once',
    claim: 'each data file belongs to one group and is live once at head, as it was planned',
    violation: inputViolation,
  },
  {
    number: 2,
    name: 'rows-kept',
    claim: 'in each group, and in all, rows added are rows removed less purged ones',
    violation: rowViolation,
  },
  {
    number: 3,
    name: 'column-counts-kept',
    claim: 'values and nulls of each column add up, less purged ones, where both sides know them',
    violation: columnViolation,
  },
  {
    number: 4,
    name: 'outputs-complete',
    claim: 'each output was read back from the store: length, footer, every page',
    violation: outputViolation,
  },
  {
    number: 5,
    name: 'paths-once',
    claim: 'no path is added twice, added while live, or added and removed at once',
    violation: pathViolation,
  },
  {
    number: 6,
    name: 'partition-kept',
    claim: 'each output has the spec and partition of every input of its group',
    violation: partitionViolation,
  },
  {
    number: 7,
    name: 'sequence-numbers',
    claim: 'the snapshot follows the last one; added data files carry the starting sequence number',
    violation: sequenceViolation,
  },
  {
    number: 8,
    name: 'row-ids',
    claim: 'row id ranges follow next-row-id without overlap, and none changes that was assigned',
    violation: rowIdViolation,
    appliesTo: ({ metadata }) => metadata.formatVersion >= 3,
  },
  {
    number: 9,
    name: 'manifests-as-meant',
    claim: 'each manifest written was read back: entries, counts, and nothing lost from its source',
    violation: manifestViolation,
  },
  {
    number: 10,
    name: 'list-as-meant',
    claim: 'the manifest list was read back: the head, less filtered manifests, plus those written',
    violation: listViolation,
  },
  {
    number: 11,
    name: 'metadata-as-meant',
    claim: 'the metadata differs from its base by the snapshot, its branch and the logs only',
    violation: metadataViolation,
  },
  {
    number: 12,
    name: 'row-ids-kept',
    claim: 'in each group, the outputs store the row ids that the inputs have, and no others',
    violation: lineageViolation,
    appliesTo: ({ metadata }) => metadata.formatVersion >= 3,
  },
  {
    number: 13,
    name: 'rows-equal',
    claim: 'with firn.verify=rows, the rows of each group hash to the same before and after',
    violation: rowHashViolation,
    appliesTo: ({ groups }) => groups.some(({ rowHashes }) => rowHashes !== undefined),
  },
  {
    number: 14,
    name: 'deletes-accounted',
    claim:
      'what is deleted of the inputs at head is purged, or deleted of the outputs, and no more',
    violation: accountViolation,
    appliesTo: hasDeletes,
  },
  {
    number: 15,
    name: 'deletes-superset',
    claim: 'each row that was deleted when its file was read is deleted at head',
    violation: supersetViolation,
    appliesTo: hasDeletes,
  },
  {
    number: 16,
    name: 'one-vector',
    claim: 'no data file has two deletion vectors',
    violation: vectorCountViolation,
    appliesTo: hasDeletes,
  },
  {
    number: 17,
    name: 'removed-deletes-unneeded',
    claim: 'deletes of removed files leave with them, and none that a live data file needs',
    violation: removedDeletesViolation,
    appliesTo: hasDeletes,
  },
  {
    number: 18,
    name: 'no-first-delete',
    claim: 'a branch without delete files gets none',
    violation: firstDeleteViolation,
  },
  {
    number: 19,
    name: 'deletes-read-back',
    claim: 'each delete file added was read back from the store, and deletes the rows it must',
    violation: readBackViolation,
  },
  {
    number: 20,
    name: 'delete-formats',
    claim:
      'v2 tables get position delete files, v3 tables vectors, each of one data file, as meant',
    violation: deleteFormatViolation,
  },
  {
    number: 21,
    name: 'deleted-rows-kept',
    claim: 'where deletes are rewritten, the deleted rows of each data file stay the same',
    violation: sameDeletesViolation,
    appliesTo: ({ deleteGroups }) => deleteGroups.length > 0,
  },
];

/**
 * Refuses a commit that would break a claim.
 *
 * @returns the numbers of the claims that were checked
 * @throws invariant — naming the first claim that does not hold, and where
 */
export function verifyProposal(proposal: CommitProposal): readonly number[] {
  const applicable = INVARIANTS.filter(({ appliesTo }) => appliesTo?.(proposal) ?? true);
  for (const { number, name, violation } of applicable) {
    const where = violation(proposal);
    if (where === undefined) continue;
    throw new IcebergError('invariant', `I${number} ${name}: ${where}`, {
      snapshotId: proposal.snapshotId,
    });
  }
  return applicable.map(({ number }) => number);
}
