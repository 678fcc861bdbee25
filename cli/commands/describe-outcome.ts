import { formatBytes, formatCount, formatInstant, printable } from '../../shared/display/index.ts';
import { type GuardVerdict, isHeldBack } from '../../shared/guards/index.ts';
import type {
  GroupResult,
  RewriteDataFilesOutcome,
  RewriteReport,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { droppedGroupText, skippedTableText } from './reasons.ts';

/** Groups told one by one; what ails a thousand of them is told by the first few. */
const FAILURES_SHOWN_MAX = 20;

/** What a run did, for people. */
export function describeOutcome(tableName: string, outcome: RewriteDataFilesOutcome): string[] {
  const name = printable(tableName);
  switch (outcome.outcome) {
    case 'no-snapshot':
      return [`${name}: nothing to do, it has no snapshot`];
    case 'busy':
      return [
        `${name}: busy, run ${printable(outcome.owner)} is working on it until ${formatInstant(outcome.expiresAtMs)} ` +
          'or later; nothing was done',
      ];
    case 'skipped':
      return [
        `${name}: skipped, ${skippedTableText(outcome.reason)} (${printable(outcome.detail)})`,
      ];
    case 'nothing-planned':
      return [`${name}: nothing to do`];
    case 'observed':
      return describeVerdicts(outcome.verdicts);
    case 'held-back':
      return [`${name}: held back, nothing was written`, ...describeVerdicts(outcome.verdicts)];
    case 'committed':
    case 'partial':
      return [
        ...describeVerdicts(outcome.verdicts),
        ...describeReport(name, outcome, outcome.requests),
      ];
  }
}

/** What lowers a rule for one run, where a person may. */
const LOWERED_BY: Readonly<Record<GuardVerdict['guard'], string>> = {
  'commit-interval': '--commit-interval-ms 0',
  'write-audit-publish': '--wap-wait-ms 0',
  'foreign-maintainer': 'firn.share=true',
};

function describeVerdicts(verdicts: readonly GuardVerdict[]): string[] {
  return verdicts.map((verdict) => {
    const { guard, detail, dueAtMs } = verdict;
    if (!isHeldBack(verdict)) return `note: ${printable(detail)}`;
    return `held back: ${printable(detail)}; until ${formatInstant(dueAtMs)}, or with ${LOWERED_BY[guard]}`;
  });
}

function describeReport(
  name: string,
  report: RewriteReport,
  requests: RewriteDataFilesOutcome['requests'],
): string[] {
  const { groups, commits, before, after } = report;
  const { readRange, read, head, write, openWriter } = requests;
  const commitLines = commits.map(
    ({ snapshotId, groupIndexes, attemptCount }) =>
      `${name}: committed snapshot ${snapshotId} with ${formatCount(groupIndexes.length, 'group')}` +
      (attemptCount > 1 ? ` at attempt ${attemptCount}` : ''),
  );
  return [
    ...(commits.length > 0 ? commitLines : [`${name}: nothing was committed`]),
    ...describeFailures(report),
    `files ${before.fileCount} -> ${after.fileCount}, ` +
      `bytes ${formatBytes(before.bytes)} -> ${formatBytes(after.bytes)}, ` +
      `row groups ${before.rowGroupCount} -> ${after.rowGroupCount}`,
    describeChunks(groups),
    `requests: ${formatCount(readRange + read + head, 'read')} (${formatBytes(requests.bytesRead)}), ` +
      `${formatCount(write + openWriter, 'write')} (${formatBytes(requests.bytesWritten)}); nothing was deleted`,
  ];
}

/** Groups that were not committed, with the reason of each. */
function describeFailures({ plan, groups }: RewriteReport): string[] {
  const planned = new Map(plan.groups.map((group) => [group.groupIndex, group]));
  const lines = groups.flatMap((group) => {
    const reason = failureText(group);
    if (reason === undefined) return [];
    const { partition = '', files = [] } = planned.get(group.groupIndex) ?? {};
    const where = partition === '' ? 'unpartitioned' : printable(partition);
    return [`  ${where}, ${formatCount(files.length, 'file')}: ${printable(reason)}`];
  });
  if (lines.length === 0) return [];
  const hiddenCount = lines.length - FAILURES_SHOWN_MAX;
  return [
    `not committed: ${formatCount(lines.length, 'group')}`,
    ...lines.slice(0, FAILURES_SHOWN_MAX),
    ...(hiddenCount > 0 ? [`  and ${formatCount(hiddenCount, 'group')} more`] : []),
  ];
}

function failureText(group: GroupResult): string | undefined {
  switch (group.state) {
    case 'committed':
      return undefined;
    case 'dropped':
      return `${droppedGroupText(group.reason)} (${group.detail})`;
    case 'failed':
    case 'commit-failed':
      return `${group.error.message} (${group.error.kind})`;
    case 'not-started':
      return 'not begun, no time was left';
  }
}

function describeChunks(groups: readonly GroupResult[]): string {
  const chunks = groups.flatMap((group) => ('columnChunks' in group ? [group.columnChunks] : []));
  const sum = (value: (chunk: (typeof chunks)[number]) => number): number =>
    chunks.reduce((total, chunk) => total + value(chunk), 0);
  return (
    `column chunks: ${sum((chunk) => chunk.copiedCount)} copied (${formatBytes(sum((chunk) => chunk.copiedBytes))}), ` +
    `${sum((chunk) => chunk.encodedCount)} encoded (${formatBytes(sum((chunk) => chunk.encodedBytes))})`
  );
}
