import type { RangedReader } from '../base/index.ts';
import type {
  DataFile,
  FormatVersion,
  MetricsMode,
  PartitionSpec,
  Schema,
} from '../iceberg/index.ts';
import type { ObjectWriter } from '../storage/index.ts';
import type { RowIdTally } from './row-ids.ts';

/** One data file to be rewritten, as its manifest entry describes it. */
export interface FileGroupInput {
  readonly dataFile: DataFile;
  /** What rows without a stored `_last_updated_sequence_number` inherit (v3). */
  readonly dataSequenceNumber: bigint;
  readonly reader: RangedReader;
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

/** Consecutive rows of one input that stand together in one output, in the same order. */
export interface SourceRange {
  readonly inputIndex: number;
  /** Position of the first row in the input file. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Position of the first row in the output file. */
  readonly outputFirstRow: number;
}

export interface FileGroupOutput {
  /** Without `firstRowId` and sort order: the commit assigns the first, and rows are not sorted. */
  readonly dataFile: DataFile;
  /** Ascending by `outputFirstRow`, without gaps. */
  readonly sources: readonly SourceRange[];
}

/** How the column chunks of the outputs came about; bytes as they stand in the files. */
export interface ColumnChunkCounts {
  readonly copiedCount: number;
  readonly copiedBytes: number;
  readonly encodedCount: number;
  readonly encodedBytes: number;
}

export interface FileGroupResult {
  readonly outputs: readonly FileGroupOutput[];
  readonly columnChunks: ColumnChunkCounts;
  /** v3: the ids of all input rows, stored or inherited, for the check that the outputs have the same. */
  readonly inputRowIds?: RowIdTally;
}
