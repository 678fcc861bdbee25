import {
  formatBytes,
  formatCount,
  formatInstant,
  printable,
  type TableOptions,
} from '../../shared/display/index.ts';
import type {
  DeleteCounts,
  GroupReason,
  PlannedGroup,
  RewriteDeletesOptions,
  RewriteDeletesPlan,
  SkipReason,
} from '../../shared/operations/rewrite-deletes/index.ts';
import { indentedTable } from './indented-table.ts';

/** Groups shown one by one; a plan of thousands is summed up after these. */
const GROUPS_SHOWN_MAX = 20;

/** A plan for people: which delete files are to be rewritten and why, which are left alone and why. */
export function describeDeletesPlan(
  tableName: string,
  { plan, before }: { readonly plan: RewriteDeletesPlan; readonly before: DeleteCounts },
  widthMax: number | undefined,
): string[] {
  const { base, groups } = plan;
  const removedCount = groups.reduce((sum, { removedFileCount }) => sum + removedFileCount, 0);
  const addedCount = groups.reduce((sum, { addedFileCountMax }) => sum + addedFileCountMax, 0);
  return [
    `${printable(tableName)}: ${formatCount(before.dataFileCount, 'data file')} in snapshot ` +
      `${base.startingSnapshotId} of ${printable(base.branch)} (v${base.formatVersion})`,
    deleteCountsText(before),
    groups.length === 0
      ? 'to rewrite: nothing'
      : `to rewrite: ${formatCount(removedCount, 'delete file')} into ${addedCount} at most, ` +
        `in ${formatCount(groups.length, 'group')}`,
    ...describeGroups(plan, { widthMax }),
    ...describeSkips(plan, { widthMax }),
  ];
}

function deleteCountsText(before: DeleteCounts): string {
  const { vectorCount, puffinFileCount, positionDeleteFileCount, equalityDeleteFileCount } = before;
  return (
    `deletes: ${formatCount(vectorCount, 'vector')} in ${formatCount(puffinFileCount, 'Puffin file')}, ` +
    `${formatCount(positionDeleteFileCount, 'position delete file')}, ` +
    `${formatCount(equalityDeleteFileCount, 'equality delete file')}; ` +
    `${formatCount(before.deleteRowCount, 'row')}, ${formatBytes(before.deleteFileBytes)}`
  );
}

function describeGroups(
  { groups, options }: RewriteDeletesPlan,
  tableOptions: TableOptions,
): string[] {
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, GROUPS_SHOWN_MAX)
    .map((group) => [
      groupName(group),
      String(group.removedFileCount),
      String(group.addedFileCountMax),
      formatBytes(group.readBytesExpected),
      group.reasons.map((reason) => groupReasonText(reason, options)).join(', '),
    ]);
  const hiddenCount = groups.length - rows.length;
  return [
    ...indentedTable(
      [['partition', 'delete files', 'new, at most', 'read', 'why'], ...rows],
      tableOptions,
    ),
    ...(hiddenCount > 0
      ? [`  and ${formatCount(hiddenCount, 'group')} more (all with --json)`]
      : []),
  ];
}

/** Where a group's data files are, in few words. */
export function groupName({ partitions, copies, removed }: PlannedGroup): string {
  const [first, ...others] = partitions;
  if (first === undefined) {
    return copies.length > 0
      ? '(vectors of sparse Puffin files)'
      : `(${formatCount(removed.length, 'delete file')} without data)`;
  }
  const name = first.partition === '' ? '(unpartitioned)' : printable(first.partition);
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

function groupReasonText(reason: GroupReason, options: RewriteDeletesOptions): string {
  switch (reason) {
    case 'delete-file-count':
      return `${options.deleteFileThreshold} position delete files or more`;
    case 'equality-delete-file-count':
      return `${options.equalityDeleteFileThreshold} equality delete files or more`;
    case 'delete-ratio':
      return 'many deleted rows';
    case 'delete-manifest-ratio':
      return 'delete manifests weigh much';
    case 'dangling':
      return 'no data file needs them';
    case 'puffin-garbage':
      return 'Puffin files are mostly garbage';
    case 'rewrite-all':
      return 'all were asked for';
  }
}

function describeSkips(
  { skipped, options, dueAtMs }: RewriteDeletesPlan,
  tableOptions: TableOptions,
): string[] {
  const entries = Object.entries(skipped) as [SkipReason, (typeof skipped)[SkipReason]][];
  if (entries.length === 0) return [];
  const rows = entries
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([reason, counts]) => [
      String(counts?.deleteFileCount ?? 0),
      String(counts?.partitionCount ?? 0),
      skipReasonText(reason, options),
    ]);
  return [
    'left alone',
    ...indentedTable([['delete files', 'partitions', 'why'], ...rows], tableOptions),
    ...(dueAtMs === undefined
      ? []
      : [
          `the first of them may be rewritten at ${formatInstant(dueAtMs)}, or now with --min-file-age-ms 0`,
        ]),
  ];
}

function skipReasonText(reason: SkipReason, options: RewriteDeletesOptions): string {
  switch (reason) {
    case 'below-thresholds':
      return 'too few to be worth it';
    case 'too-warm':
      return 'other jobs have deleted rows there lately';
    case 'others-not-ready':
      return 'they apply to all partitions, one of which cannot be rewritten now';
    case 'unsupported-format':
      return 'they, or their data files, are not Parquet';
    case 'unsupported-column':
      return 'they delete by a column of a type without equality';
    case 'encrypted':
      return 'encrypted';
    case 'unsupported-spec':
      return 'partitioned by a transform that Firn does not know';
    case 'referenced-twice':
      return 'the snapshot has a file more than once, which only its writer can mend';
    case 'max-files-to-rewrite':
      return `beyond the ${options.filesToRewriteMax} files of one run, left to the next`;
  }
}
