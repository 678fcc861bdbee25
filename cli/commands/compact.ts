import { IcebergError, NO_DEADLINE, randomUuid, silentLogger } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { formatBytes, formatCount, formatDuration } from '../../shared/display/index.ts';
import {
  estimateUsage,
  type OptionTexts,
  outcomeToJson,
  type RewriteDataFilesOutcome,
  type RewriteProgress,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { estimatePrice, PRICE_TABLE } from '../../shared/pricing/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { describeOutcome } from './describe-outcome.ts';
import { describePlan, describePrice } from './describe-plan.ts';
import { unknownPropertyWarnings } from './property-warnings.ts';

export interface CompactRequest {
  readonly table: string;
  readonly branch: string;
  readonly dryRun: boolean;
  /** `key=value`, as given. */
  readonly optionTexts: readonly string[];
}

/** `firn compact`: a person's call is permission for this run, whatever the table's `firn.enabled` says. */
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
      onProgress: (step) => progress.update(`${request.table}: ${progressText(step)}`),
    },
    {
      catalog: warehouse.catalog,
      store: warehouse.store,
      clock,
      random,
      deadline: NO_DEADLINE,
      logger: silentLogger,
    },
  );
  progress.clear();
  const warnings = unknownPropertyWarnings(table.metadata.properties);
  if (session.isJson) printJson(outcome, warnings, session);
  else printText(request, outcome, { warnings, durationMs: clock.nowMs() - startMs, session });
  return exitCodeOf(outcome);
}

/** @throws invalid-config — for text without `=`, and for a key given twice */
function parseOptionTexts(texts: readonly string[]): OptionTexts {
  const options: Record<string, string> = {};
  for (const text of texts) {
    const split = text.indexOf('=');
    const key = text.slice(0, split);
    if (split < 1) {
      throw new IcebergError('invalid-config', `option ${text}: is not of the form key=value`);
    }
    if (Object.hasOwn(options, key)) {
      throw new IcebergError('invalid-config', `option ${key}: is given twice`);
    }
    options[key] = text.slice(split + 1);
  }
  return options;
}

function progressText(progress: RewriteProgress): string {
  switch (progress.step) {
    case 'planned':
      return `planned ${formatCount(progress.groupCount, 'group')}, ${formatBytes(progress.inputBytes)}`;
    case 'group-rewritten':
      return `rewrote group ${progress.doneCount} of ${progress.groupCount}`;
    case 'committed':
      return `committed snapshot ${progress.snapshotId}`;
  }
}

function printJson(
  outcome: RewriteDataFilesOutcome,
  warnings: readonly string[],
  session: Session,
): void {
  const price =
    'plan' in outcome ? estimatePrice(estimateUsage(outcome.plan), PRICE_TABLE) : undefined;
  session.printJson({
    ...outcomeToJson(outcome),
    ...(price === undefined
      ? {}
      : { estimatedDollars: price.totalDollars, pricesAsOf: PRICE_TABLE.asOf }),
    warnings,
  });
}

function printText(
  request: CompactRequest,
  outcome: RewriteDataFilesOutcome,
  {
    warnings,
    durationMs,
    session,
  }: {
    readonly warnings: readonly string[];
    readonly durationMs: number;
    readonly session: Session;
  },
): void {
  const lines = warnings.map((warning) => `warning: ${warning}`);
  if (outcome.outcome === 'observed') {
    lines.push(...describePlan(outcome.plan, outcome.before), '', ...describePrice(outcome.plan));
    lines.push('', 'dry run: nothing was written');
  } else {
    if ('plan' in outcome) lines.push(...describePlan(outcome.plan, outcome.before), '');
    lines.push(...describeOutcome(request.table, outcome));
    lines.push(`took ${formatDuration(durationMs)}`);
  }
  for (const line of lines) session.print(line);
}

function exitCodeOf(outcome: RewriteDataFilesOutcome): ExitCode {
  switch (outcome.outcome) {
    case 'committed':
    case 'observed':
      return EXIT_CODES.done;
    case 'partial':
      return outcome.commits.length > 0 ? EXIT_CODES.done : EXIT_CODES.failed;
    case 'skipped':
    case 'no-snapshot':
    case 'nothing-planned':
      return EXIT_CODES.nothingToDo;
  }
}
