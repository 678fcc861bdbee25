import { formatBytes, formatCount, formatInstant, printable } from '../../shared/display/index.ts';
import { type GuardVerdict, isHeldBack } from '../../shared/guards/index.ts';
import type { GroupResult, NamedGroup } from '../../shared/maintenance/index.ts';
import type { RequestCounts } from '../../shared/storage/index.ts';
import { droppedGroupText } from './reasons.ts';

/** Groups told one by one; what ails a thousand of them is told by the first few. */
const FAILURES_SHOWN_MAX = 20;

/** What lowers a rule for one run, where a person may. */
const LOWERED_BY: Readonly<Record<GuardVerdict['guard'], string>> = {
  'commit-interval': '--commit-interval-ms 0',
  'write-audit-publish': '--wap-wait-ms 0',
  'foreign-maintainer': 'firn.share=true',
};

export function describeVerdicts(verdicts: readonly GuardVerdict[]): string[] {
  return verdicts.map((verdict) => {
    const { guard, detail, dueAtMs } = verdict;
    if (!isHeldBack(verdict)) return `note: ${printable(detail)}`;
    return `held back: ${printable(detail)}; until ${formatInstant(dueAtMs)}, or with ${LOWERED_BY[guard]}`;
  });
}

export function busyText({
  owner,
  expiresAtMs,
}: {
  readonly owner: string;
  readonly expiresAtMs: number;
}): string {
  const until = formatInstant(expiresAtMs);
  return `busy, run ${printable(owner)} is working on it until ${until} or later; nothing was done`;
}

export function describeRequests(requests: RequestCounts): string {
  const { readRange, read, head, write, openWriter, bytesRead, bytesWritten } = requests;
  return (
    `requests: ${formatCount(readRange + read + head, 'read')} (${formatBytes(bytesRead)}), ` +
    `${formatCount(write + openWriter, 'write')} (${formatBytes(bytesWritten)}); nothing was deleted`
  );
}

/** Groups that were not committed, with the reason of each. */
export function describeFailedGroups(
  groups: readonly GroupResult<NamedGroup>[],
  whereOf: (groupIndex: number) => string,
): string[] {
  const lines = groups.flatMap((group) => {
    const reason = failureText(group);
    return reason === undefined ? [] : [`  ${whereOf(group.groupIndex)}: ${printable(reason)}`];
  });
  if (lines.length === 0) return [];
  const hiddenCount = lines.length - FAILURES_SHOWN_MAX;
  return [
    `not committed: ${formatCount(lines.length, 'group')}`,
    ...lines.slice(0, FAILURES_SHOWN_MAX),
    ...(hiddenCount > 0 ? [`  and ${formatCount(hiddenCount, 'group')} more`] : []),
  ];
}

function failureText(group: GroupResult<NamedGroup>): string | undefined {
  switch (group.state) {
    case 'committed':
      return undefined;
    case 'dropped':
      return `${droppedGroupText(group.reason)} (${group.detail})`;
    case 'failed':
    case 'commit-failed':
      return `${group.error.message} (${group.error.kind})`;
    case 'not-started':
      return 'not begun, the run had no time left or had ended';
  }
}
