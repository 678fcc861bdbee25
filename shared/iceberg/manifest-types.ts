import type { AvroValue } from '../avro/index.ts';
import type { JsonObject } from '../base/index.ts';
import type { Partition } from './types.ts';

/** Fields of a manifest or manifest list that Firn does not know, kept with their Avro schema. */
export interface UnknownField {
  /** The Avro field of the file's schema (name, type, field-id, default); its type stands alone. */
  readonly avroField: JsonObject;
  readonly value: AvroValue;
}

export interface FieldSummary {
  readonly containsNull: boolean;
  readonly containsNan?: boolean;
  /** Single-value serialization of the partition field's result type. */
  readonly lowerBound?: Uint8Array;
  readonly upperBound?: Uint8Array;
}

/** One entry of a manifest list. @see Iceberg spec, "Manifest Lists" */
export interface ManifestFile {
  readonly manifestPath: string;
  readonly manifestLengthBytes: number;
  readonly partitionSpecId: number;
  readonly content: 'data' | 'deletes';
  /** 0n in v1. */
  readonly sequenceNumber: bigint;
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint;
  /** Counts may be absent in v1: then assume that such files exist. */
  readonly addedFilesCount?: number;
  readonly existingFilesCount?: number;
  readonly deletedFilesCount?: number;
  readonly addedRowsCount?: number;
  readonly existingRowsCount?: number;
  readonly deletedRowsCount?: number;
  readonly partitions?: readonly FieldSummary[];
  readonly keyMetadata?: Uint8Array;
  /** v3 data manifests only. */
  readonly firstRowId?: bigint;
  readonly unknownFields: readonly UnknownField[];
}

export type FileContent = 'data' | 'position-deletes' | 'equality-deletes';

/** A data or delete file. @see Iceberg spec, "Data File Fields" */
export interface DataFile {
  readonly content: FileContent;
  readonly filePath: string;
  /** As written: usually upper case (`PARQUET`, `ORC`, `AVRO`, `PUFFIN`); compare without case. */
  readonly fileFormat: string;
  readonly partition: Partition;
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  /** By field id, as written (not checked). Maps that are absent are unknown, not empty. */
  readonly columnSizes?: ReadonlyMap<number, number>;
  readonly valueCounts?: ReadonlyMap<number, number>;
  readonly nullValueCounts?: ReadonlyMap<number, number>;
  readonly nanValueCounts?: ReadonlyMap<number, number>;
  /** Single-value serialization, possibly truncated. */
  readonly lowerBounds?: ReadonlyMap<number, Uint8Array>;
  readonly upperBounds?: ReadonlyMap<number, Uint8Array>;
  readonly keyMetadata?: Uint8Array;
  readonly splitOffsets?: readonly number[];
  readonly equalityIds?: readonly number[];
  readonly sortOrderId?: number;
  /** v3 data files: resolved by the reader (inherited from the manifest where the entry has none). */
  readonly firstRowId?: bigint;
  readonly referencedDataFile?: string;
  readonly contentOffset?: number;
  readonly contentSizeBytes?: number;
  readonly unknownFields: readonly UnknownField[];
}

/** One entry of a manifest, with inheritance resolved. @see Iceberg spec, "Manifest Entry Fields" */
export interface ManifestEntry {
  readonly status: 'existing' | 'added' | 'deleted';
  /** Of the snapshot that added the file, or deleted it where the status says so. */
  readonly snapshotId: bigint;
  /** −1n in a deleted entry of old writers that left it out; nothing may be concluded from it, or written. */
  readonly dataSequenceNumber: bigint;
  /** Absent where it is not known: existing and deleted entries of writers before Iceberg 1.1. */
  readonly fileSequenceNumber?: bigint;
  readonly specId: number;
  readonly dataFile: DataFile;
  readonly unknownFields: readonly UnknownField[];
}
