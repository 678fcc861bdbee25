import type { JsonObject } from '../../base/index.ts';
import { commitToJson, verdictToJson } from '../../maintenance/index.ts';
import type { DeleteGroupResult, RewriteDeletesOutcome } from './outcome.ts';
import type { RewriteDeletesPlan } from './plan.ts';
import type { PlannedGroup } from './planned-group.ts';

/** Grows by one with every change that a reader of plans would notice. */
const PLAN_VERSION = 1;

/** The plan as JSON, for people, reports and messages: ids are decimal strings, sizes are bytes. */
export function planToJson(plan: RewriteDeletesPlan): JsonObject {
  const { base, options, groups, deleteManifestRatio, skipped, dueAtMs } = plan;
  return {
    planVersion: PLAN_VERSION,
    tableUuid: base.tableUuid ?? null,
    metadataLocation: base.metadataLocation,
    branch: base.branch,
    startingSnapshotId: String(base.startingSnapshotId),
    startingSequenceNumber: String(base.startingSequenceNumber),
    formatVersion: base.formatVersion,
    splitsPartitionScoped: base.splitsPartitionScoped,
    options: { ...options },
    deleteManifestRatio,
    groups: groups.map(groupToJson),
    skipped: Object.fromEntries(
      Object.entries(skipped)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([reason, counts]) => [reason, { ...counts }]),
    ),
    dueAtMs: dueAtMs ?? null,
  };
}

function groupToJson({ reasons, partitions, copies, removed, ...group }: PlannedGroup): JsonObject {
  return {
    ...group,
    reasons: [...reasons],
    partitions: partitions.map(({ files, keptPaths, ...partition }) => ({
      ...partition,
      files: files.map(withNumberText),
      keptPaths: [...keptPaths],
    })),
    copies: copies.map(withNumberText),
    removed: removed.map(withNumberText),
  };
}

function withNumberText<Item extends { readonly dataSequenceNumber: bigint }>({
  dataSequenceNumber,
  ...rest
}: Item) {
  return { ...rest, dataSequenceNumber: String(dataSequenceNumber) };
}

/** An outcome as JSON, for `--json`, reports and logs. */
export function outcomeToJson(outcome: RewriteDeletesOutcome): JsonObject {
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
    case 'held-back':
      return { outcome: outcome.outcome, ...plannedToJson(outcome), requests };
    case 'committed':
    case 'partial':
      return {
        outcome: outcome.outcome,
        commits: outcome.commits.map(commitToJson),
        groups: outcome.groups.map(groupResultToJson),
        ...plannedToJson(outcome),
        requests,
      };
  }
}

function plannedToJson({
  plan,
  before,
  verdicts,
}: Extract<RewriteDeletesOutcome, { readonly plan: unknown }>): JsonObject {
  return {
    before: { ...before },
    verdicts: verdicts.map(verdictToJson),
    plan: planToJson(plan),
  };
}

/** What became of a group. */
export function groupResultToJson(group: DeleteGroupResult): JsonObject {
  switch (group.state) {
    case 'not-started':
    case 'dropped':
      return { ...group };
    case 'committed':
      return { ...group, snapshotId: String(group.snapshotId) };
    case 'failed':
    case 'commit-failed':
      return { ...group, error: { kind: group.error.kind, message: group.error.message } };
  }
}
