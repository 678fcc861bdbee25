import { isJsonObject, type JsonObject } from '../../shared/base/index.ts';
import { formatCount } from '../../shared/display/index.ts';
import type { Ledger, Report } from '../../shared/ledger/index.ts';

/** Why files and groups of this demo may be left alone: they are fine, young, or nobody would gain anything. */
const EXPECTED_SKIPS: readonly string[] = [
  'size-in-range',
  'too-young',
  'too-few-files',
  'no-gain',
];

const EXPECTED_OUTCOMES: readonly string[] = ['committed', 'held-back', 'nothing-planned'];

/** What Firn's own reports, the newest first, say went otherwise than it should have; nothing where all is well. */
export async function judgeReports(
  reports: readonly Report[],
  ledger: Pick<Ledger, 'reports'>,
): Promise<string[]> {
  const problems: string[] = [];
  if (!reports.some(({ outcome }) => outcome === 'committed')) {
    problems.push(`no commit of Firn in ${formatCount(reports.length, 'report')}`);
  }
  for (const report of reports.toReversed()) {
    const details = (await ledger.reports.read(report.table, report.runId))?.details;
    problems.push(...reportProblems(report), ...skipProblems(report, details));
  }
  return problems;
}

function reportProblems({ runId, outcome, reason, facts }: Report): string[] {
  if (!EXPECTED_OUTCOMES.includes(outcome)) return [`run ${runId}: ${outcome}, ${reason}`];
  const lost = ['droppedGroupCount', 'failedGroupCount', 'notStartedGroupCount'].filter((key) =>
    Boolean(facts[key]),
  );
  return lost.map((key) => `run ${runId}: ${key} ${facts[key]}`);
}

function skipProblems({ runId }: Report, details: JsonObject | undefined): string[] {
  const plan = details?.['plan'];
  if (plan === undefined || !isJsonObject(plan)) return [];
  const { skippedFiles = {}, skippedGroups = {} } = plan;
  const reasons = Object.keys({ ...(skippedFiles as object), ...(skippedGroups as object) });
  const odd = reasons.filter((reason) => !EXPECTED_SKIPS.includes(reason));
  return odd.map((reason) => `run ${runId}: skipped for ${reason}`);
}
