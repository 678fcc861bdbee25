import type { UnreadableReason } from '../../deletes/index.ts';
import type { FormatVersion } from '../../iceberg/index.ts';

/** A vector is of one data file; `file-scoped` and `partition-scoped` are position delete files (v2). */
export type DeleteKind = 'vector' | 'file-scoped' | 'partition-scoped' | 'equality';

/** Where files belong. */
export interface ScannedPartition {
  readonly specId: number;
  /** Equal exactly for files of the same spec and partition; sorts groups. */
  readonly partitionKey: string;
  /** For people, such as `region=eu/day=2026-11-30`; empty when unpartitioned. */
  readonly partition: string;
  /** False for a spec with a transform that Firn does not know: nobody may write manifests of it then. */
  readonly isSpecWritable: boolean;
  /** When no writer has touched it for long enough; absent where that is so already. */
  readonly dueAtMs?: number;
}

/** A live delete file of the planned snapshot, with what planning needs of it. */
export interface ScannedDelete extends ScannedPartition {
  /** One for each delete file, and for each vector of a Puffin file. */
  readonly deleteKey: string;
  readonly filePath: string;
  readonly kind: DeleteKind;
  /** Equality deletes of an unpartitioned spec, which apply to the data files of all specs. */
  readonly isGlobal: boolean;
  readonly recordCount: number;
  /** Of the object; that of a vector may hold others. */
  readonly fileSizeBytes: number;
  /** A vector's own; the object's size for the other kinds. */
  readonly contentSizeBytes: number;
  readonly dataSequenceNumber: bigint;
  /** Of vectors and file-scoped deletes. */
  readonly referencedDataFile?: string;
  readonly unreadable?: UnreadableReason;
}

/** A live data file of the planned snapshot. */
export interface ScannedFile extends ScannedPartition {
  readonly filePath: string;
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  readonly dataSequenceNumber: bigint;
  /** Keys of the delete files that apply to it, but for equality deletes: all younger ones of their scope do. */
  readonly vectorKeys: readonly string[];
  readonly fileScopedKeys: readonly string[];
  readonly partitionScopedKeys: readonly string[];
  readonly equalityDeleteCount: number;
  /** Of its key columns. */
  readonly unreadable?: UnreadableReason;
}

/** Bytes of the manifests that have live files. */
export interface ManifestBytes {
  readonly dataManifestBytes: number;
  readonly deleteManifestBytes: number;
}

/** The state of the table that a plan was made of. */
export interface PlanBase {
  readonly tableUuid: string | undefined;
  readonly metadataLocation: string;
  readonly branch: string;
  readonly startingSnapshotId: bigint;
  readonly startingSequenceNumber: bigint;
  readonly formatVersion: FormatVersion;
  /** v2: whether position delete files of a whole partition are split into such of one data file. */
  readonly splitsPartitionScoped: boolean;
}
