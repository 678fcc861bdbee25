import { formatBytes, formatCount, printable } from '../../shared/display/index.ts';
import type {
  GroupResult,
  RewriteDataFilesOutcome,
  RewriteReport,
} from '../../shared/operations/rewrite-data-files/index.ts';

/** What a run did, for people. */
export function describeOutcome(tableName: string, outcome: RewriteDataFilesOutcome): string[] {
  switch (outcome.outcome) {
    case 'no-snapshot':
      return [`${tableName}: has no snapshot, so there is nothing to compact`];
    case 'skipped':
      return [`${tableName}: skipped, ${outcome.reason} (${printable(outcome.detail)})`];
    case 'nothing-planned':
      return [`${tableName}: nothing to do`];
    case 'observed':
      return [`${tableName}: planned only, nothing was written`];
    case 'committed':
    case 'partial':
      return describeReport(tableName, outcome, outcome.requests);
  }
}

function describeReport(
  tableName: string,
  { groups, commits, before, after }: RewriteReport,
  requests: RewriteDataFilesOutcome['requests'],
): string[] {
  const { readRange, read, head, write, openWriter } = requests;
  return [
    ...commits.map(
      ({ snapshotId, groupIndexes, attemptCount }) =>
        `${tableName}: committed snapshot ${snapshotId} with ${formatCount(groupIndexes.length, 'group')}` +
        (attemptCount > 1 ? ` at attempt ${attemptCount}` : ''),
    ),
    ...groups.flatMap(describeFailure),
    `files ${before.fileCount} -> ${after.fileCount}, ` +
      `bytes ${formatBytes(before.bytes)} -> ${formatBytes(after.bytes)}, ` +
      `row groups ${before.rowGroupCount} -> ${after.rowGroupCount}`,
    describeChunks(groups),
    `requests: ${readRange + read + head} reads (${formatBytes(requests.bytesRead)}), ` +
      `${write + openWriter} writes (${formatBytes(requests.bytesWritten)}); nothing was deleted`,
  ];
}

function describeFailure(group: GroupResult): string[] {
  switch (group.state) {
    case 'committed':
      return [];
    case 'dropped':
      return [
        `group ${group.groupIndex} not committed: ${group.reason} (${printable(group.detail)})`,
      ];
    case 'failed':
    case 'commit-failed':
      return [`group ${group.groupIndex} not committed: ${printable(group.error.message)}`];
    case 'not-started':
      return [`group ${group.groupIndex} not begun: no time was left`];
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
