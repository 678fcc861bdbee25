import { assert, IcebergError, randomUuid, requireTime } from '../base/index.ts';
import { formatTableIdentifier, type TablePointer } from '../catalog/index.ts';
import {
  type ManifestFile,
  newManifestListLocation,
  newMetadataLocation,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { PointerWrite } from '../ledger/index.ts';
import { stageFiltered } from './assemble-list.ts';
import type { CommitOutcome, Committed } from './commit-outcome.ts';
import type { CommitPorts } from './commit-ports.ts';
import { plannedDeletes } from './commit-request.ts';
import {
  type FoundHead,
  findHead,
  openSession,
  type Session,
  type SessionOptions,
} from './commit-session.ts';
import { type Decision, decide } from './decide.ts';
import type { HeadFacts } from './head.ts';
import { verifyProposal } from './invariants.ts';
import { neededAfter } from './needed-deletes.ts';
import type { CommitProposal } from './proposal.ts';
import { type CommitAttempt, writeProposal } from './propose.ts';
import { commitRetry } from './retry.ts';
import { runSummary } from './run-summary.ts';
import { sendPointerWrite } from './send-pointer-write.ts';
import type { NewDelete } from './stage-deletes.ts';
import { together } from './together.ts';
import { metadataFilesTrimmed } from './trimmed.ts';
import { WATCH_MS_MAX } from './watch-pointer.ts';

/** Time that one attempt may take: the pointer watched, manifests, list and metadata written and read back. */
const ATTEMPT_RESERVE_MS = 10_000;

/** So many lost races in a row are no chance: the attempts that follow start behind a commit of the others. */
const LOST_BEFORE_WATCHING = 2;

type AttemptResult =
  | { readonly state: 'done'; readonly outcome: CommitOutcome }
  /** Another commit came first. */
  | { readonly state: 'lost'; readonly error: IcebergError }
  /** Nothing was sent: what others have committed changes what is to be written, and is known now. */
  | { readonly state: 'outdated'; readonly error: IcebergError };

/**
 * Commits groups in one snapshot of operation `replace`. Each attempt builds on the head as it is then, drops the
 * groups that no longer fit it, verifies all that was written and moves the pointer by one conditional write. It
 * deletes nothing, whatever happens.
 *
 * @throws commit-conflict — when the retries of `commit.retry.*` or the deadline are used up
 * @throws commit-rejected — when the table was replaced, or the branch is gone
 * @throws commit-state-unknown — when an answer was lost and reading cannot settle it
 * @throws invariant — when a claim of `INVARIANTS` does not hold
 * @throws deadline — when there is no time for a first attempt
 * @see design, "The pointer and the settled commit"
 */
export async function commitGroups(
  options: SessionOptions,
  ports: CommitPorts,
): Promise<CommitOutcome> {
  assert(WATCH_MS_MAX < ATTEMPT_RESERVE_MS, 'an attempt has time to watch the pointer');
  const session = await openSession(options, ports);
  const retry = commitRetry(options.table.metadata.properties);
  const startMs = ports.clock.nowMs();
  requireTime(ports.deadline, ATTEMPT_RESERVE_MS, 'commit');
  await stageAhead(session);
  let lostCount = 0;
  for (let attempt = 1; ; attempt++) {
    const result = await tryCommit(session, { attempt, lostCount });
    if (result.state === 'done') return result.outcome;
    ports.logger.debug('commit.conflicted', result.error.message, { attempt });
    if (result.state === 'lost') lostCount++;
    else session.isContended = true;
    const elapsedMs = ports.clock.nowMs() - startMs;
    const waitMs = result.state === 'lost' ? retry.waitMs(lostCount, elapsedMs, ports.random) : 0;
    const isInTime =
      waitMs !== undefined && ports.deadline.remainingMs() >= waitMs + ATTEMPT_RESERVE_MS;
    if (!isInTime) throw gaveUp(session, attempt, result.error);
    await ports.clock.sleepMs(waitMs);
  }
}

function gaveUp({ planned }: Session, attemptCount: number, cause: IcebergError): IcebergError {
  const subject = `commit to ${formatTableIdentifier(planned.identifier)}`;
  return new IcebergError(
    'commit-conflict',
    `${subject}: gave up after ${attemptCount} attempts`,
    { attemptCount },
    cause,
  );
}

/**
 * Writes manifests and delete files before the first attempt reads the pointer: between that and its conditional write
 * nobody else may commit, so that nothing should take time there that can be done before.
 */
async function stageAhead(session: Session): Promise<void> {
  const { ports, staging, request } = session;
  const found = await findHead(session, 'now');
  const { base } = found;
  const headManifests = await ports.reader.readList(base, found.head);
  const { headFacts, ...decision } = await decideOn(session, found, {
    headManifests,
    readsFirst: true,
  });
  await stageNewDeletes(session, base, decision);
  staging.manifests.stageAdded(base, decision.groups, request.startingSequenceNumber);
  await stageFiltered({ ...decision, base, headManifests, headFacts }, staging.manifests);
  await staging.batch.write();
}

interface HeadDecision extends Decision {
  readonly headFacts: HeadFacts;
}

async function decideOn(
  session: Session,
  found: FoundHead,
  {
    headManifests,
    readsFirst,
  }: { readonly headManifests: readonly ManifestFile[]; readonly readsFirst: boolean },
): Promise<HeadDecision> {
  const { headReader, positionReader, request } = session;
  const { base, head } = found;
  if (readsFirst) await headReader.readNew(base, headManifests);
  const facts = headReader.facts(headManifests);
  const decision = await decide(request, { base, head, facts }, positionReader);
  // What an old manifest has lost, a new one may have.
  if (decision.dropped.length === 0 || readsFirst) return { ...decision, headFacts: facts };
  return decideOn(session, found, { headManifests, readsFirst: true });
}

/** Those of the caller, and those that are made here. */
async function stageNewDeletes(
  { staging }: Session,
  base: TableMetadata,
  { outputDeletes, deleteGroups }: Decision,
): Promise<readonly NewDelete[]> {
  const planned = plannedDeletes({ deleteGroups });
  return [...planned, ...(await staging.deletes.stage(base, outputDeletes))];
}

async function tryCommit(
  session: Session,
  { attempt, lostCount }: { readonly attempt: number; readonly lostCount: number },
): Promise<AttemptResult> {
  const { ports, names } = session;
  const found = await findHead(session, lostCount < LOST_BEFORE_WATCHING ? 'now' : 'once-moved');
  const { pointer, base, head } = found;
  const objects = {
    manifestList: newManifestListLocation(base, { ...names, attempt }),
    metadataLocation: newMetadataLocation(base, pointer.metadataLocation, randomUuid(ports.random)),
  };
  const [headManifests] = await together([
    ports.reader.readList(base, head),
    ports.run.nameObjects(Object.values(objects), 'attempt-lost'),
  ]);
  const decision = await decideOn(session, found, {
    headManifests,
    readsFirst: session.isContended,
  });
  const { dropped } = decision;
  if (decision.groups.length + decision.deleteGroups.length === 0) {
    return {
      state: 'done',
      outcome: { outcome: 'all-dropped', attemptCount: attempt, droppedGroups: dropped },
    };
  }
  const commitAttempt: CommitAttempt = {
    ...decision,
    ...objects,
    attempt,
    names,
    branch: session.branch,
    base,
    baseMetadataLocation: pointer.metadataLocation,
    head,
    headManifests,
    startingSequenceNumber: session.request.startingSequenceNumber,
    summaryExtra: runSummary(ports.run),
    outputs: session.outputs,
    newDeletes: await stageNewDeletes(session, base, decision),
  };
  return movePointer(session, commitAttempt, pointer);
}

async function movePointer(
  session: Session,
  commitAttempt: CommitAttempt,
  pointer: TablePointer,
): Promise<AttemptResult> {
  const { ports, names, staging, planned, headReader } = session;
  const { base, baseMetadataLocation, metadataLocation, headManifests } = commitAttempt;
  // Mostly the new manifests say nothing of the files; so what is written need not wait for them.
  const [{ proposal: built, locations }, hasNews] = await together([
    writeProposal(commitAttempt, staging, ports),
    headReader.readNew(base, headManifests),
  ]);
  const proposal = { ...built, headFacts: headReader.facts(headManifests) };
  if (hasNews || (isRemovedDeleteNeeded(proposal) && !isRemovedDeleteNeeded(built))) {
    return { state: 'outdated', error: outdated(session) };
  }
  const invariants = verifyProposal(proposal);
  const write: PointerWrite = {
    ...(base.tableUuid === undefined ? {} : { tableUuid: base.tableUuid }),
    baseMetadataLocation,
    baseVersion: pointer.version,
    metadataLocation,
    version: randomUuid(ports.random),
    snapshotId: names.snapshotId,
  };
  const landed = () => {
    const trimmedMetadataFiles = metadataFilesTrimmed(base, proposal.metadata);
    ports.run.keepCommitted(locations, { trimmedMetadataFiles });
    return ports.run.closeIntent(write.version, 'applied');
  };
  const { metadata: own } = proposal;
  const sent = await sendPointerWrite(write, { pointer, metadata: own, landed }, ports);
  if (sent.state === 'lost') return sent;
  const { moved, metadata } = sent;
  const table = {
    identifier: planned.identifier,
    pointer: moved,
    metadataLocation: moved.metadataLocation,
    metadata,
  };
  return {
    state: 'done',
    outcome: { ...committed(commitAttempt), table, invariants },
  };
}

/** A manifest that was read last may have a data file with an older sequence number than those known before. */
function isRemovedDeleteNeeded(proposal: CommitProposal): boolean {
  const { removedDeletes, headFacts, base } = proposal;
  if (removedDeletes.length === 0) return false;
  const specs = base.partitionSpecs;
  const isNeeded = neededAfter({ ...proposal, facts: headFacts, specs });
  return removedDeletes.some(({ entry }) => isNeeded(entry));
}

function outdated({ planned }: Session): IcebergError {
  const subject = `commit to ${formatTableIdentifier(planned.identifier)}`;
  return new IcebergError('commit-conflict', `${subject}: another commit concerns its files`);
}

function committed(attempt: CommitAttempt): Omit<Committed, 'table' | 'invariants'> {
  const { groups, deleteGroups } = attempt;
  return {
    outcome: 'committed',
    snapshotId: attempt.names.snapshotId,
    attemptCount: attempt.attempt,
    committedGroups: [...groups, ...deleteGroups].map((group) => group.groupIndex),
    droppedGroups: attempt.dropped,
    deletes: {
      carriedOverCount: attempt.carriedOverCount,
      addedCount: attempt.newDeletes.length,
      addedRowCount: sumRows(attempt.newDeletes.map(({ deleteFile }) => deleteFile)),
      removedCount: attempt.removedDeletes.length,
      removedRowCount: sumRows(attempt.removedDeletes.map(({ entry }) => entry.dataFile)),
    },
  };
}

function sumRows(files: readonly { readonly recordCount: number }[]): number {
  return files.reduce((sum, { recordCount }) => sum + recordCount, 0);
}
