import type { JsonObject } from '../../base/index.ts';
import type { GuardVerdict } from '../../guards/index.ts';
import type { GroupResult, RewriteDataFilesOutcome } from './outcome.ts';
import { planToJson } from './plan-json.ts';

/** An outcome as JSON, for `--json`, reports and logs: ids are decimal strings, sizes are bytes. */
export function outcomeToJson(outcome: RewriteDataFilesOutcome): JsonObject {
  const requests = { ...outcome.requests };
  switch (outcome.outcome) {
    case 'no-snapshot':
      return { outcome: outcome.outcome, requests };
    case 'busy': {
      const { owner, expiresAtMs } = outcome;
      return { outcome: outcome.outcome, owner, expiresAtMs, requests };
    }
    case 'skipped': {
      const { reason, detail } = outcome;
      return { outcome: outcome.outcome, reason, detail, requests };
    }
    case 'nothing-planned':
    case 'observed':
    case 'held-back': {
      const { plan, before, verdicts } = outcome;
      return {
        outcome: outcome.outcome,
        before: { ...before },
        verdicts: verdicts.map(verdictToJson),
        plan: planToJson(plan),
        requests,
      };
    }
    case 'committed':
    case 'partial': {
      const { plan, before, after, groups, commits, verdicts } = outcome;
      return {
        outcome: outcome.outcome,
        before: { ...before },
        after: { ...after },
        commits: commits.map(({ snapshotId, groupIndexes, invariants, ...commit }) => ({
          ...commit,
          snapshotId: String(snapshotId),
          groupIndexes: [...groupIndexes],
          invariants: [...invariants],
        })),
        groups: groups.map(groupResultToJson),
        verdicts: verdicts.map(verdictToJson),
        plan: planToJson(plan),
        requests,
      };
    }
  }
}

function verdictToJson(verdict: GuardVerdict): JsonObject {
  return { ...verdict, figures: { ...verdict.figures } };
}

/** What became of a group. */
export function groupResultToJson(group: GroupResult): JsonObject {
  switch (group.state) {
    case 'not-started':
      return { ...group };
    case 'failed':
      return { ...group, error: { kind: group.error.kind, message: group.error.message } };
    case 'committed': {
      const { snapshotId, columnChunks, ...rest } = group;
      return { ...rest, snapshotId: String(snapshotId), columnChunks: { ...columnChunks } };
    }
    case 'commit-failed': {
      const { error, columnChunks, ...rest } = group;
      const { kind, message } = error;
      return { ...rest, error: { kind, message }, columnChunks: { ...columnChunks } };
    }
    case 'dropped':
      return { ...group, columnChunks: { ...group.columnChunks } };
  }
}
