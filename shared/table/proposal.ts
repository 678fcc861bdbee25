import type { RowIdTally } from '../datafile/index.ts';
import type { ManifestEntry, ManifestFile, Snapshot, TableMetadata } from '../iceberg/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { CommitRequest } from './commit-request.ts';
import type { Decision } from './decide.ts';
import type { HeadFacts } from './head.ts';
import type { NewDelete } from './stage-deletes.ts';

/** What was found when an output was read back from the store. */
export type RereadOutput =
  | {
      readonly filePath: string;
      /** The object's length in bytes. */
      readonly fileSizeBytes: number;
      /** Rows of the footer, all of whose pages were walked. */
      readonly recordCount: number;
      /** Stored ids of its rows, less those whose deletes are carried; none where the file has no such column. */
      readonly rowIds: RowIdTally;
    }
  | { readonly filePath: string; readonly flaw: string };

/** What was found when a delete file was read back from the store. */
export interface RereadDelete {
  /** The delete file's, see `contentKey`. */
  readonly key: string;
  /** What it deletes of its data file. */
  readonly found: { readonly positions: RoaringBitmap } | { readonly flaw: string };
}

export interface EntryCounts {
  readonly addedFilesCount: number;
  readonly existingFilesCount: number;
  readonly deletedFilesCount: number;
  readonly addedRowsCount: number;
  readonly existingRowsCount: number;
  readonly deletedRowsCount: number;
}

/** A manifest of added files, read back from the store. */
export interface RereadAddedManifest {
  readonly manifest: ManifestFile;
  readonly counts: EntryCounts;
  /** Rows of live files that get their row ids from this manifest (v3). */
  readonly unassignedRowsCount: number;
  readonly entries: readonly ManifestEntry[];
}

/** A manifest that replaces some of the head's, read back and compared with them entry by entry. */
export interface RereadFilteredManifest {
  readonly manifest: ManifestFile;
  readonly counts: EntryCounts;
  readonly unassignedRowsCount: number;
  /** The head's manifests that it replaces, in the order of its entries. */
  readonly sources: readonly ManifestFile[];
  /** The entries that it deletes, in order, without metrics. */
  readonly deletedEntries: readonly ManifestEntry[];
  /** What is not as it must be, entry by entry; empty when all is well. */
  readonly differences: readonly string[];
}

/**
 * A commit as it would become visible: built on `base`, and everything that was written for it read back from
 * the store. Only `verifyProposal` lets it pass to the catalog.
 */
export interface CommitProposal
  extends Pick<CommitRequest, 'startingSequenceNumber'>,
    Omit<Decision, 'dropped' | 'outputDeletes'> {
  readonly base: TableMetadata;
  readonly baseMetadataLocation: string;
  readonly branch: string;
  readonly head: Snapshot;
  readonly headManifests: readonly ManifestFile[];
  readonly headFacts: HeadFacts;
  readonly snapshotId: bigint;
  /** The metadata file, read back. */
  readonly metadata: TableMetadata;
  /** The manifest list, read back. */
  readonly manifests: readonly ManifestFile[];
  /** The manifest list as it was meant to be. */
  readonly manifestsIntended: readonly ManifestFile[];
  readonly addedManifests: readonly RereadAddedManifest[];
  readonly filteredManifests: readonly RereadFilteredManifest[];
  readonly outputs: readonly RereadOutput[];
  /** Delete files that the commit adds, as they are meant. */
  readonly newDeletes: readonly NewDelete[];
  readonly rereadDeletes: readonly RereadDelete[];
}

/** Of manifests that were read back, those of data files. */
export function dataManifests<Reread extends { readonly manifest: ManifestFile }>(
  manifests: readonly Reread[],
): readonly Reread[] {
  return manifests.filter(({ manifest }) => manifest.content === 'data');
}

export function deleteManifests<Reread extends { readonly manifest: ManifestFile }>(
  manifests: readonly Reread[],
): readonly Reread[] {
  return manifests.filter(({ manifest }) => manifest.content === 'deletes');
}
