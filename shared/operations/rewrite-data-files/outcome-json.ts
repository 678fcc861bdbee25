import type { JsonObject } from '../../base/index.ts';
import { commitToJson, verdictToJson } from '../../maintenance/index.ts';
import { deletesOf } from './deletes-done.ts';
import type { GroupOutputs, RewriteDataFilesOutcome, RewriteGroupResult } from './outcome.ts';
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
        deletes: { ...deletesOf(outcome) },
        commits: commits.map(commitToJson),
        groups: groups.map(groupResultToJson),
        verdicts: verdicts.map(verdictToJson),
        plan: planToJson(plan),
        requests,
      };
    }
  }
}

/** What became of a group. */
export function groupResultToJson(group: RewriteGroupResult): JsonObject {
  switch (group.state) {
    case 'not-started':
      return { ...group };
    case 'failed':
      return { ...group, error: { kind: group.error.kind, message: group.error.message } };
    case 'committed':
      return { ...group, snapshotId: String(group.snapshotId), ...countsToJson(group) };
    case 'commit-failed': {
      const { kind, message } = group.error;
      return { ...group, error: { kind, message }, ...countsToJson(group) };
    }
    case 'dropped':
      return { ...group, ...countsToJson(group) };
  }
}

function countsToJson({ columnChunks, deletes }: GroupOutputs) {
  return { columnChunks: { ...columnChunks }, deletes: { ...deletes } };
}
