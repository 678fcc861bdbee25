/**
 * Tables as a whole: loading one from its pointer, scanning a snapshot with the delete files that apply to each
 * data file, and replacing data files, or delete files, by a verified commit that survives other writers and lost
 * answers, and takes along what they delete meanwhile. The only code that moves a pointer. Leaves out on purpose: what
 * to rewrite (operations), merging of manifests, and every deletion of objects.
 */

export type { CommitOutcome, CommittedDeletes } from './commit-outcome.ts';
export type { CommitPorts } from './commit-ports.ts';
export { type CommitReplaceOptions, commitReplace } from './commit-replace.ts';
export {
  type CommitRewriteDeletesOptions,
  commitRewriteDeletes,
} from './commit-rewrite-deletes.ts';
export {
  attachedIdentities,
  attachedPositionDeletes,
  type DeleteIdentity,
  deleteIdentity,
  deleteKey,
  identityKey,
} from './delete-identity.ts';
export { createManifestReader, type ManifestReader } from './manifest-reader.ts';
export {
  type ColumnCounts,
  type DroppedGroup,
  type DropReason,
  type InputDeletes,
  type ReplaceGroup,
  type ReplaceInput,
  sumColumnCounts,
  toReplaceInput,
} from './replace-group.ts';
export type {
  AddedDelete,
  CoveredDataFile,
  RewriteDeletesGroup,
} from './rewrite-deletes-group.ts';
export { FENCING_KEY, RUN_ID_KEY } from './run-summary.ts';
export {
  mayHaveLiveFiles,
  readDataFiles,
  readDeleteIndex,
  type ScannedDataFile,
  scanSnapshot,
} from './scan.ts';
export type { SettledRun } from './settle-runs.ts';
export { requireStateOutside } from './state-outside.ts';
export {
  headOfBranch,
  loadMetadata,
  loadTable,
  refreshTable,
  type Table,
  type TablePorts,
} from './table.ts';
export type { TableRun } from './table-run.ts';
export {
  type BusyOutcome,
  type LeasedPorts,
  type LeasedSession,
  REWRITE_LEASE,
  type WorkEnding,
  workUnderLease,
} from './under-lease.ts';
