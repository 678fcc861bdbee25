import type { RangedReader } from '../base/index.ts';
import {
  chunkSubject,
  decodeColumnChunk,
  type LeafValues,
  type ParquetFile,
  physicalValueAt,
  type SchemaLeaf,
} from '../parquet/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import {
  createLanes,
  type HashLanes,
  isSameSums,
  type LaneSums,
  mixWord,
  NO_SUMS,
  sumLanes,
} from './hash-lanes.ts';
import { flagsOf } from './left-out.ts';
import { ROW_ID_FIELD_ID } from './parquet-schema.ts';
import { requirePositionsWithin } from './position-map.ts';

const INT64_BYTES = 8;

/** Ids hashed side by side where none is read. */
const BATCH_ROWS = 2 ** 16;

/** The row ids of some rows, in whatever order: how many, how many rows have none, and an order-free hash. */
export interface RowIdTally {
  readonly idCount: number;
  readonly nullCount: number;
  readonly sums: LaneSums;
}

export const NO_ROW_IDS: RowIdTally = { idCount: 0, nullCount: 0, sums: NO_SUMS };

/** A file whose footer was read. */
export interface FileOfRowIds {
  readonly reader: RangedReader;
  readonly file: ParquetFile;
  /** Of the file's first row; absent where the file has none. */
  readonly firstRowId?: bigint;
  /** Rows that are left out; none where absent. */
  readonly deletedPositions?: RoaringBitmap;
}

/**
 * The ids of a file's live rows: those it stores, and what rows inherit that store none. Reads the `_row_id` column
 * and nothing else, by itself: it shares no code with what writes that column.
 *
 * @throws invalid-data, unsupported — as `decodeColumnChunk`
 * @see Iceberg spec, "Row Lineage"
 */
export async function tallyRowIds(source: FileOfRowIds): Promise<RowIdTally> {
  const { file, reader, firstRowId, deletedPositions } = source;
  const leaf = rowIdLeaf(file);
  let tally = NO_ROW_IDS;
  if (deletedPositions !== undefined) {
    requirePositionsWithin(deletedPositions, file.metadata.numRows, file.location);
    if (deletedPositions.cardinality === file.metadata.numRows) return NO_ROW_IDS;
  }
  if (leaf === undefined) return inheritedTally(source);
  for (const [rowGroupIndex, { chunks, firstRowIndex }] of file.rowGroups.entries()) {
    const chunk = chunks[leaf.columnIndex];
    if (chunk === undefined) continue;
    const subject = chunkSubject(file.location, rowGroupIndex, leaf);
    const options = { createdBy: file.metadata.createdBy, subject };
    let position = firstRowIndex;
    for await (const batch of decodeColumnChunk(reader, chunk, options)) {
      const startId = firstRowId === undefined ? undefined : firstRowId + BigInt(position);
      const isOut = deletedRows(source, position, batch.valueCount);
      const rows = { isOut, ...(startId === undefined ? {} : { startId }) };
      tally = addRowIds(tally, tallyBatch(batch, leaf, rows));
      position += batch.valueCount;
    }
  }
  return tally;
}

export function addRowIds(one: RowIdTally, other: RowIdTally): RowIdTally {
  return {
    idCount: one.idCount + other.idCount,
    nullCount: one.nullCount + other.nullCount,
    sums: {
      first: one.sums.first + other.sums.first,
      second: one.sums.second + other.sums.second,
    },
  };
}

export function isSameRowIds(one: RowIdTally, other: RowIdTally): boolean {
  return (
    one.idCount === other.idCount &&
    one.nullCount === other.nullCount &&
    isSameSums(one.sums, other.sums)
  );
}

function rowIdLeaf({ root }: ParquetFile): SchemaLeaf | undefined {
  const node = root.children.find(({ element }) => element.fieldId === ROW_ID_FIELD_ID);
  return node?.leaf?.physicalType === 'INT64' && node.maxRepetitionLevel === 0
    ? node.leaf
    : undefined;
}

/** For each row from a position on 1 where it is left out; undefined where none is. */
function deletedRows(
  { deletedPositions }: FileOfRowIds,
  position: number,
  rowCount: number,
): Uint8Array | undefined {
  return deletedPositions && flagsOf(deletedPositions, position, rowCount);
}

function inheritedTally(source: FileOfRowIds): RowIdTally {
  const { file, firstRowId, deletedPositions } = source;
  const rowCount = file.metadata.numRows;
  const liveCount = rowCount - (deletedPositions?.cardinality ?? 0);
  if (firstRowId === undefined) return { ...NO_ROW_IDS, nullCount: liveCount };
  let sums = NO_SUMS;
  for (let start = 0; start < rowCount; start += BATCH_ROWS) {
    const batchRows = Math.min(BATCH_ROWS, rowCount - start);
    const isOut = deletedRows(source, start, batchRows);
    sums = sumLanes(consecutiveLanes(firstRowId + BigInt(start), batchRows, isOut), sums);
  }
  return { idCount: liveCount, nullCount: 0, sums };
}

function tallyBatch(
  { valueCount, definitionLevels, values }: LeafValues,
  { maxDefinitionLevel }: SchemaLeaf,
  rows: {
    readonly isOut: Uint8Array | undefined;
    /** What the batch's first row inherits; absent where rows inherit nothing. */
    readonly startId?: bigint;
  },
): RowIdTally {
  const { isOut, startId } = rows;
  const lanes = createLanes(valueCount);
  let valueIndex = 0;
  let idCount = 0;
  let nullCount = 0;
  for (let row = 0; row < valueCount; row++) {
    const isStored = (definitionLevels?.[row] ?? maxDefinitionLevel) === maxDefinitionLevel;
    const index = isStored ? valueIndex++ : -1;
    if (isOut?.[row] === 1) continue;
    if (isStored) {
      const { buffer, byteOffset } = physicalValueAt(values, index);
      const view = new DataView(buffer, byteOffset, INT64_BYTES);
      mixId(lanes, idCount++, view.getInt32(0, true), view.getInt32(4, true));
    } else if (startId !== undefined) {
      const id = startId + BigInt(row);
      mixId(lanes, idCount++, lowWord(id), lowWord(id >> 32n));
    } else nullCount++;
  }
  return { idCount, nullCount, sums: sumLanes(firstLanes(lanes, idCount), NO_SUMS) };
}

/** One id for each row that is not left out, counting from the first; in words, since there may be millions. */
function consecutiveLanes(
  firstId: bigint,
  rowCount: number,
  isOut: Uint8Array | undefined,
): HashLanes {
  const lanes = createLanes(rowCount);
  let low = lowWord(firstId);
  let high = lowWord(firstId >> 32n);
  let item = 0;
  for (let row = 0; row < rowCount; row++) {
    if (isOut?.[row] !== 1) mixId(lanes, item++, low, high);
    low = (low + 1) | 0;
    if (low === 0) high = (high + 1) | 0;
  }
  return firstLanes(lanes, item);
}

function firstLanes({ first, second }: HashLanes, count: number): HashLanes {
  return { first: first.subarray(0, count), second: second.subarray(0, count) };
}

function mixId(lanes: HashLanes, item: number, low: number, high: number): void {
  mixWord(lanes, item, low);
  mixWord(lanes, item, high);
}

function lowWord(value: bigint): number {
  return Number(BigInt.asIntN(32, value));
}
