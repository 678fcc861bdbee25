import { NO_DEADLINE, randomUuid, silentLogger } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { formatBytes, formatCount, formatDuration, printable } from '../../shared/display/index.ts';
import { DEFAULT_GUARD_SETTINGS, type GuardOverrides } from '../../shared/guards/index.ts';
import {
  estimateUsage,
  outcomeToJson,
  type RewriteDataFilesOutcome,
  type RewriteProgress,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { estimatePrice, PRICE_TABLE, type PriceEstimate } from '../../shared/pricing/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { describeOutcome } from './describe-outcome.ts';
import { describePlan, describePrice } from './describe-plan.ts';
import { propertyWarnings } from './property-warnings.ts';
import { estimateToJson, exitCodeOf, parseOptionTexts, permissionNote } from './rewrite-command.ts';

export interface CompactRequest {
  readonly table: string;
  readonly branch: string;
  readonly dryRun: boolean;
  /** `key=value`, as given. */
  readonly optionTexts: readonly string[];
  /** Rules that the person lowers for this run. */
  readonly guards: GuardOverrides;
}

/**
 * `firn compact`: a person's call is permission for this run, whatever the table's `firn.enabled` says and whoever else
 * maintains it. The rules that spare other writers hold, unless the person lowers them, too.
 */
export async function compact(request: CompactRequest, session: Session): Promise<ExitCode> {
  const { warehouse, clock, random, progress } = session;
  const options = parseOptionTexts(request.optionTexts);
  const startMs = clock.nowMs();
  progress.update(`${request.table}: reading metadata`);
  const table = await loadTable(parseTableIdentifier(request.table), { ...warehouse, clock });
  progress.update(`${request.table}: reading manifests`);
  const outcome = await rewriteDataFiles(
    {
      table,
      branch: request.branch,
      options,
      mode: request.dryRun ? 'observe' : 'commit',
      runId: randomUuid(random),
      trigger: 'firn compact',
      guards: { ...DEFAULT_GUARD_SETTINGS, overrides: { isShared: true, ...request.guards } },
      onProgress: (step) => progress.update(`${request.table}: ${progressText(step)}`),
    },
    {
      catalog: warehouse.catalog,
      store: warehouse.store,
      // A dry run leaves no trace, and needs no ledger.
      ...(request.dryRun ? {} : { ledger: warehouse.openLedger() }),
      clock,
      random,
      deadline: NO_DEADLINE,
      logger: silentLogger,
    },
  );
  progress.clear();
  const warnings = propertyWarnings(table.metadata.properties);
  if (session.isJson) {
    printJson(request.table, outcome, session, warnings);
  } else {
    session.print([
      ...warnings.map((warning) => `warning: ${printable(warning)}`),
      ...permissionNote(request, table.metadata.properties),
      ...outcomeLines(request, outcome, session),
      `took ${formatDuration(clock.nowMs() - startMs)}`,
    ]);
  }
  return exitCodeOf(outcome);
}

function progressText(progress: RewriteProgress): string {
  switch (progress.step) {
    case 'planned':
      return `planned ${formatCount(progress.groupCount, 'group')}, ${formatBytes(progress.inputBytes)}`;
    case 'group-rewritten':
      return progress.doneCount === progress.groupCount
        ? `rewrote ${formatCount(progress.groupCount, 'group')}, verifying and committing`
        : `rewrote group ${progress.doneCount} of ${progress.groupCount}`;
    case 'committed':
      return `committed snapshot ${progress.snapshotId}`;
  }
}

function printJson(
  tableName: string,
  outcome: RewriteDataFilesOutcome,
  session: Session,
  warnings: readonly string[],
): void {
  const estimate =
    outcome.outcome === 'observed' ? { estimate: estimateToJson(priceOf(outcome)) } : {};
  session.printJson({ table: tableName, ...outcomeToJson(outcome), ...estimate, warnings });
}

function priceOf(observed: Parameters<typeof estimateUsage>[0]): PriceEstimate {
  return estimatePrice(estimateUsage(observed), PRICE_TABLE);
}

function outcomeLines(
  { table, dryRun }: CompactRequest,
  outcome: RewriteDataFilesOutcome,
  { widthMax }: Session,
): string[] {
  const plan = 'plan' in outcome ? [...describePlan(table, outcome, widthMax), ''] : [];
  const price =
    outcome.outcome === 'observed' ? [...describePrice(priceOf(outcome), widthMax), ''] : [];
  const end = dryRun ? ['dry run: nothing was written'] : [];
  return [...plan, ...price, ...describeOutcome(table, outcome), ...end];
}
