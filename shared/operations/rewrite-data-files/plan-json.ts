import type { JsonObject } from '../../base/index.ts';
import type { FileDeletes } from './file-deletes.ts';
import type { PlannedFile, PlannedGroup } from './group-files.ts';
import type { RewriteDataFilesPlan } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';

/** Grows by one with every change that a reader of plans would notice. */
const PLAN_VERSION = 3;

/** The plan as JSON, for people, reports and messages: ids are decimal strings, sizes are bytes. */
export function planToJson(plan: RewriteDataFilesPlan): JsonObject {
  const { base, scope, options, groups, scanned, skippedFiles, skippedGroups } = plan;
  return {
    planVersion: PLAN_VERSION,
    tableUuid: base.tableUuid ?? null,
    metadataLocation: base.metadataLocation,
    branch: base.branch,
    startingSnapshotId: String(base.startingSnapshotId),
    startingSequenceNumber: String(base.startingSequenceNumber),
    formatVersion: base.formatVersion,
    verifiesRows: base.verifiesRows,
    deletesTreatment: base.deletesTreatment,
    scope: scopeToJson(scope),
    options: { ...options },
    groups: groups.map(groupToJson),
    scanned: { ...scanned },
    skippedFiles: byReason(skippedFiles),
    skippedGroups: byReason(skippedGroups),
    dueAtMs: plan.dueAtMs ?? null,
  };
}

/** What of the table the plan was made of. */
export function scopeToJson(scope: PlanScope): JsonObject {
  if (scope.kind === 'full') return { ...scope };
  return { ...scope, sinceSnapshotId: String(scope.sinceSnapshotId) };
}

function groupToJson({ files, partitionKey: _, deletes, ...group }: PlannedGroup): JsonObject {
  return { ...group, deletes: deletesToJson(deletes), files: files.map(fileToJson) };
}

function fileToJson(file: PlannedFile): JsonObject {
  return {
    ...file,
    dataSequenceNumber: String(file.dataSequenceNumber),
    fileSequenceNumber:
      file.fileSequenceNumber === undefined ? null : String(file.fileSequenceNumber),
    firstRowId: file.firstRowId === undefined ? null : String(file.firstRowId),
    deletes: deletesToJson(file.deletes),
  };
}

function deletesToJson(deletes: FileDeletes | undefined): JsonObject | null {
  if (deletes === undefined) return null;
  const { fileScoped, partitionScoped, equality } = deletes;
  return {
    fileScoped: { ...fileScoped },
    partitionScoped: { ...partitionScoped },
    equality: { ...equality },
  };
}

/** Sorted by reason, so that equal plans give equal text. */
function byReason(counts: Readonly<Record<string, object>>): JsonObject {
  const entries = Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([reason, count]) => [reason, { ...count }]));
}
