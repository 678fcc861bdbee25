import {
  formatBytes,
  formatCount,
  formatInstant,
  printable,
  type TableOptions,
} from '../../shared/display/index.ts';
import {
  deleteFileCount,
  type FileSkipReason,
  type GroupSkipReason,
  type RewriteDataFilesPlan,
  type SkippedFiles,
  type TableCounts,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { formatDollars, PRICE_TABLE, type PriceEstimate } from '../../shared/pricing/index.ts';
import { indentedTable } from './indented-table.ts';
import { groupReasonText, scopeText, skippedFilesText } from './reasons.ts';

/** Groups shown one by one; a plan of thousands is summed up after these. */
const GROUPS_SHOWN_MAX = 20;

/** A plan for people: what is to be rewritten and why, what is left alone and why. */
export function describePlan(
  tableName: string,
  { plan, before }: { readonly plan: RewriteDataFilesPlan; readonly before: TableCounts },
  widthMax: number | undefined,
): string[] {
  const { base, options, groups } = plan;
  const fileCount = groups.reduce((sum, group) => sum + group.files.length, 0);
  const bytes = groups.reduce((sum, group) => sum + group.inputBytes, 0);
  return [
    `${printable(tableName)}: ${formatCount(before.fileCount, 'data file')}, ${formatBytes(before.bytes)} ` +
      `in snapshot ${base.startingSnapshotId} of ${printable(base.branch)}`,
    `looked at: ${scopeText(plan.scope)}`,
    `wanted: files of ${formatBytes(options.fileSizeBytesMin)} to ${formatBytes(options.fileSizeBytesMax)}, ` +
      `target ${formatBytes(options.targetFileSizeBytes)}`,
    groups.length === 0
      ? 'to rewrite: nothing'
      : `to rewrite: ${formatCount(fileCount, 'file')}, ${formatBytes(bytes)}, in ${formatCount(groups.length, 'group')}`,
    ...describeGroups(plan, { widthMax }),
    ...describeSkips(plan, { widthMax }),
  ];
}

function describeGroups(
  { groups, options }: RewriteDataFilesPlan,
  tableOptions: TableOptions,
): string[] {
  if (groups.length === 0) return [];
  const hasDeletes = groups.some(({ deletes }) => deletes !== undefined);
  const rows = groups
    .slice(0, GROUPS_SHOWN_MAX)
    .map((group) => [
      group.partition === '' ? '(unpartitioned)' : group.partition,
      String(group.files.length),
      formatBytes(group.inputBytes),
      ...(hasDeletes ? [String(deleteFileCount(group.deletes))] : []),
      String(group.outputFileCountExpected),
      groupReasonText(group.reason, options),
    ]);
  const deletesHead = hasDeletes ? ['delete files'] : [];
  const hiddenCount = groups.length - rows.length;
  return [
    ...indentedTable(
      [['partition', 'files', 'bytes', ...deletesHead, 'new files', 'why'], ...rows],
      tableOptions,
    ),
    ...(hiddenCount > 0
      ? [`  and ${formatCount(hiddenCount, 'group')} more (all with --json)`]
      : []),
  ];
}

function describeSkips(plan: RewriteDataFilesPlan, tableOptions: TableOptions): string[] {
  const skips = Object.entries({ ...plan.skippedFiles, ...plan.skippedGroups }) as [
    FileSkipReason | GroupSkipReason,
    SkippedFiles,
  ][];
  if (skips.length === 0) return [];
  const rows = skips.map(([reason, { fileCount, bytes }]) => [
    String(fileCount),
    formatBytes(bytes),
    skippedFilesText(reason, plan.options),
  ]);
  return [
    'left alone',
    ...indentedTable([['files', 'bytes', 'why'], ...rows], tableOptions),
    ...(plan.dueAtMs === undefined
      ? []
      : [
          `the first young file may be rewritten at ${formatInstant(plan.dueAtMs)}, or now with --min-file-age-ms 0`,
        ]),
  ];
}

/** What carrying the plan out is expected to cost at list prices. */
export function describePrice(
  { lines, totalDollars }: PriceEstimate,
  widthMax: number | undefined,
): string[] {
  const rows = lines.map(({ item, quantity, dollars }) => [item, quantity, formatDollars(dollars)]);
  return [
    `estimated price on AWS: ${formatDollars(totalDollars)}, at list prices of ${PRICE_TABLE.region} as of ${PRICE_TABLE.asOf}`,
    ...indentedTable([['item', 'quantity', 'price'], ...rows], { widthMax }),
  ];
}
