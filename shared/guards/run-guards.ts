import { commitIntervalVerdict } from './commit-interval.ts';
import { foreignMaintainerVerdict } from './foreign-maintainer.ts';
import type { RunToJudge } from './run-to-judge.ts';
import type { GuardVerdict } from './verdict.ts';
import { writeAuditPublishVerdict } from './write-audit-publish.ts';

/**
 * What the rules say of a run as a whole, in a fixed order; empty where none applies. The run may commit if none of
 * them holds it back. Each file has a rule of its own besides, see `fileAgeRule`.
 *
 * @throws invalid-config — when a property that a rule reads is malformed
 */
export function judgeRun(run: RunToJudge): readonly GuardVerdict[] {
  const verdicts = [
    foreignMaintainerVerdict(run),
    writeAuditPublishVerdict(run),
    commitIntervalVerdict(run),
  ];
  return verdicts.filter((verdict) => verdict !== undefined);
}
