import type { RewriteDeletesOptions } from './options.ts';
import type { GroupReason, PartitionWork } from './partition-work.ts';
import { type SparsePuffin, vectorsBytes } from './puffin-garbage.ts';
import type { DeleteKind, ScannedDelete, ScannedFile } from './scanned.ts';
import type { SkipCounts } from './skip-counts.ts';

/** A data file that is given a new delete file, as its entry stood when planned. */
export interface PlannedFile {
  readonly filePath: string;
  readonly recordCount: number;
  readonly dataSequenceNumber: bigint;
  /** Delete files that apply to it. */
  readonly deleteFileCount: number;
}

/** The data files of one spec and partition whose deletes are rewritten. */
export interface PlannedPartition {
  readonly specId: number;
  readonly partition: string;
  readonly files: readonly PlannedFile[];
  /** Data files, where they are live, whose vectors stay: removed position delete files would apply to them without these. */
  readonly keptPaths: readonly string[];
  /** Whether equality deletes are evaluated; otherwise they go on applying. */
  readonly isConverted: boolean;
}

/** A vector that is copied byte for byte into another Puffin file. */
export interface PlannedCopy {
  readonly deleteKey: string;
  readonly referencedDataFile: string;
  readonly dataSequenceNumber: bigint;
  readonly contentSizeBytes: number;
}

/** A delete file that leaves the table with the group. */
export interface PlannedRemoval {
  readonly deleteKey: string;
  readonly kind: DeleteKind;
  readonly recordCount: number;
  readonly contentSizeBytes: number;
  readonly dataSequenceNumber: bigint;
  /** Whether nothing needs it, as it is. */
  readonly isDangling: boolean;
}

/** What is committed as a whole or dropped as a whole. */
export interface PlannedGroup {
  /** Position in the plan; names the group in reports. */
  readonly groupIndex: number;
  readonly reasons: readonly GroupReason[];
  readonly partitions: readonly PlannedPartition[];
  readonly copies: readonly PlannedCopy[];
  /** Beside the vectors that are copied, and vectors and file-scoped delete files of the partitions' data files. */
  readonly removed: readonly PlannedRemoval[];
  /** Delete files that the group does away with. */
  readonly removedFileCount: number;
  /** Delete files and vectors that it adds, at most. */
  readonly addedFileCountMax: number;
  /** Bytes to be read: delete files, and key columns of data files at 8 bytes a row where equality deletes are evaluated. */
  readonly readBytesExpected: number;
  /** Requests to read them. */
  readonly readCountExpected: number;
}

export type NewGroup = Omit<PlannedGroup, 'groupIndex'>;

/** Of a key column, for the price: few keys are longer, and encoded ones are shorter. */
const KEY_BYTES_PER_ROW = 8;

/** Of a data file whose keys are read: its footer, and a chunk of a key column. */
const READS_PER_DATA_FILE = 2;

/** Of one or several partitions that must go together. */
export function partitionGroup(members: readonly PartitionWork[]): NewGroup {
  const files = members.flatMap((member) => member.files);
  const replaced = members.flatMap((member) => member.replaced);
  const dangling = members.flatMap((member) => member.dangling);
  // Global equality deletes are covered by each of the partitions.
  const covered = unique(members.flatMap((member) => member.covered));
  const keyed = members.filter(({ isConverted }) => isConverted).flatMap(withEqualityDeletes);
  const keyBytes = KEY_BYTES_PER_ROW * sum(keyed, ({ recordCount }) => recordCount);
  const isRead = files.length > 0;
  const read = isRead ? [...replaced, ...covered] : [];
  return {
    reasons: [...new Set(members.flatMap(({ reasons }) => reasons))].sort(),
    partitions: members.filter(hasDataFiles).map(toPlannedPartition),
    copies: [],
    removed: [
      ...covered.map((each) => toRemoval(each, false)),
      ...dangling.map((each) => toRemoval(each, true)),
    ],
    removedFileCount: replaced.length + covered.length + dangling.length,
    addedFileCountMax: files.length,
    readBytesExpected: sum(read, ({ contentSizeBytes }) => contentSizeBytes) + keyBytes,
    readCountExpected: read.length + READS_PER_DATA_FILE * keyed.length,
  };
}

/** Puffin files together while the new one keeps its size; a single one may exceed it. */
export function copyGroups(
  puffins: readonly SparsePuffin[],
  { puffinSizeBytesMax }: RewriteDeletesOptions,
): readonly NewGroup[] {
  const groups: SparsePuffin[][] = [];
  let openBytes = Number.POSITIVE_INFINITY;
  for (const puffin of puffins) {
    const addedBytes = vectorsBytes(puffin.vectors);
    if (openBytes + addedBytes > puffinSizeBytesMax) {
      groups.push([]);
      openBytes = 0;
    }
    groups.at(-1)?.push(puffin);
    openBytes += addedBytes;
  }
  return groups.map(copyGroup);
}

function copyGroup(puffins: readonly SparsePuffin[]): NewGroup {
  const vectors = puffins.flatMap((puffin) => puffin.vectors);
  return {
    reasons: ['puffin-garbage'],
    partitions: [],
    copies: vectors.map((vector) => ({
      deleteKey: vector.deleteKey,
      referencedDataFile: vector.referencedDataFile ?? '',
      dataSequenceNumber: vector.dataSequenceNumber,
      contentSizeBytes: vector.contentSizeBytes,
    })),
    removed: [],
    removedFileCount: vectors.length,
    addedFileCountMax: vectors.length,
    readBytesExpected: sum(vectors, ({ contentSizeBytes }) => contentSizeBytes),
    readCountExpected: vectors.length,
  };
}

/** Groups in order while their data files fit; the first is taken however large it is, since a group cannot be cut. */
export function withinBudget(
  groups: readonly NewGroup[],
  { filesToRewriteMax, isFirst }: { readonly filesToRewriteMax: number; readonly isFirst: boolean },
  skips: SkipCounts,
): readonly NewGroup[] {
  let budget = filesToRewriteMax;
  let isAnyTaken = !isFirst;
  return groups.filter((group) => {
    const fileCount = fileCountOf(group);
    const isTaken = fileCount === 0 || fileCount <= budget || !isAnyTaken;
    if (isTaken) {
      budget -= fileCount;
      isAnyTaken ||= fileCount > 0;
      return true;
    }
    skips.add('max-files-to-rewrite', {
      partitionCount: group.partitions.length,
      deleteFileCount: group.removedFileCount,
    });
    return false;
  });
}

/** Data files that the group gives another delete file. */
export function fileCountOf({ partitions, copies }: NewGroup): number {
  return sum(partitions, ({ files }) => files.length) + copies.length;
}

function hasDataFiles({ files, keptPaths }: PartitionWork): boolean {
  return files.length + keptPaths.length > 0;
}

function withEqualityDeletes({ files }: PartitionWork): readonly ScannedFile[] {
  return files.filter(({ equalityDeleteCount }) => equalityDeleteCount > 0);
}

function unique(deletes: readonly ScannedDelete[]): readonly ScannedDelete[] {
  return [...new Map(deletes.map((each) => [each.deleteKey, each])).values()];
}

function toPlannedPartition(work: PartitionWork): PlannedPartition {
  const { place, files, keptPaths, isConverted } = work;
  const { specId, partition } = place;
  return { specId, partition, isConverted, files: files.map(toPlannedFile), keptPaths };
}

function toPlannedFile(file: ScannedFile): PlannedFile {
  const { filePath, recordCount, dataSequenceNumber } = file;
  const deleteFileCount =
    file.vectorKeys.length +
    file.fileScopedKeys.length +
    file.partitionScopedKeys.length +
    file.equalityDeleteCount;
  return { filePath, recordCount, dataSequenceNumber, deleteFileCount };
}

function toRemoval(deleteFile: ScannedDelete, isDangling: boolean): PlannedRemoval {
  const { deleteKey, kind, recordCount, contentSizeBytes, dataSequenceNumber } = deleteFile;
  return { deleteKey, kind, recordCount, contentSizeBytes, dataSequenceNumber, isDangling };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
