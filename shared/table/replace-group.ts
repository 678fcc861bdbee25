import type { RowIdTally, RowsHash } from '../datafile/index.ts';
import type { DataFile, ManifestEntry, Partition } from '../iceberg/index.ts';
import { partitionKey } from './partition-key.ts';

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
}

/**
 * Values and nulls of columns by field id, summed over files; a column that one of them does not know is absent, and
 * so are reserved ones: row ids that were inherited become values when they are written.
 */
export interface ColumnCounts {
  readonly valueCounts: ReadonlyMap<number, number>;
  readonly nullValueCounts: ReadonlyMap<number, number>;
}

/** Files that replace each other: together the outputs hold exactly the rows of the inputs. */
export interface ReplaceGroup {
  /** The caller's name for the group. */
  readonly groupIndex: number;
  readonly inputs: readonly ReplaceInput[];
  readonly inputColumnCounts: ColumnCounts;
  /** v3: of all input rows, stored or inherited. */
  readonly inputRowIds?: RowIdTally;
  /** With `firn.verify=rows`: what was read of the rows before and after, from the store. */
  readonly rowHashes?: { readonly inputs: RowsHash; readonly outputs: RowsHash };
  /** New data files of the inputs' spec and partition, complete in the store. */
  readonly outputs: readonly DataFile[];
}

/** Why a group was not committed. */
export type DropReason = 'input-gone' | 'input-changed' | 'new-deletes' | 'rolled-back';

export interface DroppedGroup {
  readonly groupIndex: number;
  readonly reason: DropReason;
  /** The first file it was seen at, and what was seen. */
  readonly detail: string;
}

/** What the commit has to know of an entry to remove its file. */
export function toReplaceInput(entry: ManifestEntry): ReplaceInput {
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
  };
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
