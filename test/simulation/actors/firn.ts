import {
  type ErrorKind,
  isIcebergError,
  NO_DEADLINE,
  randomUuid,
} from '../../../shared/base/index.ts';
import { formatTableIdentifier } from '../../../shared/catalog/index.ts';
import type { Lease } from '../../../shared/ledger/index.ts';
import {
  type OptionTexts,
  rewriteDataFiles,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../../shared/table/index.ts';
import type { Chance } from '../chance.ts';
import type { ActorPorts } from '../ports.ts';
import { IDENTIFIER } from '../world.ts';

/** What a run says of itself, to be held against what the catalog saw. */
export type FirnClaim =
  /** It ended well, and these are all the snapshots that it committed. */
  | { readonly ended: 'well'; readonly outcome: string; readonly snapshotIds: readonly bigint[] }
  /** It gave up, and none of its pointer writes was applied or ever will be. */
  | { readonly ended: 'uncommitted'; readonly kind: ErrorKind }
  /** It gave up, and says nothing about its pointer writes. */
  | { readonly ended: 'unknown'; readonly kind: ErrorKind };

export interface FirnTask {
  readonly options: OptionTexts;
  /** A short lease expires in the middle of the run, and others may begin. */
  readonly leaseMs: number;
}

export type FirnRun = (ports: ActorPorts, task: FirnTask) => Promise<FirnClaim>;

const LEASE_MS = 60_000;
const SHORT_LEASES_MS = [1, 1, 1, 300];

/** Everything is small here, and two files are worth a rewrite. */
export const PLAIN_TASK: FirnTask = { options: { 'min-input-files': '2' }, leaseMs: LEASE_MS };

const NEVER_KINDS: readonly ErrorKind[] = [
  'invariant',
  'invalid-data',
  'unsupported',
  'invalid-config',
  'access-denied',
];

/** Several groups, several commits, or one of everything. */
export function chooseTask(chance: Chance): FirnTask {
  return {
    options: {
      ...PLAIN_TASK.options,
      ...(chance.is(0.5) ? { 'max-file-group-input-files': chance.pick(['2', '3']) } : {}),
      ...(chance.is(0.2) ? { 'partial-progress.enabled': 'true' } : {}),
    },
    leaseMs: chance.pick([...SHORT_LEASES_MS, LEASE_MS]),
  };
}

/** One run of compaction, as a function or a person starts it. */
export const runFirn: FirnRun = async (ports, { options, leaseMs }) => {
  try {
    const owner = randomUuid(ports.random);
    const table = formatTableIdentifier(IDENTIFIER);
    const request = { table, scope: 'rewrite', owner, durationMs: leaseMs };
    const taken = await ports.ledger.leases.acquire(request);
    if (taken.outcome === 'busy') return { ended: 'well', outcome: 'busy', snapshotIds: [] };
    const claim = await compact(ports, options, owner);
    if (taken.lease.remainingMs() < 0) ports.logger.debug('lease expired during the run', '');
    await releaseQuietly(taken.lease);
    return claim;
  } catch (error) {
    return claimOfError(error, {});
  }
};

async function compact(ports: ActorPorts, options: OptionTexts, runId: string): Promise<FirnClaim> {
  try {
    const table = await loadTable(IDENTIFIER, ports);
    const outcome = await rewriteDataFiles(
      { table, options, mode: 'commit', runId },
      { ...ports, deadline: NO_DEADLINE },
    );
    const commits = 'commits' in outcome ? outcome.commits : [];
    const snapshotIds = commits.map(({ snapshotId }) => snapshotId);
    return { ended: 'well', outcome: outcome.outcome, snapshotIds };
  } catch (error) {
    return claimOfError(error, options);
  }
}

function claimOfError(error: unknown, options: OptionTexts): FirnClaim {
  // Whatever others do and whatever goes wrong, its own proposals hold and it can read what it finds.
  if (!isIcebergError(error) || NEVER_KINDS.includes(error.kind)) throw error;
  const { kind, context } = error;
  if (kind === 'not-found' && !('table' in context)) throw error;
  // With partial progress, batches before the one that failed are committed.
  const isSilent = kind === 'commit-state-unknown' || 'partial-progress.enabled' in options;
  return { ended: isSilent ? 'unknown' : 'uncommitted', kind };
}

/** A lease that cannot be given back expires. */
async function releaseQuietly(lease: Lease): Promise<void> {
  try {
    await lease.release();
  } catch (error) {
    if (!isIcebergError(error)) throw error;
  }
}
