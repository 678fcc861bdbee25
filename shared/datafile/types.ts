import type { RangedReader } from '../base/index.ts';
import type {
  DataFile,
  FormatVersion,
  MetricsMode,
  PartitionSpec,
  Schema,
} from '../iceberg/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { ObjectWriter } from '../storage/index.ts';
import type { PositionMap } from './position-map.ts';
import type { RowIdTally } from './row-ids.ts';

/** One data file, as its manifest entry describes it, and what is deleted of it. */
export interface DataFileToRead {
  readonly dataFile: DataFile;
  /** What rows without a stored `_last_updated_sequence_number` inherit (v3). */
  readonly dataSequenceNumber: bigint;
  readonly reader: RangedReader;
  /** Rows that readers do not see. */
  readonly deletes?: { readonly positions: RoaringBitmap };
}

/**
 * What becomes of deleted rows: `purge` leaves them out, for which row groups that have some are decoded and encoded
 * anew; `carry` keeps them, so that chunks are copied whole, and says where they are.
 */
export type DeleteTreatment = 'purge' | 'carry';

/** One data file to be rewritten. */
export interface FileGroupInput extends DataFileToRead {
  readonly deletes?: {
    /** All below the file's row count. */
    readonly positions: RoaringBitmap;
    readonly treatment: DeleteTreatment;
  };
}

/** A new object, named by the caller and written by the rewrite. */
export interface OpenedOutput {
  readonly location: string;
  readonly writer: ObjectWriter;
}

export interface RewriteFileGroupOptions {
  /** In the order in which their rows shall stand; all of one partition spec and partition. */
  readonly inputs: readonly FileGroupInput[];
  /** The schema the outputs are written with: the table's current one. */
  readonly schema: Schema;
  readonly formatVersion: FormatVersion;
  /** The spec of all inputs: identity-partitioned columns may be missing in files, and are filled from it. */
  readonly partitionSpec: PartitionSpec;
  /** The table's properties as they stand: `write.parquet.*` and `schema.name-mapping.default` are used. */
  readonly properties: Readonly<Record<string, string>>;
  /** By field id, as `metricsModes` of the table says; columns it lacks get no metrics. */
  readonly metricsModes: ReadonlyMap<number, MetricsMode>;
  /** An output is closed before the row group that would take it beyond this size. */
  readonly outputSizeBytes: number;
  /** Called when an output is needed, one at a time. What it opened before a failure stays with the caller. */
  readonly openOutput: () => Promise<OpenedOutput>;
}

export interface FileGroupOutput {
  /** Without `firstRowId` and sort order: the commit assigns the first, and rows are not sorted. */
  readonly dataFile: DataFile;
  /** Rows of this file that are deleted: those of inputs whose deletes are carried. */
  readonly deletedPositions: RoaringBitmap;
}

/** How the column chunks of the outputs came about; bytes as they stand in the files. */
export interface ColumnChunkCounts {
  readonly copiedCount: number;
  readonly copiedBytes: number;
  readonly encodedCount: number;
  readonly encodedBytes: number;
}

/** Values and nulls by field id; what is not known is absent. */
export interface PurgedColumnCounts {
  readonly valueCounts: ReadonlyMap<number, number>;
  readonly nullValueCounts: ReadonlyMap<number, number>;
}

export interface FileGroupResult {
  /** None where no row is left. */
  readonly outputs: readonly FileGroupOutput[];
  /** From positions in the inputs to positions in the outputs, both in their order. */
  readonly positionMap: PositionMap;
  readonly columnChunks: ColumnChunkCounts;
  /**
   * What purged rows held: counts of the outputs are those of the inputs less these. Of the columns that have metrics;
   * absent where no row was purged.
   */
  readonly purgedColumnCounts?: PurgedColumnCounts;
  /** v3: the ids of all live input rows, stored or inherited, for the check that the outputs have the same. */
  readonly inputRowIds?: RowIdTally;
}
