import {
  IcebergError,
  isIcebergError,
  randomInt63,
  randomUuid,
  requireTime,
} from '../base/index.ts';
import { formatTableIdentifier, type TablePointer } from '../catalog/index.ts';
import { snapshotById, snapshotOfRef, type TableMetadata } from '../iceberg/index.ts';
import type { CommitPorts } from './commit-ports.ts';
import { createHeadReader, type HeadReader } from './head.ts';
import { verifyProposal } from './invariants.ts';
import type { RereadOutput } from './proposal.ts';
import { type CommitAttempt, writeProposal } from './propose.ts';
import type { DroppedGroup, ReplaceGroup } from './replace-group.ts';
import { rereadOutputs } from './reread.ts';
import { commitRetry } from './retry.ts';
import { revalidateGroups } from './revalidate.ts';
import { commitStateUnknown, type LostCommit, settleCommit } from './settle.ts';
import { type CommitNames, createManifestStaging, type ManifestStaging } from './stage.ts';
import { loadMetadata, type Table } from './table.ts';

export interface CommitReplaceOptions {
  /** The table as it was planned; the commit is refused when another one has its name now. */
  readonly table: Table;
  readonly branch: string;
  /** Of the snapshot whose files were rewritten; the outputs' data sequence number. 0n in v1. */
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly ReplaceGroup[];
  /** Further keys of the snapshot summary. */
  readonly summaryExtra: Readonly<Record<string, string>>;
}

/** What became of a commit; groups that could no longer be committed are dropped, with the reason. */
export type CommitOutcome =
  | {
      readonly outcome: 'committed';
      readonly table: Table;
      readonly snapshotId: bigint;
      readonly attemptCount: number;
      readonly committedGroups: readonly number[];
      readonly droppedGroups: readonly DroppedGroup[];
    }
  | {
      readonly outcome: 'all-dropped';
      readonly attemptCount: number;
      readonly droppedGroups: readonly DroppedGroup[];
    };

/** Time that one attempt may take: manifests, list and metadata written and read back, one pointer write. */
const ATTEMPT_RESERVE_MS = 10_000;

/** Everything that stays the same from attempt to attempt. */
interface Session {
  readonly options: CommitReplaceOptions;
  readonly ports: CommitPorts;
  readonly names: CommitNames;
  readonly staging: ManifestStaging;
  readonly headReader: HeadReader;
  readonly outputs: readonly RereadOutput[];
}

type AttemptResult =
  | { readonly state: 'done'; readonly outcome: CommitOutcome }
  | { readonly state: 'lost'; readonly error: IcebergError };

/**
 * Replaces data files by others that hold the same rows, in one snapshot of operation `replace`. Each attempt
 * builds on the head as it is then, drops the groups that no longer fit it, verifies all that was written and
 * moves the pointer by one conditional write. It deletes nothing, whatever happens.
 *
 * @throws commit-conflict — when the retries of `commit.retry.*` or the deadline are used up
 * @throws commit-rejected — when the table was replaced, or the branch is gone
 * @throws commit-state-unknown — when an answer was lost and reading cannot settle it
 * @throws invariant — when a claim of `INVARIANTS` does not hold
 * @throws deadline — when there is no time for a first attempt
 * @see design, "The pointer and the settled commit"
 */
export async function commitReplace(
  options: CommitReplaceOptions,
  ports: CommitPorts,
): Promise<CommitOutcome> {
  const session = await openSession(options, ports);
  const retry = commitRetry(options.table.metadata.properties);
  const startMs = ports.clock.nowMs();
  requireTime(ports.deadline, ATTEMPT_RESERVE_MS, 'commit');
  for (let attempt = 1; ; attempt++) {
    const result = await tryCommit(session, attempt);
    if (result.state === 'done') return result.outcome;
    ports.logger.debug('commit.conflicted', result.error.message, { attempt });
    const waitMs = retry.waitMs(attempt, ports.clock.nowMs() - startMs, ports.random);
    const isInTime =
      waitMs !== undefined && ports.deadline.remainingMs() >= waitMs + ATTEMPT_RESERVE_MS;
    if (!isInTime) throw gaveUp(options, attempt, result.error);
    await ports.clock.sleepMs(waitMs);
  }
}

async function openSession(options: CommitReplaceOptions, ports: CommitPorts): Promise<Session> {
  const { table, groups, startingSequenceNumber } = options;
  const names = {
    snapshotId: newSnapshotId(table.metadata, ports),
    commitUuid: randomUuid(ports.random),
  };
  const outputs = await rereadOutputs(
    groups.flatMap((group) => group.outputs),
    ports.store,
  );
  return {
    options,
    ports,
    names,
    staging: createManifestStaging(names, ports),
    headReader: createHeadReader(groups, startingSequenceNumber, ports.reader),
    outputs,
  };
}

function newSnapshotId(metadata: TableMetadata, { random }: CommitPorts): bigint {
  for (;;) {
    const snapshotId = randomInt63(random);
    if (snapshotId > 0n && snapshotById(metadata, snapshotId) === undefined) return snapshotId;
  }
}

function gaveUp(
  { table }: CommitReplaceOptions,
  attemptCount: number,
  cause: IcebergError,
): IcebergError {
  const subject = `commit to ${formatTableIdentifier(table.identifier)}`;
  return new IcebergError(
    'commit-conflict',
    `${subject}: gave up after ${attemptCount} attempts`,
    { attemptCount },
    cause,
  );
}

async function tryCommit(session: Session, attempt: number): Promise<AttemptResult> {
  const { options, ports, names } = session;
  const pointer = await ports.catalog.loadTable(options.table.identifier);
  const base = await loadBase(options.table, pointer, ports);
  refuseOwnSnapshot(base, names.snapshotId);
  const { branch, groups, startingSequenceNumber, summaryExtra } = options;
  const head = snapshotOfRef(base, branch);
  if (head === undefined || base.refs.get(branch)?.type !== 'branch') {
    throw new IcebergError('commit-rejected', `branch ${branch}: is gone`, { branch });
  }
  const headManifests = await ports.reader.readList(base, head);
  const headFacts = await session.headReader.readFacts(base, headManifests);
  const { kept, dropped } = revalidateGroups(groups, headFacts, {
    sequenceNumber: head.sequenceNumber,
    startingSequenceNumber,
  });
  if (kept.length === 0) {
    return {
      state: 'done',
      outcome: { outcome: 'all-dropped', attemptCount: attempt, droppedGroups: dropped },
    };
  }
  const commitAttempt: CommitAttempt = {
    attempt,
    names,
    branch,
    base,
    baseMetadataLocation: pointer.metadataLocation,
    head,
    headManifests,
    headFacts,
    groups: kept,
    startingSequenceNumber,
    summaryExtra,
    outputs: session.outputs,
  };
  return movePointer(session, commitAttempt, { pointer, dropped });
}

/** The metadata that the pointer names; read again only where the pointer has moved. */
async function loadBase(
  table: Table,
  pointer: TablePointer,
  ports: CommitPorts,
): Promise<TableMetadata> {
  if (pointer.metadataLocation === table.metadataLocation) return table.metadata;
  const metadata = await loadMetadata(pointer.metadataLocation, ports);
  // Old v1 tables have no uuid.
  const isSameTable =
    metadata.tableUuid === table.metadata.tableUuid &&
    (metadata.tableUuid !== undefined || metadata.location === table.metadata.location);
  if (isSameTable) return metadata;
  throw new IcebergError(
    'commit-rejected',
    `table ${formatTableIdentifier(table.identifier)}: was replaced by ${metadata.tableUuid ?? metadata.location}`,
  );
}

/** Each attempt before this one was settled as not applied; a table that says otherwise is not to be touched. */
function refuseOwnSnapshot(base: TableMetadata, snapshotId: bigint): void {
  if (snapshotById(base, snapshotId) === undefined) return;
  throw new IcebergError(
    'commit-state-unknown',
    `snapshot ${snapshotId}: is in the table although no attempt succeeded`,
  );
}

async function movePointer(
  session: Session,
  commitAttempt: CommitAttempt,
  {
    pointer,
    dropped,
  }: { readonly pointer: TablePointer; readonly dropped: readonly DroppedGroup[] },
): Promise<AttemptResult> {
  const { ports, names, staging, options } = session;
  const { proposal, metadataLocation } = await writeProposal(commitAttempt, staging, ports);
  verifyProposal(proposal);
  const version = randomUuid(ports.random);
  const done = (moved: TablePointer, metadata: TableMetadata): AttemptResult => ({
    state: 'done',
    outcome: {
      outcome: 'committed',
      table: {
        identifier: options.table.identifier,
        pointer: moved,
        metadataLocation: moved.metadataLocation,
        metadata,
      },
      snapshotId: names.snapshotId,
      attemptCount: commitAttempt.attempt,
      committedGroups: commitAttempt.groups.map((group) => group.groupIndex),
      droppedGroups: dropped,
    },
  });
  try {
    const moved = await ports.catalog.commitTable({ base: pointer, metadataLocation, version });
    return done(moved, proposal.metadata);
  } catch (error) {
    if (isIcebergError(error, 'commit-conflict') || isIcebergError(error, 'unavailable')) {
      return { state: 'lost', error };
    }
    if (!isIcebergError(error, 'commit-state-unknown')) throw error;
    const lost = {
      base: pointer,
      tableUuid: commitAttempt.base.tableUuid,
      metadataLocation,
      version,
      snapshotId: names.snapshotId,
    };
    return settle(lost, error, { ports, done, metadata: proposal.metadata });
  }
}

async function settle(
  lost: LostCommit,
  error: IcebergError,
  {
    ports,
    done,
    metadata,
  }: {
    readonly ports: CommitPorts;
    readonly done: (moved: TablePointer, metadata: TableMetadata) => AttemptResult;
    /** Of the lost commit itself. */
    readonly metadata: TableMetadata;
  },
): Promise<AttemptResult> {
  // Nothing may fail any more once the commit is known to be applied, so what was loaded is kept.
  const loaded = new Map([[lost.metadataLocation, metadata]]);
  const load = async (location: string): Promise<TableMetadata> => {
    const known = loaded.get(location) ?? (await loadMetadata(location, ports));
    loaded.set(location, known);
    return known;
  };
  const settlement = await settleCommit(lost, { ...ports, loadMetadata: load });
  ports.logger.warn('commit.settled', `lost answer: ${settlement.state}`, {
    metadataLocation: lost.metadataLocation,
  });
  switch (settlement.state) {
    case 'applied':
      return done(settlement.pointer, await load(settlement.pointer.metadataLocation));
    case 'not-applied':
      return { state: 'lost', error };
    case 'unknown':
      throw commitStateUnknown(lost, settlement.seen, error);
  }
}
