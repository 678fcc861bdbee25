import { commitGroups } from './commit-groups.ts';
import type { CommitOutcome } from './commit-outcome.ts';
import type { CommitPorts } from './commit-ports.ts';
import type { RewriteDeletesGroup } from './rewrite-deletes-group.ts';
import type { Table } from './table.ts';

export interface CommitRewriteDeletesOptions {
  /** The table as it was planned; the commit is refused when another one has its name now. */
  readonly table: Table;
  readonly branch: string;
  /** Of the snapshot whose deletes were read. */
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly RewriteDeletesGroup[];
}

/**
 * Replaces delete files by others that delete the same rows; data files stay as they are.
 *
 * @throws as `commitGroups`
 */
export function commitRewriteDeletes(
  { table, branch, startingSequenceNumber, groups }: CommitRewriteDeletesOptions,
  ports: CommitPorts,
): Promise<CommitOutcome> {
  const request = { startingSequenceNumber, groups: [], deleteGroups: groups };
  return commitGroups({ table, branch, request }, ports);
}
