import type { DeleteTreatment } from '../../datafile/index.ts';
import type { FormatVersion } from '../../iceberg/index.ts';
import {
  type Candidate,
  compareCandidates,
  type KeptGroup,
  keepGroup,
  type PlannedGroup,
  packGroups,
  toCandidate,
} from './group-files.ts';
import type { RewriteDataFilesOptions, RewriteJobOrder } from './options.ts';
import { type PlanScope, WHOLE_TABLE } from './plan-scope.ts';
import { type ScannedFile, selectFile } from './select.ts';
import {
  createSkipCounts,
  type SkipCounts,
  type SkippedFiles,
  type SkippedFilesByReason,
  type SkippedGroupsByReason,
} from './skip-counts.ts';

/** The state of the table that a plan was made of. */
export interface PlanBase {
  readonly tableUuid: string | undefined;
  readonly metadataLocation: string;
  readonly branch: string;
  readonly startingSnapshotId: bigint;
  readonly startingSequenceNumber: bigint;
  readonly formatVersion: FormatVersion;
  /** Whether all rows are read again before and after, as `firn.verify=rows` asks for. */
  readonly verifiesRows: boolean;
  /** What becomes of deleted rows, as `firn.rewrite-data-files.deletes` says. */
  readonly deletesTreatment: DeletesTreatment;
}

/** `auto`: whichever is cheaper for a file; see `DeleteTreatment` of `datafile` for the others. */
export type DeletesTreatment = 'auto' | DeleteTreatment;

/** Everything one run would do, and why; a pure function of the scanned files and the options. */
export interface RewriteDataFilesPlan {
  readonly base: PlanBase;
  readonly scope: PlanScope;
  readonly options: RewriteDataFilesOptions;
  /** In the order in which they are run. Those, and everything counted below, are of the scope. */
  readonly groups: readonly PlannedGroup[];
  readonly scanned: SkippedFiles;
  readonly skippedFiles: SkippedFilesByReason;
  readonly skippedGroups: SkippedGroupsByReason;
  /** When the first of the files that are too young will be old enough; absent where none is too young. */
  readonly dueAtMs?: number;
}

/** Takes files one by one in any order, keeps those selected, and then plans. */
export interface PlanBuilder {
  add(file: ScannedFile): void;
  build(scope?: PlanScope): RewriteDataFilesPlan;
  /** Partitions in which something is left that no group has: files too young, or beyond the budget. Complete once the plan is built. */
  readonly leftPartitionKeys: ReadonlySet<string>;
}

/**
 * Plans a rewrite. Memory grows with the selected files, not with the table. The plan does not depend on the
 * order in which files are added.
 *
 * @see Iceberg Java, `BinPackRewriteFilePlanner`; where Firn differs is said in this folder's README
 */
export function createPlanBuilder(base: PlanBase, options: RewriteDataFilesOptions): PlanBuilder {
  const candidates: Candidate[] = [];
  const skips = createSkipCounts();
  const scanned = { fileCount: 0, bytes: 0 };
  const leftPartitionKeys = new Set<string>();
  let dueAtMs = Number.POSITIVE_INFINITY;
  return {
    leftPartitionKeys,
    add(file) {
      scanned.fileCount++;
      scanned.bytes += file.fileSizeBytes;
      const selection = selectFile(file, options);
      if ('selected' in selection) {
        candidates.push(toCandidate(file, selection.selected, options));
        return;
      }
      skips.addFile(selection.skipped, file.fileSizeBytes);
      if (selection.skipped !== 'too-young') return;
      leftPartitionKeys.add(file.partitionKey);
      dueAtMs = Math.min(dueAtMs, file.dueAtMs ?? dueAtMs);
    },
    build(scope = WHOLE_TABLE) {
      const usable = withoutDuplicates(candidates, skips).sort(compareCandidates);
      const packed = packGroups(usable, options);
      const worthwhile = packed.flatMap((files) => keepGroup(files, options, skips) ?? []);
      const budgeted = applyFileBudget(worthwhile, options, { skips, leftPartitionKeys });
      const groups = budgeted.map((group, groupIndex) => ({ ...group, groupIndex }));
      return {
        base,
        scope,
        options,
        groups: sortByJobOrder(groups, options.rewriteJobOrder),
        scanned: { ...scanned },
        skippedFiles: skips.files(),
        skippedGroups: skips.groups(),
        ...(Number.isFinite(dueAtMs) ? { dueAtMs } : {}),
      };
    },
  };
}

/** A path that is referenced twice holds its rows twice, which a rewrite cannot keep; no commit would take it. */
function withoutDuplicates(candidates: readonly Candidate[], skips: SkipCounts): Candidate[] {
  const byPath = Map.groupBy(candidates, (file) => file.filePath);
  return candidates.filter((file) => {
    const isOnce = byPath.get(file.filePath)?.length === 1;
    if (!isOnce) skips.addFile('referenced-twice', file.fileSizeBytes);
    return isOnce;
  });
}

/** Takes files in plan order up to the budget; the group that is cut is judged again by what is left of it. */
function applyFileBudget(
  groups: readonly KeptGroup[],
  options: RewriteDataFilesOptions,
  {
    skips,
    leftPartitionKeys,
  }: { readonly skips: SkipCounts; readonly leftPartitionKeys: Set<string> },
): readonly Omit<PlannedGroup, 'groupIndex'>[] {
  let budget = options.filesToRewriteMax;
  return groups.flatMap(({ candidates, ...group }) => {
    const taken = candidates.slice(0, budget);
    for (const file of candidates.slice(budget)) {
      skips.addFile('max-files-to-rewrite', file.fileSizeBytes);
      leftPartitionKeys.add(file.partitionKey);
    }
    budget -= taken.length;
    if (taken.length === candidates.length) return [group];
    const cut = taken.length === 0 ? undefined : keepGroup(taken, options, skips);
    if (cut === undefined) return [];
    const { candidates: _, ...cutGroup } = cut;
    return [cutGroup];
  });
}

function sortByJobOrder(
  groups: readonly PlannedGroup[],
  order: RewriteJobOrder,
): readonly PlannedGroup[] {
  const sorted = [...groups];
  switch (order) {
    case 'none':
      return sorted;
    case 'bytes-asc':
      return sorted.sort((a, b) => a.inputBytes - b.inputBytes);
    case 'bytes-desc':
      return sorted.sort((a, b) => b.inputBytes - a.inputBytes);
    case 'files-asc':
      return sorted.sort((a, b) => a.files.length - b.files.length);
    case 'files-desc':
      return sorted.sort((a, b) => b.files.length - a.files.length);
  }
}
