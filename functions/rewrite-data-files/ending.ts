import { type ErrorKind, type IcebergError, isIcebergError } from '../../shared/base/index.ts';
import type { RewriteDataFilesOutcome } from '../../shared/operations/rewrite-data-files/index.ts';

/** How the handling of one message ends. */
export interface Ending {
  /** False hands the message back to the queue. */
  readonly isAcknowledged: boolean;
  /** `error`: a person must act; `warn`: a person should look if it repeats. */
  readonly level: 'info' | 'warn' | 'error';
  readonly outcome: 'done' | 'skipped' | 'partial' | 'failed';
}

const DONE: Ending = { isAcknowledged: true, level: 'info', outcome: 'done' };
const SKIPPED: Ending = { isAcknowledged: true, level: 'warn', outcome: 'skipped' };
const PARTIAL: Ending = { isAcknowledged: true, level: 'info', outcome: 'partial' };
/** Another run has the table; what it leaves over is found when the queue delivers the message again. */
const BUSY: Ending = { isAcknowledged: false, level: 'info', outcome: 'skipped' };
/** It may succeed when the queue delivers the message again. */
const REDELIVERED: Ending = { isAcknowledged: false, level: 'warn', outcome: 'failed' };
/** Neither will a repetition help: the queue's count of receives takes it to the dead-letter queue. */
const FAILED: Ending = { isAcknowledged: false, level: 'error', outcome: 'failed' };

const ENDINGS: Readonly<Record<ErrorKind, Ending>> = {
  'invalid-data': FAILED,
  unsupported: SKIPPED,
  'invalid-config': FAILED,
  'access-denied': FAILED,
  'not-found': FAILED,
  'commit-conflict': REDELIVERED,
  'commit-rejected': FAILED,
  // The next run finds out what happened; until it has, somebody should know.
  'commit-state-unknown': FAILED,
  unavailable: REDELIVERED,
  // What fits into the time is done; the next request for the table goes on.
  deadline: PARTIAL,
  invariant: FAILED,
};

/** What follows from an error that ended a run; anything that is no operating error is a mistake in Firn. */
export function endingOfError(error: unknown): Ending {
  if (!isIcebergError(error)) return FAILED;
  return isTableDropped(error) ? SKIPPED : ENDINGS[error.kind];
}

/** A table that is not in the catalog (any more); its objects and the catalog itself are not meant. */
function isTableDropped({ kind, context }: IcebergError): boolean {
  return kind === 'not-found' && context['table'] !== undefined;
}

/**
 * What follows from a finished run. Groups that other writers overtook, or that no time was left for, are planned
 * anew by the next request. Groups that failed by themselves decide as their errors would have: the others are
 * committed, so a message that is delivered again finds only those left.
 */
export function endingOfOutcome(outcome: RewriteDataFilesOutcome): Ending {
  if (outcome.outcome === 'busy') return BUSY;
  if (outcome.outcome !== 'partial') return DONE;
  const endings = outcome.groups.flatMap((group) =>
    'error' in group ? [endingOfError(group.error)] : [],
  );
  const returned = endings.filter((ending) => !ending.isAcknowledged);
  return returned.find((ending) => ending.level === 'error') ?? returned[0] ?? DONE;
}
