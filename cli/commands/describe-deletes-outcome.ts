import { formatBytes, formatCount, printable } from '../../shared/display/index.ts';
import type {
  DeleteGroupResult,
  RewriteDeletesOutcome,
  RewriteDeletesReport,
} from '../../shared/operations/rewrite-deletes/index.ts';
import { groupName } from './describe-deletes-plan.ts';
import {
  busyText,
  describeFailedGroups,
  describeRequests,
  describeVerdicts,
} from './describe-run.ts';
import { skippedTableText } from './reasons.ts';

/** What a run did, for people. */
export function describeDeletesOutcome(
  tableName: string,
  outcome: RewriteDeletesOutcome,
): string[] {
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
        ...describeReport(name, outcome),
        describeRequests(outcome.requests),
      ];
  }
}

function describeReport(name: string, report: RewriteDeletesReport): string[] {
  const { plan, groups, commits } = report;
  const planned = new Map(plan.groups.map((group) => [group.groupIndex, group]));
  const whereOf = (groupIndex: number): string => {
    const group = planned.get(groupIndex);
    return group === undefined
      ? ''
      : `${groupName(group)}, ${formatCount(group.removedFileCount, 'delete file')}`;
  };
  const commitLines = commits.map(
    ({ snapshotId, groupIndexes, attemptCount }) =>
      `${name}: committed snapshot ${snapshotId} with ${formatCount(groupIndexes.length, 'group')}` +
      (attemptCount > 1 ? ` at attempt ${attemptCount}` : ''),
  );
  return [
    ...(commits.length > 0 ? commitLines : [`${name}: nothing was committed`]),
    ...describeFailedGroups(groups, whereOf),
    describeDeletes(groups),
  ];
}

function describeDeletes(groups: readonly DeleteGroupResult[]): string {
  const committed = groups.filter((group) => group.state === 'committed');
  const sum = (value: (group: (typeof committed)[number]) => number): number =>
    committed.reduce((total, group) => total + value(group), 0);
  return (
    `delete files ${sum((group) => group.removedFileCount)} -> ${sum((group) => group.addedFileCount)} ` +
    `(${formatBytes(sum((group) => group.addedBytes))} new)`
  );
}
