import type { JsonObject } from '../base/index.ts';
import type { PartitionSpec, Schema, SortOrder } from './types.ts';

export type FormatVersion = 1 | 2 | 3;

export type SnapshotOperation = 'append' | 'replace' | 'overwrite' | 'delete';

/** @see Iceberg spec, "Snapshots" */
export interface Snapshot {
  readonly snapshotId: bigint;
  readonly parentSnapshotId?: bigint;
  /** 0n in v1. */
  readonly sequenceNumber: bigint;
  readonly timestampMs: number;
  /** Absent only in v1 tables that list `manifests` instead; those are `unsupported` to change. */
  readonly manifestList?: string;
  /** `operation` and every other key, as written. Empty where a v1 snapshot has none. */
  readonly summary: Readonly<Record<string, string>>;
  readonly schemaId?: number;
  /** v3: the first `_row_id` this snapshot assigned. */
  readonly firstRowId?: bigint;
  /** v3: upper bound of rows with assigned row ids. */
  readonly addedRows?: bigint;
  readonly source: JsonObject;
}

/** @see Iceberg spec, "Snapshot References" */
export interface SnapshotRef {
  readonly snapshotId: bigint;
  readonly type: 'branch' | 'tag';
  readonly minSnapshotsToKeep?: number;
  readonly maxSnapshotAgeMs?: number;
  readonly maxRefAgeMs?: number;
  readonly source: JsonObject;
}

export interface SnapshotLogEntry {
  readonly timestampMs: number;
  readonly snapshotId: bigint;
  readonly source: JsonObject;
}

export interface MetadataLogEntry {
  readonly timestampMs: number;
  readonly metadataFile: string;
  readonly source: JsonObject;
}

/** A statistics or partition statistics file; its other keys stay in `source`. */
export interface StatisticsFile {
  readonly snapshotId: bigint;
  readonly statisticsPath: string;
  readonly source: JsonObject;
}

/** @see Iceberg spec, "Table Metadata Fields" */
export interface TableMetadata {
  readonly formatVersion: FormatVersion;
  /** Absent only in old v1 tables. */
  readonly tableUuid?: string;
  readonly location: string;
  /** 0n in v1. */
  readonly lastSequenceNumber: bigint;
  readonly lastUpdatedMs: number;
  readonly lastColumnId: number;
  readonly schemas: readonly Schema[];
  readonly currentSchemaId: number;
  readonly partitionSpecs: readonly PartitionSpec[];
  readonly defaultSpecId: number;
  readonly lastPartitionId: number;
  readonly sortOrders: readonly SortOrder[];
  readonly defaultSortOrderId: number;
  readonly properties: Readonly<Record<string, string>>;
  /** Absent when the table has no current snapshot (also when the file says −1 or null). */
  readonly currentSnapshotId?: bigint;
  readonly snapshots: readonly Snapshot[];
  readonly snapshotLog: readonly SnapshotLogEntry[];
  readonly metadataLog: readonly MetadataLogEntry[];
  /** By name. `main` is present whenever there is a current snapshot, also where the file omits it. */
  readonly refs: ReadonlyMap<string, SnapshotRef>;
  readonly statistics: readonly StatisticsFile[];
  readonly partitionStatistics: readonly StatisticsFile[];
  /** v3 only. */
  readonly nextRowId?: bigint;
  /** The whole document as parsed; keys Firn does not know are written back from here. */
  readonly source: JsonObject;
}
