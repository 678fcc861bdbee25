import { IcebergError, randomInt63, randomUuid } from '../base/index.ts';
import type { TablePointer } from '../catalog/index.ts';
import {
  type Snapshot,
  snapshotById,
  snapshotOfRef,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { CommitPorts } from './commit-ports.ts';
import type { CommitRequest } from './commit-request.ts';
import { createHeadReader, type HeadReader } from './head.ts';
import { createPositionReader, type PositionReader } from './position-reader.ts';
import type { RereadOutput } from './proposal.ts';
import { rereadOutputs } from './reread.ts';
import { FENCING_KEY, RUN_ID_KEY } from './run-summary.ts';
import type { CommitNames } from './stage.ts';
import { createStaging, type Staging } from './staging.ts';
import { type Table, tableAt } from './table.ts';
import { watchPointer } from './watch-pointer.ts';

/** What stays the same from attempt to attempt, and the table as it was last seen. */
export interface Session {
  readonly request: CommitRequest;
  readonly branch: string;
  /** The table as it was planned. */
  readonly planned: Table;
  readonly ports: CommitPorts;
  readonly names: CommitNames;
  readonly staging: Staging;
  readonly headReader: HeadReader;
  readonly positionReader: PositionReader;
  readonly outputs: readonly RereadOutput[];
  table: Table;
  /** Whether others change files of this commit, so that their manifests are read before anything is written. */
  isContended: boolean;
}

export interface SessionOptions {
  readonly table: Table;
  readonly branch: string;
  readonly request: CommitRequest;
}

/** Reads the outputs back. */
export async function openSession(
  { table, branch, request }: SessionOptions,
  ports: CommitPorts,
): Promise<Session> {
  const names = {
    snapshotId: newSnapshotId(table.metadata, ports),
    commitUuid: randomUuid(ports.random),
  };
  const outputs = request.groups.flatMap((group) => group.outputs);
  return {
    request,
    branch,
    planned: table,
    ports,
    names,
    staging: createStaging(names, ports),
    headReader: createHeadReader(request, ports.reader),
    positionReader: createPositionReader(ports.store),
    outputs: await rereadOutputs(outputs, ports.store),
    table,
    isContended: false,
  };
}

function newSnapshotId(metadata: TableMetadata, { random }: CommitPorts): bigint {
  for (;;) {
    const snapshotId = randomInt63(random);
    if (snapshotId > 0n && snapshotById(metadata, snapshotId) === undefined) return snapshotId;
  }
}

export interface FoundHead {
  readonly pointer: TablePointer;
  readonly base: TableMetadata;
  readonly head: Snapshot;
}

/**
 * Where the branch is, `now` or as soon as another commit has moved the pointer.
 *
 * @throws commit-rejected — when the table was replaced, or the branch is gone
 * @throws commit-state-unknown — when the snapshot is there, although no attempt is known to have succeeded
 * @throws commit-conflict — when a later lease has committed
 */
export async function findHead(session: Session, when: 'now' | 'once-moved'): Promise<FoundHead> {
  const { ports, branch, planned } = session;
  const { identifier } = planned;
  const pointer =
    when === 'now'
      ? await ports.catalog.loadTable(identifier)
      : await watchPointer(identifier, ports);
  session.table = await tableAt(session.table, pointer, ports);
  const { metadata: base } = session.table;
  refuseOwnSnapshot(base, session);
  refuseLaterRun(base, session);
  const head = snapshotOfRef(base, branch);
  if (head === undefined || base.refs.get(branch)?.type !== 'branch') {
    throw new IcebergError('commit-rejected', `branch ${branch}: is gone`, { branch });
  }
  return { pointer, base, head };
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
function refuseLaterRun(base: TableMetadata, { planned, ports }: Session): void {
  const { runId, fencingNumber } = ports.run;
  for (const { snapshotId, summary } of base.snapshots) {
    const later = Number(summary[FENCING_KEY] ?? 0);
    if (summary[RUN_ID_KEY] === runId || !(later > fencingNumber)) continue;
    if (snapshotById(planned.metadata, snapshotId) !== undefined) continue;
    ports.run.markLost();
    throw new IcebergError(
      'commit-conflict',
      `run ${runId}: snapshot ${snapshotId} was committed under lease ${later}, ours is ${fencingNumber}`,
    );
  }
}
