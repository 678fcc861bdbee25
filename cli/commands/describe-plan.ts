import { formatBytes, formatCount, formatTable, printable } from '../../shared/display/index.ts';
import {
  estimateUsage,
  type RewriteDataFilesPlan,
  type TableCounts,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { estimatePrice, formatDollars, PRICE_TABLE } from '../../shared/pricing/index.ts';

/** Groups shown one by one; a plan of thousands is summed up after these. */
const GROUPS_SHOWN_MAX = 20;

/** A plan for people: what would be rewritten and why, what is left alone and why. */
export function describePlan(plan: RewriteDataFilesPlan, before: TableCounts): string[] {
  const { options, groups } = plan;
  const fileCount = groups.reduce((sum, group) => sum + group.files.length, 0);
  const bytes = groups.reduce((sum, group) => sum + group.inputBytes, 0);
  return [
    `snapshot ${plan.base.startingSnapshotId} of ${printable(plan.base.branch)}: ` +
      `${formatCount(before.fileCount, 'data file')}, ${formatBytes(before.bytes)}`,
    `sizes wanted: ${formatBytes(options.fileSizeBytesMin)} to ${formatBytes(options.fileSizeBytesMax)}, ` +
      `target ${formatBytes(options.targetFileSizeBytes)}; at least ${formatCount(options.minInputFiles, 'file')} a group`,
    `plan: ${formatCount(groups.length, 'group')}, ${formatCount(fileCount, 'file')}, ${formatBytes(bytes)}`,
    ...describeGroups(plan),
    ...describeSkips(plan),
  ];
}

function describeGroups({ groups }: RewriteDataFilesPlan): string[] {
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, GROUPS_SHOWN_MAX)
    .map((group) => [
      group.partition === '' ? '(unpartitioned)' : group.partition,
      String(group.files.length),
      formatBytes(group.inputBytes),
      String(group.outputFileCountExpected),
      group.reason,
    ]);
  const table = formatTable([['partition', 'files', 'bytes', 'outputs', 'why'], ...rows]);
  const hiddenCount = groups.length - rows.length;
  return [
    ...table.map((line) => `  ${line}`),
    ...(hiddenCount > 0
      ? [`  and ${formatCount(hiddenCount, 'group')} more (all with --json)`]
      : []),
  ];
}

function describeSkips({ skippedFiles, skippedGroups }: RewriteDataFilesPlan): string[] {
  const files = Object.entries(skippedFiles).map(
    ([reason, { fileCount, bytes }]) =>
      `  ${reason}: ${formatCount(fileCount, 'file')}, ${formatBytes(bytes)}`,
  );
  const groups = Object.entries(skippedGroups).map(
    ([reason, { groupCount, fileCount, bytes }]) =>
      `  ${reason}: ${formatCount(fileCount, 'file')} in ${formatCount(groupCount, 'group')}, ${formatBytes(bytes)}`,
  );
  const lines = [...files, ...groups].sort();
  return lines.length === 0 ? [] : ['left alone:', ...lines];
}

/** What carrying the plan out is expected to cost at list prices. */
export function describePrice(plan: RewriteDataFilesPlan): string[] {
  const { lines, totalDollars } = estimatePrice(estimateUsage(plan), PRICE_TABLE);
  return [
    `estimated price: ${formatDollars(totalDollars)} (list prices of ${PRICE_TABLE.region}, ${PRICE_TABLE.asOf})`,
    ...formatTable([
      ['item', 'quantity', 'dollars'],
      ...lines.map(({ item, quantity, dollars }) => [item, quantity, formatDollars(dollars)]),
    ]).map((line) => `  ${line}`),
  ];
}
