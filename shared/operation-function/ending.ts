import { type ErrorKind, type IcebergError, isIcebergError } from '../base/index.ts';
import { type GuardVerdict, heldBackUntilMs, type Permission } from '../guards/index.ts';
import type { PlanMark } from '../ledger/index.ts';
import type { GroupResult, NamedGroup } from '../maintenance/index.ts';
import type { RunEnding } from '../routing/index.ts';

/** How a run is told of, and what it leaves behind. */
export interface Ending {
  /** `error`: a person must act; `warn`: a person should look if it repeats. */
  readonly level: 'info' | 'warn' | 'error';
  readonly outcome: 'done' | 'skipped' | 'partial' | 'failed';
  /** Whether the message becomes a dead letter, if it is the first failure in a row: repeating it cannot help by itself. */
  readonly isLetter: boolean;
  /** For the ledger; undefined where there is no table to remember anything of. */
  readonly run: RunEnding | undefined;
}

const FAILED: Ending = {
  level: 'error',
  outcome: 'failed',
  isLetter: true,
  run: { ending: 'failed' },
};
/** It may succeed when it is done again. */
const RETRIED: Ending = { ...FAILED, level: 'warn', isLetter: false };
const SKIPPED: Ending = { ...RETRIED, outcome: 'skipped' };
const DROPPED: Ending = { ...SKIPPED, run: undefined };
/** What fits into the time is done; the next run goes on. */
const OUT_OF_TIME: Ending = {
  level: 'info',
  outcome: 'partial',
  isLetter: false,
  run: { ending: 'out-of-time' },
};

const ENDINGS: Readonly<Record<ErrorKind, Ending>> = {
  'invalid-data': FAILED,
  unsupported: SKIPPED,
  'invalid-config': FAILED,
  'access-denied': FAILED,
  'not-found': FAILED,
  'commit-conflict': RETRIED,
  'commit-rejected': FAILED,
  // The next run finds out what happened; until it has, somebody should know.
  'commit-state-unknown': FAILED,
  unavailable: RETRIED,
  deadline: OUT_OF_TIME,
  invariant: FAILED,
};

/** What follows from an error that ended a run; anything that is no operating error is a mistake in Firn. */
export function endingOfError(error: unknown): Ending {
  if (!isIcebergError(error)) return FAILED;
  return isTableDropped(error) ? DROPPED : ENDINGS[error.kind];
}

/** A table that is not in the catalog (any more); its objects and the catalog itself are not meant. */
function isTableDropped({ kind, context }: IcebergError): boolean {
  return kind === 'not-found' && context['table'] !== undefined;
}

/** How an operation may end, as far as the ledger and the queue have to know. */
export type EndedOperation =
  | { readonly outcome: 'no-snapshot' | 'skipped' }
  | { readonly outcome: 'busy'; readonly expiresAtMs: number }
  | { readonly outcome: 'held-back'; readonly verdicts: readonly GuardVerdict[] }
  | ({ readonly outcome: 'nothing-planned' | 'observed' } & EndedWithPlan)
  | ({ readonly outcome: 'committed'; readonly commits: EndedCommits } & EndedWithPlan)
  | ({
      readonly outcome: 'partial';
      readonly commits: EndedCommits;
      readonly groups: readonly GroupResult<NamedGroup>[];
    } & EndedWithPlan);

interface EndedWithPlan {
  readonly plan: {
    readonly base: { readonly startingSnapshotId: bigint };
    /** Of operations whose plans go on from the one before. */
    readonly scope?: { readonly kind: 'full' | 'incremental' };
  };
  /** Where that lies which the next plan can go on from. */
  readonly planStateLocation?: string;
}

/** In their order. */
type EndedCommits = readonly { readonly snapshotId: bigint }[];

/** When a run began, and by which rules. */
export interface RunStart {
  readonly startedAtMs: number;
  /** What happened less than this before was left alone. */
  readonly waitMs: number;
  /** Whether the plan left something to the next run, for being too much. */
  readonly isCut: boolean;
  readonly permission: Permission;
}

/**
 * What follows from a run that ended by itself. Groups that other writers overtook, or that no time was left for, are
 * planned anew at once; groups that failed by themselves after a while, and their worst error is what people are told.
 */
export function endingOfOutcome(outcome: EndedOperation, start: RunStart): Ending {
  const done = (run: RunEnding): Ending => ({
    level: 'info',
    outcome: 'done',
    isLetter: false,
    run,
  });
  switch (outcome.outcome) {
    case 'no-snapshot':
    case 'skipped':
      return done({ ending: 'nothing' });
    case 'busy':
      return { ...done({ ending: 'busy', untilMs: outcome.expiresAtMs }), outcome: 'skipped' };
    case 'held-back': {
      const untilMs = heldBackUntilMs(outcome.verdicts) ?? start.startedAtMs;
      return done({ ending: 'held-back', untilMs });
    }
    case 'nothing-planned':
    case 'observed':
      return done({ ending: 'planned', plan: planMark(outcome, start) });
    case 'committed': {
      const plan = planMark(outcome, start);
      return done({ ending: 'planned', plan, ...(start.isCut ? { left: 'work' } : {}) });
    }
    case 'partial': {
      const plan = planMark(outcome, start);
      const failures = outcome.groups.flatMap((group) =>
        'error' in group ? [endingOfError(group.error)] : [],
      );
      const worst = failures.find(({ level }) => level === 'error') ?? failures[0];
      if (worst === undefined) {
        return { ...OUT_OF_TIME, run: { ending: 'planned', plan, left: 'work' } };
      }
      const { level, isLetter } = worst;
      const run = { ending: 'planned', plan, left: 'failures' } as const;
      return { level, outcome: 'partial', isLetter, run };
    }
  }
}

/** What the ledger is to remember of a plan: the one place that decides it. */
function planMark(
  { plan, planStateLocation, commits = [] }: EndedWithPlan & { readonly commits?: EndedCommits },
  { startedAtMs, waitMs, permission }: RunStart,
): PlanMark {
  const committed = commits.at(-1);
  return {
    snapshotId: plan.base.startingSnapshotId,
    ...(committed === undefined ? {} : { committedSnapshotId: committed.snapshotId }),
    atMs: startedAtMs,
    untilMs: Math.max(0, startedAtMs - waitMs),
    mode: permission.mode,
    ...(plan.scope?.kind === 'full' ? { fullAtMs: startedAtMs } : {}),
    ...(planStateLocation === undefined ? {} : { stateLocation: planStateLocation }),
  };
}
