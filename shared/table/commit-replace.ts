import { commitGroups } from './commit-groups.ts';
import type { CommitOutcome } from './commit-outcome.ts';
import type { CommitPorts } from './commit-ports.ts';
import type { ReplaceGroup } from './replace-group.ts';
import type { Table } from './table.ts';

export interface CommitReplaceOptions {
  /** The table as it was planned; the commit is refused when another one has its name now. */
  readonly table: Table;
  readonly branch: string;
  /** Of the snapshot whose files were rewritten; the outputs' data sequence number. 0n in v1. */
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly ReplaceGroup[];
}

/**
 * Replaces data files by others that hold the same live rows, with the deletes that apply to them: what the rewrite
 * carried along, and what was deleted since, becomes a vector (v3) or a position delete file (v2) of each output. Delete
 * files of the inputs leave, and others of their partitions that nothing needs any more.
 *
 * @throws as `commitGroups`
 */
export function commitReplace(
  { table, branch, startingSequenceNumber, groups }: CommitReplaceOptions,
  ports: CommitPorts,
): Promise<CommitOutcome> {
  const request = { startingSequenceNumber, groups, deleteGroups: [] };
  return commitGroups({ table, branch, request }, ports);
}
