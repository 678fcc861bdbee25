import type { RewriteDeletesOptions } from './options.ts';
import { type PartitionWork, partitionWorks } from './partition-work.ts';
import {
  copyGroups,
  fileCountOf,
  type NewGroup,
  type PlannedGroup,
  partitionGroup,
  withinBudget,
} from './planned-group.ts';
import { sparsePuffins } from './puffin-garbage.ts';
import type { ManifestBytes, PlanBase, ScannedDelete, ScannedFile } from './scanned.ts';
import { createSkipCounts, type SkippedByReason } from './skip-counts.ts';
import { TableDeletes } from './table-deletes.ts';

/** Everything one run would do, and why; a pure function of the scanned files and the options. */
export interface RewriteDeletesPlan {
  readonly base: PlanBase;
  readonly options: RewriteDeletesOptions;
  readonly groups: readonly PlannedGroup[];
  /** Bytes of delete manifests, of those of data manifests; 0 without data. */
  readonly deleteManifestRatio: number;
  /** Partitions, and Puffin files, that are left as they are. */
  readonly skipped: SkippedByReason;
  /** When the first of the partitions that are too warm will be cold; absent where none is. */
  readonly dueAtMs?: number;
}

/** Takes delete files one by one, then data files one by one, each in any order, and then plans. */
export interface PlanBuilder {
  addDelete(deleteFile: ScannedDelete): void;
  /** After all deletes. */
  addFile(file: ScannedFile): void;
  build(manifests: ManifestBytes): RewriteDeletesPlan;
}

/**
 * Plans a rewrite of deletes. Memory grows with the delete files and the data files that they apply to. The plan does
 * not depend on the order of files.
 *
 * @see README.md for what is selected
 */
export function createPlanBuilder(base: PlanBase, options: RewriteDeletesOptions): PlanBuilder {
  const table = new TableDeletes();
  return {
    addDelete: (deleteFile) => table.addDelete(deleteFile),
    addFile: (file) => table.addFile(file),
    build({ dataManifestBytes, deleteManifestBytes }) {
      const skips = createSkipCounts();
      const deleteManifestRatio =
        dataManifestBytes === 0 ? 0 : deleteManifestBytes / dataManifestBytes;
      const judged = { base, options, deleteManifestRatio, deleteManifestBytes };
      const works = partitionWorks(table, judged, skips);
      const { filesToRewriteMax } = options;
      const chosen = withinBudget(
        components(works).map(partitionGroup),
        { filesToRewriteMax, isFirst: true },
        skips,
      );
      const fileCount = chosen.reduce((sum, group) => sum + fileCountOf(group), 0);
      // A data file is covered by one group: vectors that others rely on are copied by another run.
      const coveredPaths = new Set(chosen.flatMap(pathsOf));
      const puffins = sparsePuffins(table, { coveredPaths, options }, skips);
      const copies = withinBudget(
        copyGroups(puffins, options),
        { filesToRewriteMax: filesToRewriteMax - fileCount, isFirst: fileCount === 0 },
        skips,
      );
      const dueAtMs = skips.firstDueAtMs();
      return {
        base,
        options,
        groups: [...chosen, ...copies].map((group, groupIndex) => ({ groupIndex, ...group })),
        deleteManifestRatio,
        skipped: skips.byReason(),
        ...(dueAtMs === undefined ? {} : { dueAtMs }),
      };
    },
  };
}

function pathsOf({ partitions }: NewGroup): readonly string[] {
  return partitions.flatMap(({ files, keptPaths }) => [
    ...files.map(({ filePath }) => filePath),
    ...keptPaths,
  ]);
}

/** Partitions that one commit must cover together: those that global equality deletes are converted of. Others stand alone. */
function components(works: readonly PartitionWork[]): readonly (readonly PartitionWork[])[] {
  const linked = works.filter(({ convertsGlobal }) => convertsGlobal);
  const alone = works.filter(({ convertsGlobal }) => !convertsGlobal).map((work) => [work]);
  return linked.length === 0 ? alone : [linked, ...alone];
}
