import {
  isUnpartitioned,
  type ManifestEntry,
  type ManifestFile,
  type PartitionSpec,
  referencedDataFile,
} from '../../iceberg/index.ts';
import type { RewriteDataFilesOptions } from './options.ts';
import { isSizeWanted } from './select.ts';

/** What is remembered of one manifest, which never changes under its name: its live files, summed, and which partitions have some. */
export interface ManifestTally {
  readonly manifestPath: string;
  readonly content: 'data' | 'deletes';
  readonly fileCount: number;
  readonly bytes: number;
  readonly rowGroupCount: number;
  readonly recordCount: number;
  /** Whether it has equality deletes that apply to every partition. */
  readonly hasGlobalDeletes: boolean;
  /**
   * Hashes of partitions, ascending. Of a data manifest: those with a file that is selected for its size. Of a delete
   * manifest: those with a delete file of one data file, which may be selected for its deleted rows.
   */
  readonly markedPartitions: Uint32Array;
  /** Those with other files only. */
  readonly otherPartitions: Uint32Array;
}

/** Collects the tallies of manifests whose live entries are shown one by one. */
export interface TallyBook {
  add(entry: ManifestEntry, manifest: ManifestFile, partitionHash: number): void;
  /** One tally for each of the manifests; an empty one where nothing was shown. */
  finish(manifests: readonly ManifestFile[]): readonly ManifestTally[];
}

interface OpenTally {
  readonly counts: {
    fileCount: number;
    bytes: number;
    rowGroupCount: number;
    recordCount: number;
    hasGlobalDeletes: boolean;
  };
  readonly marked: Set<number>;
  readonly others: Set<number>;
}

/** @param specs every spec of the table */
export function createTallyBook(
  options: RewriteDataFilesOptions,
  specs: readonly PartitionSpec[],
): TallyBook {
  const isGlobal = globalDeleteTest(specs);
  const open = new Map<string, OpenTally>();
  return {
    add(entry, manifest, partitionHash) {
      const tally = open.get(manifest.manifestPath) ?? newTally();
      open.set(manifest.manifestPath, tally);
      const { counts, marked, others } = tally;
      const { dataFile } = entry;
      counts.fileCount++;
      counts.bytes += dataFile.fileSizeBytes;
      counts.rowGroupCount += dataFile.splitOffsets?.length ?? 1;
      counts.recordCount += dataFile.recordCount;
      if (isGlobal(entry)) counts.hasGlobalDeletes = true;
      const isMarked =
        dataFile.content === 'data'
          ? !isSizeWanted(dataFile.fileSizeBytes, options)
          : referencedDataFile(entry) !== undefined;
      (isMarked ? marked : others).add(partitionHash);
    },
    finish: (manifests) =>
      manifests.map(({ manifestPath, content }) => {
        const { counts, marked, others } = open.get(manifestPath) ?? newTally();
        for (const hash of marked) others.delete(hash);
        return {
          manifestPath,
          content,
          ...counts,
          markedPartitions: Uint32Array.from(marked).sort(),
          otherPartitions: Uint32Array.from(others).sort(),
        };
      }),
  };
}

function newTally(): OpenTally {
  return {
    counts: { fileCount: 0, bytes: 0, rowGroupCount: 0, recordCount: 0, hasGlobalDeletes: false },
    marked: new Set(),
    others: new Set(),
  };
}

/** Whether an entry is an equality delete file that applies to all partitions. @see Iceberg spec, "Scan Planning" */
export function globalDeleteTest(
  specs: readonly PartitionSpec[],
): (entry: ManifestEntry) => boolean {
  const globalSpecIds = new Set(specs.filter(isUnpartitioned).map(({ specId }) => specId));
  return ({ specId, dataFile }) =>
    dataFile.content === 'equality-deletes' && globalSpecIds.has(specId);
}
