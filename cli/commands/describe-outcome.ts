import { formatBytes, formatCount, printable } from '../../shared/display/index.ts';
import {
  deletesOf,
  type RewriteDataFilesOutcome,
  type RewriteGroupResult,
  type RewriteReport,
} from '../../shared/operations/rewrite-data-files/index.ts';
import {
  busyText,
  describeFailedGroups,
  describeRequests,
  describeVerdicts,
} from './describe-run.ts';
import { skippedTableText } from './reasons.ts';

/** What a run did, for people. */
export function describeOutcome(tableName: string, outcome: RewriteDataFilesOutcome): string[] {
  const name = printable(tableName);
  switch (outcome.outcome) {
    case 'no-snapshot':
      return [`${name}: nothing to do, it has no snapshot`];
    case 'busy':
      return [`${name}: ${busyText(outcome)}`];
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

function describeReport(
  name: string,
  report: RewriteReport,
  requests: RewriteDataFilesOutcome['requests'],
): string[] {
  const { plan, groups, commits, before, after } = report;
  const commitLines = commits.map(
    ({ snapshotId, groupIndexes, attemptCount }) =>
      `${name}: committed snapshot ${snapshotId} with ${formatCount(groupIndexes.length, 'group')}` +
      (attemptCount > 1 ? ` at attempt ${attemptCount}` : ''),
  );
  return [
    ...(commits.length > 0 ? commitLines : [`${name}: nothing was committed`]),
    ...describeFailedGroups(groups, whereIn(plan)),
    `files ${before.fileCount} -> ${after.fileCount}, ` +
      `bytes ${formatBytes(before.bytes)} -> ${formatBytes(after.bytes)}, ` +
      `row groups ${before.rowGroupCount} -> ${after.rowGroupCount}`,
    ...describeDeletes(report),
    describeChunks(groups),
    describeRequests(requests),
  ];
}

function whereIn(plan: RewriteReport['plan']): (groupIndex: number) => string {
  const planned = new Map(plan.groups.map((group) => [group.groupIndex, group]));
  return (groupIndex) => {
    const { partition = '', files = [] } = planned.get(groupIndex) ?? {};
    const where = partition === '' ? 'unpartitioned' : printable(partition);
    return `${where}, ${formatCount(files.length, 'file')}`;
  };
}

/** Only where there were any. */
function describeDeletes(report: RewriteReport): string[] {
  const { before, after } = report;
  const done = deletesOf(report);
  const { appliedFileCount, carriedOverRowCount, removedFileCount } = done;
  if (appliedFileCount + carriedOverRowCount + removedFileCount === 0) return [];
  const meanwhile =
    carriedOverRowCount === 0
      ? ''
      : `, ${formatCount(carriedOverRowCount, 'row')} that others deleted meanwhile deleted anew`;
  return [
    `deletes: ${formatCount(appliedFileCount, 'file')} applied, ` +
      `${formatCount(done.purgedRowCount, 'deleted row')} left out, ${done.carriedRowCount} kept and deleted anew${meanwhile}`,
    `delete files: ${removedFileCount} removed, ${done.addedFileCount} added, ` +
      `their rows ${before.deleteRowCount} -> ${after.deleteRowCount}`,
  ];
}

function describeChunks(groups: readonly RewriteGroupResult[]): string {
  const chunks = groups.flatMap((group) => ('columnChunks' in group ? [group.columnChunks] : []));
  const sum = (value: (chunk: (typeof chunks)[number]) => number): number =>
    chunks.reduce((total, chunk) => total + value(chunk), 0);
  return (
    `column chunks: ${sum((chunk) => chunk.copiedCount)} copied (${formatBytes(sum((chunk) => chunk.copiedBytes))}), ` +
    `${sum((chunk) => chunk.encodedCount)} encoded (${formatBytes(sum((chunk) => chunk.encodedBytes))})`
  );
}
