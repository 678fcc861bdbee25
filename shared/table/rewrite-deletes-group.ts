import type { DataFile, ManifestEntry } from '../iceberg/index.ts';
import type { ReplaceInput } from './replace-group.ts';

/** A delete file that takes the place of others, complete in the store. */
export interface AddedDelete {
  /** A vector (v3), or a position delete file of one data file (v2). */
  readonly dataFile: DataFile;
  /** That of the newest delete it was made of, or higher; absent: inherited from the commit. */
  readonly dataSequenceNumber?: bigint;
}

/** A live data file whose deletes are rewritten. It stays as it is. */
export interface CoveredDataFile {
  /**
   * Its `deletes` are those that the added delete holds: together, rows deleted by position and rows matched by
   * equality, are exactly its positions. In v3 all position deletes that apply must be among them, since a vector makes
   * readers ignore the others.
   */
  readonly input: ReplaceInput;
  /** Absent where the deletes that were read delete none of its rows. */
  readonly addedDelete?: AddedDelete;
}

/**
 * Delete files that leave the table, and what takes their place: the rows that are deleted stay the same. Deletes that
 * nothing needs (dangling ones) are removed by a group without data files.
 */
export interface RewriteDeletesGroup {
  /** The caller's name for the group. */
  readonly groupIndex: number;
  /**
   * For each delete that is removed, every live data file that it applies to must be covered, by this group or another
   * one of the same commit.
   */
  readonly dataFiles: readonly CoveredDataFile[];
  /** Entries as they were read, at least one. */
  readonly removedDeletes: readonly ManifestEntry[];
}
