import {
  type Deadline,
  isIcebergError,
  type LogFields,
  type Logger,
  randomUuid,
} from '../../shared/base/index.ts';
import {
  formatTableIdentifier,
  parseTableIdentifier,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import { type Deployment, lookPorts } from '../../shared/deployment/index.ts';
import { fileAgeRule, permissionFor } from '../../shared/guards/index.ts';
import type { OperationState, TableState } from '../../shared/ledger/index.ts';
import { errorFields, errorMessage } from '../../shared/logging/index.ts';
import {
  type OptionTexts,
  type RewriteDataFilesOutcome,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { lookAtTable, stateAfterRun } from '../../shared/routing/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { type Ending, endingOfError, endingOfOutcome, type RunStart } from './ending.ts';
import { outcomeFields } from './outcome-fields.ts';

const OPERATION = 'rewrite-data-files';

/** A finished batch of groups is kept when time or a later group runs out. */
const OPTIONS: OptionTexts = { 'partial-progress.enabled': 'true' };

/** Why a table is to be compacted. */
export interface RunRequest {
  readonly table: string;
  readonly reason: string;
  readonly correlationId: string;
}

export interface RunPorts extends Deployment {
  /** The warehouse's, or one that does something with each request. */
  readonly store: ObjectStore;
  readonly deadline: Deadline;
  readonly logger: Logger;
  readonly onOutcome?: (table: string, outcome: RewriteDataFilesOutcome) => void;
}

/** How a run ended, once the ledger knows. */
export interface EndedTableRun {
  readonly ending: Ending;
  /** Undefined where it ended with an error. */
  readonly outcome?: RewriteDataFilesOutcome['outcome'];
  readonly error?: unknown;
  /** What is to be said of a run that failed, or some of whose groups did. */
  readonly failure?: string;
  /** Whether the run before failed, too. */
  readonly hasFailedBefore: boolean;
}

/**
 * Compacts one table as far as it is allowed and there is time, tells it in one line, remembers in the ledger how it ended, and
 * looks at the table again.
 *
 * @throws unavailable, access-denied, not-found, invalid-config — when the ledger does not take how it ended
 */
export async function runTable(request: RunRequest, ports: RunPorts): Promise<EndedTableRun> {
  const { warehouse, clock, logger } = ports;
  const startedAtMs = clock.nowMs();
  const identifier = parseTableIdentifier(request.table);
  const { states } = warehouse.openLedger();
  const state = await states.read(request.table);
  const before = state?.operations[OPERATION];
  const ended = await runToEnd(request, { identifier, before, startedAtMs }, ports);
  const { run } = ended.ending;
  if (run !== undefined) {
    const nowMs = clock.nowMs();
    const after = await states.change(request.table, (current) =>
      stateAfterRun(current, { operation: OPERATION, ending: run, startedAtMs, nowMs }),
    );
    warnOfRounds(after, { nowMs, logger });
  }
  await lookAgain(identifier, request, ports);
  return { ...ended, hasFailedBefore: (before?.failureCount ?? 0) > 0 };
}

interface Begun {
  readonly identifier: TableIdentifier;
  readonly before: OperationState | undefined;
  readonly startedAtMs: number;
}

async function runToEnd(
  request: RunRequest,
  begun: Begun,
  ports: RunPorts,
): Promise<Omit<EndedTableRun, 'hasFailedBefore'>> {
  const { clock, logger } = ports;
  const durationMs = (): number => clock.nowMs() - begun.startedAtMs;
  try {
    const { outcome, start } = await compactTable(request, begun, ports);
    const { message, fields } = outcomeFields(outcome);
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

async function compactTable(
  { table: name, reason }: RunRequest,
  { identifier, before, startedAtMs }: Begun,
  ports: RunPorts,
): Promise<{ readonly outcome: RewriteDataFilesOutcome; readonly start: RunStart }> {
  const { warehouse, store, settings, clock, random, deadline, logger } = ports;
  const { catalog } = warehouse;
  const table = await loadTable(identifier, { catalog, store, clock });
  const { metadata } = table;
  const permission = permissionFor(name, metadata.properties, settings);
  const rules = { metadata, settings: settings.guards, nowMs: startedAtMs };
  const { minFileAgeMs } = fileAgeRule(rules);
  const firstDueAtMs = before?.firstDueAtMs;
  const outcome = await rewriteDataFiles(
    {
      table,
      options: OPTIONS,
      mode: permission.mode,
      guards: settings.guards,
      runId: randomUuid(random),
      trigger: reason,
      ...(firstDueAtMs === undefined ? {} : { firstDueAtMs }),
      onProgress: (progress) => {
        if (progress.step !== 'committed') return;
        const { snapshotId, groupCount } = progress;
        logger.info('commit.succeeded', `${groupCount} groups`, {
          snapshotId: String(snapshotId),
          groupCount,
        });
      },
    },
    { catalog, store, ledger: warehouse.openLedger(), clock, random, deadline, logger },
  );
  return { outcome, start: { startedAtMs, minFileAgeMs, permission } };
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
  { operations }: TableState,
  { nowMs, logger }: { readonly nowMs: number; readonly logger: Logger },
): void {
  const owed = operations[OPERATION]?.owed;
  if (owed?.reason !== 'continuation' || owed.atMs <= nowMs) return;
  logger.warn('rounds.paused', 'too many runs in a row left work over', {
    resumesAtMs: owed.atMs,
  });
}

/** What is left to do, and was committed meanwhile. The mark for it is in the ledger: should this fail, the sweep looks. */
async function lookAgain(
  identifier: TableIdentifier,
  { correlationId }: RunRequest,
  ports: RunPorts,
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
