import {
  IcebergError,
  isIcebergError,
  randomInt63,
  randomUuid,
  requireTime,
} from '../base/index.ts';
import { formatTableIdentifier, type TablePointer } from '../catalog/index.ts';
import {
  newManifestListLocation,
  newMetadataLocation,
  snapshotById,
  snapshotOfRef,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { PointerWrite } from '../ledger/index.ts';
import { filterSources } from './assemble-list.ts';
import type { CommitPorts } from './commit-ports.ts';
import { createHeadReader, type HeadReader } from './head.ts';
import { verifyProposal } from './invariants.ts';
import type { RereadOutput } from './proposal.ts';
import { type CommitAttempt, writeProposal } from './propose.ts';
import type { DroppedGroup, ReplaceGroup } from './replace-group.ts';
import { rereadOutputs } from './reread.ts';
import { commitRetry } from './retry.ts';
import { revalidateGroups } from './revalidate.ts';
import { FENCING_KEY, RUN_ID_KEY, runSummary } from './run-summary.ts';
import { commitStateUnknown, settleCommit, toLostCommit } from './settle.ts';
import {
  addedManifestCount,
  type CommitNames,
  createManifestStaging,
  type ManifestStaging,
} from './stage.ts';
import { loadMetadata, refreshTable, type Table } from './table.ts';
import { metadataFilesTrimmed } from './trimmed.ts';

export interface CommitReplaceOptions {
  /** The table as it was planned; the commit is refused when another one has its name now. */
  readonly table: Table;
  readonly branch: string;
  /** Of the snapshot whose files were rewritten; the outputs' data sequence number. 0n in v1. */
  readonly startingSequenceNumber: bigint;
  readonly groups: readonly ReplaceGroup[];
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
      /** Numbers of the claims that were checked. */
      readonly invariants: readonly number[];
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
  const { pointer, metadata: base } = await refreshTable(options.table, ports);
  refuseOwnSnapshot(base, session);
  refuseLaterRun(base, session);
  const { branch, groups, startingSequenceNumber } = options;
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
  const { metadataLocation } = pointer;
  const commitAttempt: CommitAttempt = {
    attempt,
    names,
    branch,
    base,
    baseMetadataLocation: metadataLocation,
    manifestList: newManifestListLocation(base, { ...names, attempt }),
    metadataLocation: newMetadataLocation(base, metadataLocation, randomUuid(ports.random)),
    head,
    headManifests,
    headFacts,
    groups: kept,
    startingSequenceNumber,
    summaryExtra: runSummary(ports.run),
    outputs: session.outputs,
  };
  await nameObjects(session, commitAttempt);
  return movePointer(session, commitAttempt, { pointer, dropped });
}

/** Each attempt before this one was settled as not applied; a table that says otherwise is not to be touched. */
function refuseOwnSnapshot(base: TableMetadata, { names: { snapshotId }, ports }: Session): void {
  if (snapshotById(base, snapshotId) === undefined) return;
  ports.run.markUnknown();
  throw new IcebergError(
    'commit-state-unknown',
    `snapshot ${snapshotId}: is in the table although no attempt succeeded`,
  );
}

/**
 * A run with a later lease has committed since this one was planned: ours has expired unnoticed. This is for the sake
 * of the work; what keeps the commit right is the pointer's condition, and that settling a run closes it.
 */
function refuseLaterRun(base: TableMetadata, { options, ports }: Session): void {
  const { runId, fencingNumber } = ports.run;
  for (const { snapshotId, summary } of base.snapshots) {
    const later = Number(summary[FENCING_KEY] ?? 0);
    if (summary[RUN_ID_KEY] === runId || !(later > fencingNumber)) continue;
    if (snapshotById(options.table.metadata, snapshotId) !== undefined) continue;
    ports.run.markLost();
    throw new IcebergError(
      'commit-conflict',
      `run ${runId}: snapshot ${snapshotId} was committed under lease ${later}, ours is ${fencingNumber}`,
    );
  }
}

/** Names all that the attempt will write, manifests of the first attempt included, in one request. */
async function nameObjects(
  { ports, staging }: Session,
  { attempt, manifestList, metadataLocation, base, ...head }: CommitAttempt,
): Promise<void> {
  const manifestCount =
    attempt > 1 ? 0 : addedManifestCount(head.groups) + filterSources({ base, ...head }).length;
  await ports.run.nameObjects(
    [metadataLocation, manifestList, ...staging.nextLocations(base, manifestCount)],
    'attempt-lost',
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
  const { proposal, locations } = await writeProposal(commitAttempt, staging, ports);
  const invariants = verifyProposal(proposal);
  const { base, baseMetadataLocation, metadataLocation } = commitAttempt;
  const write: PointerWrite = {
    ...(base.tableUuid === undefined ? {} : { tableUuid: base.tableUuid }),
    baseMetadataLocation,
    baseVersion: pointer.version,
    metadataLocation,
    version: randomUuid(ports.random),
    snapshotId: names.snapshotId,
  };
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
      invariants,
    },
  });
  const landed = () => {
    const trimmedMetadataFiles = metadataFilesTrimmed(base, proposal.metadata);
    ports.run.keepCommitted(locations, { trimmedMetadataFiles });
    return ports.run.closeIntent(write.version, 'applied');
  };
  return sendPointerWrite(write, { pointer, ports, done, landed, metadata: proposal.metadata });
}

interface PointerSending {
  readonly pointer: TablePointer;
  readonly ports: CommitPorts;
  readonly done: (moved: TablePointer, metadata: TableMetadata) => AttemptResult;
  /** Tells the run. */
  readonly landed: () => Promise<void>;
  /** Of the commit itself. */
  readonly metadata: TableMetadata;
}

async function sendPointerWrite(
  write: PointerWrite,
  sending: PointerSending,
): Promise<AttemptResult> {
  const { pointer, ports, done, landed, metadata } = sending;
  const { metadataLocation, version } = write;
  await ports.run.recordIntent(write);
  let moved: TablePointer;
  try {
    moved = await ports.catalog.commitTable({ base: pointer, metadataLocation, version });
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    if (error.kind === 'commit-state-unknown') return settle(write, error, sending);
    // Every other error says that this write was certainly not applied.
    await ports.run.closeIntent(version, 'not-applied');
    if (error.kind !== 'commit-conflict' && error.kind !== 'unavailable') throw error;
    return { state: 'lost', error };
  }
  await landed();
  return done(moved, metadata);
}

async function settle(
  write: PointerWrite,
  error: IcebergError,
  { pointer, ports, done, landed, metadata }: PointerSending,
): Promise<AttemptResult> {
  // Nothing may fail any more once the commit is known to be applied, so what was loaded is kept.
  const loaded = new Map([[write.metadataLocation, metadata]]);
  const load = async (location: string): Promise<TableMetadata> => {
    const known = loaded.get(location) ?? (await loadMetadata(location, ports));
    loaded.set(location, known);
    return known;
  };
  const lost = toLostCommit(write, pointer.identifier);
  const settlement = await settleCommit(lost, { ...ports, loadMetadata: load });
  ports.logger.warn('commit.settled', `lost answer: ${settlement.state}`, {
    metadataLocation: write.metadataLocation,
  });
  switch (settlement.state) {
    case 'applied':
      await landed();
      return done(settlement.pointer, await load(settlement.pointer.metadataLocation));
    case 'not-applied':
      await ports.run.closeIntent(write.version, 'not-applied');
      return { state: 'lost', error };
    case 'unknown':
      await ports.run.closeIntent(write.version, 'unknown');
      throw commitStateUnknown(lost, settlement.seen, error);
    case 'undecided':
      // The intent stays open: the next run asks again.
      throw commitStateUnknown(lost, settlement.seen, error);
  }
}
