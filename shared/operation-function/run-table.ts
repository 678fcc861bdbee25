import type { MaintenanceOperation } from '../../events/index.ts';
import {
  type Deadline,
  isIcebergError,
  type LogFields,
  type Logger,
  randomUuid,
} from '../base/index.ts';
import {
  formatTableIdentifier,
  parseTableIdentifier,
  type TableIdentifier,
} from '../catalog/index.ts';
import { type Deployment, lookPorts } from '../deployment/index.ts';
import { type GuardSettings, permissionFor } from '../guards/index.ts';
import type { TableMetadata } from '../iceberg/index.ts';
import type { OperationState } from '../ledger/index.ts';
import { errorFields, errorMessage } from '../logging/index.ts';
import type { OperationPorts, OperationRequest } from '../maintenance/index.ts';
import { lookAtTable, stateAfterRun } from '../routing/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { loadTable } from '../table/index.ts';
import {
  type EndedOperation,
  type Ending,
  endingOfError,
  endingOfOutcome,
  type RunStart,
} from './ending.ts';

/** What every run of an operation is told. */
export interface FunctionRun extends OperationRequest {
  readonly guards: GuardSettings;
  readonly firstDueAtMs?: number;
  /** For operations whose plans go on from the one before. */
  readonly continuation: { readonly stateLocation?: string };
  readonly onCommitted: (snapshotId: bigint, groupCount: number) => void;
}

/** An operation as a function runs it. */
export interface OperationJob<Outcome extends EndedOperation> {
  readonly operation: MaintenanceOperation;
  /** With partial progress: a finished batch of groups is kept when time or a later group runs out. */
  readonly run: (request: FunctionRun, ports: OperationPorts) => Promise<Outcome>;
  /** What happened less than this before is left alone; a later plan has to look at it again. */
  readonly waitMs: (rules: {
    readonly metadata: TableMetadata;
    readonly settings: GuardSettings;
    readonly nowMs: number;
  }) => number;
  /** Whether the plan left something to the next run, for being too much. */
  readonly isCut: (outcome: Outcome) => boolean;
  /** The one summary line of a run: a sentence for people, and fields for searching. */
  readonly outcomeFields: (outcome: Outcome) => {
    readonly message: string;
    readonly fields: LogFields;
  };
}

/** Why a table is to be maintained. */
export interface RunRequest {
  readonly table: string;
  readonly reason: string;
  readonly correlationId: string;
}

export interface RunPorts<Outcome extends EndedOperation> extends Deployment {
  readonly job: OperationJob<Outcome>;
  /** The warehouse's, or one that does something with each request. */
  readonly store: ObjectStore;
  readonly deadline: Deadline;
  readonly logger: Logger;
  readonly onOutcome?: (table: string, outcome: Outcome) => void;
}

/** How a run ended, once the ledger knows. */
export interface EndedTableRun<Outcome extends EndedOperation> {
  readonly ending: Ending;
  /** Undefined where it ended with an error. */
  readonly outcome?: Outcome['outcome'];
  readonly error?: unknown;
  /** What is to be said of a run that failed, or some of whose groups did. */
  readonly failure?: string;
  /** Whether the run before failed, too. */
  readonly hasFailedBefore: boolean;
}

/**
 * Maintains one table as far as it is allowed and there is time, tells it in one line, remembers in the ledger how it ended, and
 * looks at the table again.
 *
 * @throws unavailable, access-denied, not-found, invalid-config — when the ledger does not take how it ended
 */
export async function runTable<Outcome extends EndedOperation>(
  request: RunRequest,
  ports: RunPorts<Outcome>,
): Promise<EndedTableRun<Outcome>> {
  const { warehouse, clock, logger } = ports;
  const { operation } = ports.job;
  const startedAtMs = clock.nowMs();
  const identifier = parseTableIdentifier(request.table);
  const { states } = warehouse.openLedger();
  const state = await states.read(request.table);
  const before = state?.operations[operation];
  const ended = await runToEnd(request, { identifier, before, startedAtMs }, ports);
  const { run } = ended.ending;
  if (run !== undefined) {
    const nowMs = clock.nowMs();
    const after = await states.change(request.table, (current) =>
      stateAfterRun(current, { operation, ending: run, startedAtMs, nowMs }),
    );
    warnOfRounds(after.operations[operation], { nowMs, logger });
  }
  await lookAgain(identifier, request, ports);
  return { ...ended, hasFailedBefore: (before?.failureCount ?? 0) > 0 };
}

interface Begun {
  readonly identifier: TableIdentifier;
  readonly before: OperationState | undefined;
  readonly startedAtMs: number;
}

async function runToEnd<Outcome extends EndedOperation>(
  request: RunRequest,
  begun: Begun,
  ports: RunPorts<Outcome>,
): Promise<Omit<EndedTableRun<Outcome>, 'hasFailedBefore'>> {
  const { clock, logger } = ports;
  const durationMs = (): number => clock.nowMs() - begun.startedAtMs;
  try {
    const { outcome, start } = await maintainTable(request, begun, ports);
    const { message, fields } = ports.job.outcomeFields(outcome);
    const ending = endingOfOutcome(outcome, start);
    const permission = start.permission.reason;
    const summary = { ...fields, reason: request.reason, permission, durationMs: durationMs() };
    logger[ending.level]('run.finished', message, summary);
    ports.onOutcome?.(request.table, outcome);
    const isFailed = ending.level !== 'info';
    return { ending, outcome: outcome.outcome, ...(isFailed ? { failure: message } : {}) };
  } catch (error) {
    const ending = endingOfError(error);
    logFailure(error, ending, { logger, durationMs: durationMs() });
    return { ending, error, failure: errorMessage(error) };
  }
}

async function maintainTable<Outcome extends EndedOperation>(
  { table: name, reason }: RunRequest,
  { identifier, before, startedAtMs }: Begun,
  ports: RunPorts<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly start: RunStart }> {
  const { warehouse, store, settings, clock, random, deadline, logger } = ports;
  const { run, waitMs, isCut } = ports.job;
  const { catalog } = warehouse;
  const table = await loadTable(identifier, { catalog, store, clock });
  const { metadata } = table;
  const permission = permissionFor(name, metadata.properties, settings);
  const wait = waitMs({ metadata, settings: settings.guards, nowMs: startedAtMs });
  const firstDueAtMs = before?.firstDueAtMs;
  const stateLocation = before?.plan?.stateLocation;
  const outcome = await run(
    {
      table,
      mode: permission.mode,
      guards: settings.guards,
      runId: randomUuid(random),
      trigger: reason,
      continuation: stateLocation === undefined ? {} : { stateLocation },
      ...(firstDueAtMs === undefined ? {} : { firstDueAtMs }),
      onCommitted: (snapshotId, groupCount) => {
        logger.info('commit.succeeded', `${groupCount} groups`, {
          snapshotId: String(snapshotId),
          groupCount,
        });
      },
    },
    { catalog, store, ledger: warehouse.openLedger(), clock, random, deadline, logger },
  );
  return { outcome, start: { startedAtMs, waitMs: wait, permission, isCut: isCut(outcome) } };
}

const ERROR_EVENTS: Readonly<Record<Ending['outcome'], string>> = {
  done: 'run.finished',
  partial: 'run.finished',
  skipped: 'run.skipped',
  failed: 'run.failed',
};

function logFailure(
  error: unknown,
  { level, outcome }: Ending,
  { logger, durationMs }: { readonly logger: Logger; readonly durationMs: number },
): void {
  // Only a mistake in Firn needs the place where it happened.
  const stack = isIcebergError(error) || !(error instanceof Error) ? undefined : error.stack;
  const fields: LogFields = { ...errorFields(error), outcome, durationMs, stack };
  logger[level](ERROR_EVENTS[outcome], errorMessage(error), fields);
}

function warnOfRounds(
  state: OperationState | undefined,
  { nowMs, logger }: { readonly nowMs: number; readonly logger: Logger },
): void {
  const owed = state?.owed;
  if (owed?.reason !== 'continuation' || owed.atMs <= nowMs) return;
  logger.warn('rounds.paused', 'too many runs in a row left work over', {
    resumesAtMs: owed.atMs,
  });
}

/** What is left to do, and was committed meanwhile. The mark for it is in the ledger: should this fail, the sweep looks. */
async function lookAgain(
  identifier: TableIdentifier,
  { correlationId }: RunRequest,
  ports: Deployment & { readonly logger: Logger },
): Promise<void> {
  const { logger } = ports;
  try {
    const request = { identifier, cause: 'run-ended', correlationId } as const;
    const look = await lookAtTable(request, lookPorts(ports));
    const table = formatTableIdentifier(identifier);
    logger.debug('table.looked-at', `${table}: ${look.outcome}`, { look: look.outcome });
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    logger.warn('look.failed', error.message, errorFields(error));
  }
}
