import { NO_DEADLINE, randomUuid, silentLogger } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { formatCount, formatDuration, printable } from '../../shared/display/index.ts';
import { DEFAULT_GUARD_SETTINGS, type GuardOverrides } from '../../shared/guards/index.ts';
import {
  estimateUsage,
  outcomeToJson,
  type RewriteDeletesOutcome,
  type RewriteDeletesProgress,
  rewriteDeletes,
} from '../../shared/operations/rewrite-deletes/index.ts';
import { estimatePrice, PRICE_TABLE, type PriceEstimate } from '../../shared/pricing/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { describeDeletesOutcome } from './describe-deletes-outcome.ts';
import { describeDeletesPlan } from './describe-deletes-plan.ts';
import { describePrice } from './describe-plan.ts';
import { propertyWarnings } from './property-warnings.ts';
import { estimateToJson, exitCodeOf, parseOptionTexts, permissionNote } from './rewrite-command.ts';

export interface DeletesRequest {
  readonly table: string;
  readonly branch: string;
  readonly dryRun: boolean;
  /** `key=value`, as given. */
  readonly optionTexts: readonly string[];
  /** Rules that the person lowers for this run. */
  readonly guards: GuardOverrides;
}

/**
 * `firn deletes`: a person's call is permission for this run, whatever the table's `firn.enabled` says and whoever else
 * maintains it. The rules that spare other writers hold, unless the person lowers them, too.
 */
export async function deletes(request: DeletesRequest, session: Session): Promise<ExitCode> {
  const { warehouse, clock, random, progress } = session;
  const options = parseOptionTexts(request.optionTexts);
  const startMs = clock.nowMs();
  progress.update(`${request.table}: reading metadata`);
  const table = await loadTable(parseTableIdentifier(request.table), { ...warehouse, clock });
  progress.update(`${request.table}: reading manifests`);
  const outcome = await rewriteDeletes(
    {
      table,
      branch: request.branch,
      options,
      mode: request.dryRun ? 'observe' : 'commit',
      runId: randomUuid(random),
      trigger: 'firn deletes',
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
  const { properties } = table.metadata;
  const warnings = propertyWarnings(properties);
  if (session.isJson) {
    const estimate =
      outcome.outcome === 'observed' ? { estimate: estimateToJson(priceOf(outcome)) } : {};
    session.printJson({ table: request.table, ...outcomeToJson(outcome), ...estimate, warnings });
  } else {
    session.print([
      ...warnings.map((warning) => `warning: ${printable(warning)}`),
      ...permissionNote(request, properties),
      ...outcomeLines(request, outcome, session),
      `took ${formatDuration(clock.nowMs() - startMs)}`,
    ]);
  }
  return exitCodeOf(outcome);
}

function progressText(progress: RewriteDeletesProgress): string {
  switch (progress.step) {
    case 'planned':
      return `planned ${formatCount(progress.groupCount, 'group')}, ${formatCount(progress.removedFileCount, 'delete file')}`;
    case 'group-rewritten':
      return progress.doneCount === progress.groupCount
        ? `rewrote ${formatCount(progress.groupCount, 'group')}, verifying and committing`
        : `rewrote group ${progress.doneCount} of ${progress.groupCount}`;
    case 'committed':
      return `committed snapshot ${progress.snapshotId}`;
  }
}

function priceOf(observed: Parameters<typeof estimateUsage>[0]): PriceEstimate {
  return estimatePrice(estimateUsage(observed), PRICE_TABLE);
}

function outcomeLines(
  { table, dryRun }: DeletesRequest,
  outcome: RewriteDeletesOutcome,
  { widthMax }: Session,
): string[] {
  const plan = 'plan' in outcome ? [...describeDeletesPlan(table, outcome, widthMax), ''] : [];
  const price =
    outcome.outcome === 'observed' ? [...describePrice(priceOf(outcome), widthMax), ''] : [];
  const end = dryRun ? ['dry run: nothing was written'] : [];
  return [...plan, ...price, ...describeDeletesOutcome(table, outcome), ...end];
}
