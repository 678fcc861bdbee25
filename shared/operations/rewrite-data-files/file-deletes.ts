import type { AttachedDeletes, ManifestEntry } from '../../iceberg/index.ts';

/** Some delete files, as their entries describe them. */
export interface DeleteTally {
  readonly fileCount: number;
  /** Rows of the delete files: what they delete is no more for position deletes, and anything for equality deletes. */
  readonly rowCount: number;
  /** Of a vector its own, of other delete files the object's. */
  readonly bytes: number;
}

/** The delete files that apply to a data file; of a group, each once. */
export interface FileDeletes {
  /** Vectors, and position delete files that name one data file alone. */
  readonly fileScoped: DeleteTally;
  /** Position delete files that may name any data file of the partition. */
  readonly partitionScoped: DeleteTally;
  readonly equality: DeleteTally;
}

const NO_TALLY: DeleteTally = { fileCount: 0, rowCount: 0, bytes: 0 };

/** Undefined where nothing applies. */
export function fileDeletesOf(attached: AttachedDeletes): FileDeletes | undefined {
  const deletes = {
    fileScoped: tallyOf([...attached.deletionVectors, ...attached.fileScopedPositionDeleteFiles]),
    partitionScoped: tallyOf(attached.partitionScopedPositionDeleteFiles),
    equality: tallyOf(attached.equalityDeleteFiles),
  };
  return deleteFileCount(deletes) === 0 ? undefined : deletes;
}

function tallyOf(entries: readonly ManifestEntry[]): DeleteTally {
  if (entries.length === 0) return NO_TALLY;
  const tally = { fileCount: entries.length, rowCount: 0, bytes: 0 };
  for (const { dataFile } of entries) {
    tally.rowCount += dataFile.recordCount;
    tally.bytes += dataFile.contentSizeBytes ?? dataFile.fileSizeBytes;
  }
  return tally;
}

export function deleteFileCount(deletes: FileDeletes | undefined): number {
  if (deletes === undefined) return 0;
  const { fileScoped, partitionScoped, equality } = deletes;
  return fileScoped.fileCount + partitionScoped.fileCount + equality.fileCount;
}

/**
 * The delete files that apply to data files of one spec and partition. What is not of one data file alone applies to every
 * data file that is old enough: so the data file that it applies to most has all of it.
 */
export function groupDeletesOf(files: readonly { readonly deletes?: FileDeletes }[]): FileDeletes {
  let sum: FileDeletes = { fileScoped: NO_TALLY, partitionScoped: NO_TALLY, equality: NO_TALLY };
  for (const { deletes } of files) {
    if (deletes === undefined) continue;
    const { fileScoped, partitionScoped, equality } = deletes;
    sum = {
      fileScoped: {
        fileCount: sum.fileScoped.fileCount + fileScoped.fileCount,
        rowCount: sum.fileScoped.rowCount + fileScoped.rowCount,
        bytes: sum.fileScoped.bytes + fileScoped.bytes,
      },
      partitionScoped: larger(sum.partitionScoped, partitionScoped),
      equality: larger(sum.equality, equality),
    };
  }
  return sum;
}

function larger(one: DeleteTally, other: DeleteTally): DeleteTally {
  return other.fileCount > one.fileCount ? other : one;
}
