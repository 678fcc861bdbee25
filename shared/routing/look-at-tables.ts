import {
  type Deadline,
  type ErrorKind,
  isIcebergError,
  type Logger,
  mapConcurrent,
} from '../base/index.ts';
import { formatTableIdentifier, type TableIdentifier } from '../catalog/index.ts';
import { errorFields, errorMessage } from '../logging/index.ts';
import { type LookCause, type LookOutcome, type LookPorts, lookAtTable } from './look-at-table.ts';

type LookResultName = LookOutcome['outcome'] | 'failed';

/** What many looks came to. */
export interface LookTally {
  /** By outcome; `failed` where the catalog, the ledger or a queue did not do its part. */
  readonly counts: Readonly<Record<LookResultName, number>>;
  readonly sentCount: number;
  /** Full names of tables whose look failed and has to be repeated. */
  readonly failedTables: readonly string[];
  /** Full names of tables that no time was left for. */
  readonly skippedTables: readonly string[];
}

export interface LookManyPorts extends LookPorts {
  readonly logger: Logger;
  readonly deadline: Deadline;
}

/** Two reads of 5 ms each for most tables: some hundred tables a second. */
const LOOK_CONCURRENCY = 8;

/** No look is begun with less: the largest metadata takes seconds. */
const LOOK_RESERVE_MS = 20_000;

/** What only a person can mend. */
const PERSONAL_KINDS: readonly ErrorKind[] = ['access-denied', 'invalid-data', 'invalid-config'];

/**
 * Looks at tables, eight at a time, and tells what is worth telling. One that fails takes no other with it; what no time was
 * left for is counted, not looked at.
 */
export async function lookAtTables(
  identifiers: readonly TableIdentifier[],
  { cause, correlationId }: { readonly cause: LookCause; readonly correlationId: string },
  ports: LookManyPorts,
): Promise<LookTally> {
  const counts = { ...NO_LOOKS.counts };
  const failedTables: string[] = [];
  let sentCount = 0;
  const skippedTables: string[] = [];
  await mapConcurrent(identifiers, { concurrencyMax: LOOK_CONCURRENCY }, async (identifier) => {
    if (ports.deadline.remainingMs() < LOOK_RESERVE_MS) {
      skippedTables.push(formatTableIdentifier(identifier));
      return;
    }
    try {
      const outcome = await lookAtTable({ identifier, cause, correlationId }, ports);
      counts[outcome.outcome]++;
      if (outcome.outcome === 'looked') sentCount += outcome.sent.length;
      logOutcome(outcome, ports.logger);
    } catch (error) {
      const table = formatTableIdentifier(identifier);
      counts.failed++;
      failedTables.push(table);
      const level = isIcebergError(error, 'unavailable') ? 'warn' : 'error';
      ports.logger[level]('look.failed', errorMessage(error), { ...errorFields(error), table });
    }
  });
  return { counts, sentCount, failedTables, skippedTables };
}

export const NO_LOOKS: LookTally = {
  counts: { unchanged: 0, 'rate-limited': 0, looked: 0, dropped: 0, unreadable: 0, failed: 0 },
  sentCount: 0,
  failedTables: [],
  skippedTables: [],
};

/** The looks of both together. */
export function addTallies(one: LookTally, other: LookTally): LookTally {
  const counts = { ...one.counts };
  for (const name of Object.keys(counts) as LookResultName[]) counts[name] += other.counts[name];
  return {
    counts,
    sentCount: one.sentCount + other.sentCount,
    failedTables: [...one.failedTables, ...other.failedTables],
    skippedTables: [...one.skippedTables, ...other.skippedTables],
  };
}

/** Tells of messages that were sent, and of tables that became unreadable. */
function logOutcome(outcome: LookOutcome, logger: Logger): void {
  const { table } = outcome;
  switch (outcome.outcome) {
    case 'looked':
      for (const { operation, reason } of outcome.sent) {
        logger.debug('operation.queued', `${operation} for ${table}: ${reason}`, {
          table,
          operation,
          reason,
        });
      }
      return;
    case 'unreadable': {
      const { error, retryAtMs, isNews } = outcome;
      const level = !isNews ? 'debug' : PERSONAL_KINDS.includes(error.kind) ? 'error' : 'warn';
      logger[level]('table.unreadable', error.message, { ...errorFields(error), table, retryAtMs });
      return;
    }
    default:
      return;
  }
}
