import type { FileGroupOutput, PositionMap, RowIdTally, RowsHash } from '../datafile/index.ts';
import {
  type DataFile,
  type ManifestEntry,
  type Partition,
  partitionKey,
} from '../iceberg/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import type { DeleteIdentity } from './delete-identity.ts';

/** What was deleted of a data file when it was read. */
export interface InputDeletes {
  /** Every delete file that applied to it and was read: what they delete stands in one of the bitmaps. */
  readonly applied: readonly DeleteIdentity[];
  /** Rows that its vector, or its position delete files, delete. */
  readonly byPosition: RoaringBitmap;
  /** Rows that equality deletes match, whether or not they are deleted by position as well. */
  readonly byEquality: RoaringBitmap;
}

/** A data file to be removed, with everything that must still hold of it at head. */
export interface ReplaceInput {
  readonly filePath: string;
  readonly specId: number;
  readonly partition: Partition;
  readonly dataSequenceNumber: bigint;
  /** Absent where an old writer did not record it. */
  readonly fileSequenceNumber?: bigint;
  /** v3: absent where no snapshot has assigned row ids to the file yet. */
  readonly firstRowId?: bigint;
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  /** Absent where no delete file applied to it. */
  readonly deletes?: InputDeletes;
}

/** All rows that were deleted when the file was read. */
export function deletedWhenRead(deletes: InputDeletes | undefined): RoaringBitmap {
  if (deletes === undefined) return RoaringBitmap.EMPTY;
  return deletes.byPosition.union(deletes.byEquality);
}

/**
 * Values and nulls of columns by field id, summed over files; a column that one of them does not know is absent, and
 * so are reserved ones: row ids that were inherited become values when they are written.
 */
export interface ColumnCounts {
  readonly valueCounts: ReadonlyMap<number, number>;
  readonly nullValueCounts: ReadonlyMap<number, number>;
}

/** Files that replace each other: together the live rows of the outputs are exactly those of the inputs. */
export interface ReplaceGroup {
  /** The caller's name for the group. */
  readonly groupIndex: number;
  /** In the order of the position map. */
  readonly inputs: readonly ReplaceInput[];
  /** As their entries say, deleted rows included. */
  readonly inputColumnCounts: ColumnCounts;
  /** What rows held that stand in no output; absent where all do. */
  readonly purgedColumnCounts?: ColumnCounts;
  /** v3: of all live input rows, stored or inherited. */
  readonly inputRowIds?: RowIdTally;
  /** With `firn.verify=rows`: what was read of the rows before and after, from the store. */
  readonly rowHashes?: { readonly inputs: RowsHash; readonly outputs: RowsHash };
  /**
   * New data files of the inputs' spec and partition, complete in the store, in the order of the position map. Their
   * deleted positions are those that are carried along from the inputs; the commit adds what was deleted since.
   */
  readonly outputs: readonly FileGroupOutput[];
  /** Where the rows of the inputs stand in the outputs. Rows that stand nowhere must be deleted ones. */
  readonly positionMap: PositionMap;
}

/** Why a group was not committed. */
export type DropReason =
  | 'input-gone'
  | 'input-changed'
  /** A delete applies that was not read, and cannot be carried over. */
  | 'new-deletes'
  /** Rows are live again that were deleted when the file was read. */
  | 'fewer-deletes'
  /** A delete that came since cannot be read. */
  | 'unreadable-deletes'
  /** A delete that was to be removed is needed by a data file that was not covered. */
  | 'deletes-needed'
  | 'rolled-back';

export interface DroppedGroup {
  readonly groupIndex: number;
  readonly reason: DropReason;
  /** The first file it was seen at, and what was seen. */
  readonly detail: string;
}

/** What the commit has to know of an entry to remove its file, and of what was deleted of it. */
export function toReplaceInput(entry: ManifestEntry, deletes?: InputDeletes): ReplaceInput {
  const { dataFile } = entry;
  return {
    filePath: dataFile.filePath,
    specId: entry.specId,
    partition: dataFile.partition,
    dataSequenceNumber: entry.dataSequenceNumber,
    ...(entry.fileSequenceNumber === undefined
      ? {}
      : { fileSequenceNumber: entry.fileSequenceNumber }),
    ...(dataFile.firstRowId === undefined ? {} : { firstRowId: dataFile.firstRowId }),
    recordCount: dataFile.recordCount,
    fileSizeBytes: dataFile.fileSizeBytes,
    ...(deletes === undefined ? {} : { deletes }),
  };
}

/** The new data files of some groups. */
export function outputFiles(groups: readonly ReplaceGroup[]): readonly DataFile[] {
  return groups.flatMap(({ outputs }) => outputs.map(({ dataFile }) => dataFile));
}

/** Sums the counts of files, leaving out each field that any of them has no count for. */
export function sumColumnCounts(dataFiles: readonly DataFile[]): ColumnCounts {
  return {
    valueCounts: sumMaps(dataFiles.map((file) => file.valueCounts)),
    nullValueCounts: sumMaps(dataFiles.map((file) => file.nullValueCounts)),
  };
}

/** Field ids from here on are not those of columns. @see Iceberg spec, "Reserved Field IDs" */
const RESERVED_FIELD_ID_START = 2147483447;

function sumMaps(
  maps: readonly (ReadonlyMap<number, number> | undefined)[],
): ReadonlyMap<number, number> {
  const columns = [...(maps[0] ?? [])].filter(([fieldId]) => fieldId < RESERVED_FIELD_ID_START);
  const sums = new Map(columns);
  for (const map of maps.slice(1)) {
    for (const [fieldId, sum] of sums) {
      const count = map?.get(fieldId);
      if (count === undefined) sums.delete(fieldId);
      else sums.set(fieldId, sum + count);
    }
  }
  return sums;
}

/** What differs between the entry that was planned and the one found, or undefined when they are the same. */
export function inputDifference(planned: ReplaceInput, found: ReplaceInput): string | undefined {
  if (
    partitionKey(planned.specId, planned.partition) !== partitionKey(found.specId, found.partition)
  ) {
    return 'spec or partition differs';
  }
  const fields = [
    'dataSequenceNumber',
    'fileSequenceNumber',
    'firstRowId',
    'recordCount',
    'fileSizeBytes',
  ] as const;
  const changed = fields.find((field) => planned[field] !== found[field]);
  if (changed === undefined) return undefined;
  return `${changed} was ${planned[changed] ?? 'absent'}, is ${found[changed] ?? 'absent'}`;
}
