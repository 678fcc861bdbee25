import type { RangedReader } from '../base/index.ts';
import {
  chunkSubject,
  decodeColumnChunk,
  type LeafValues,
  type ParquetFile,
  physicalValueAt,
  type SchemaLeaf,
} from '../parquet/index.ts';
import {
  createLanes,
  type HashLanes,
  isSameSums,
  type LaneSums,
  mixWord,
  NO_SUMS,
  sumLanes,
} from './hash-lanes.ts';
import { ROW_ID_FIELD_ID } from './parquet-schema.ts';

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
}

/**
 * The ids of a file's rows: those it stores, and what rows inherit that store none. Reads the `_row_id` column
 * and nothing else, by itself: it shares no code with what writes that column.
 *
 * @throws invalid-data, unsupported — as `decodeColumnChunk`
 * @see Iceberg spec, "Row Lineage"
 */
export async function tallyRowIds(source: FileOfRowIds): Promise<RowIdTally> {
  const { file, reader, firstRowId } = source;
  const leaf = rowIdLeaf(file);
  let tally = NO_ROW_IDS;
  if (leaf === undefined) return inheritedTally(file.metadata.numRows, firstRowId);
  for (const [rowGroupIndex, { chunks, firstRowIndex }] of file.rowGroups.entries()) {
    const chunk = chunks[leaf.columnIndex];
    if (chunk === undefined) continue;
    const subject = chunkSubject(file.location, rowGroupIndex, leaf);
    const options = { createdBy: file.metadata.createdBy, subject };
    let position = firstRowIndex;
    for await (const batch of decodeColumnChunk(reader, chunk, options)) {
      const startId = firstRowId === undefined ? undefined : firstRowId + BigInt(position);
      tally = addRowIds(tally, tallyBatch(batch, leaf, startId));
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

function inheritedTally(rowCount: number, firstRowId: bigint | undefined): RowIdTally {
  if (firstRowId === undefined) return { ...NO_ROW_IDS, nullCount: rowCount };
  let sums = NO_SUMS;
  for (let start = 0; start < rowCount; start += BATCH_ROWS) {
    const lanes = createLanes(Math.min(BATCH_ROWS, rowCount - start));
    mixConsecutive(lanes, firstRowId + BigInt(start));
    sums = sumLanes(lanes, sums);
  }
  return { idCount: rowCount, nullCount: 0, sums };
}

/** @param startId what the batch's first row inherits; undefined where rows inherit nothing */
function tallyBatch(
  { valueCount, definitionLevels, values }: LeafValues,
  { maxDefinitionLevel }: SchemaLeaf,
  startId: bigint | undefined,
): RowIdTally {
  const idCount = startId === undefined ? values.count : valueCount;
  const lanes = createLanes(idCount);
  let valueIndex = 0;
  let item = 0;
  for (let row = 0; row < valueCount; row++) {
    const isStored = (definitionLevels?.[row] ?? maxDefinitionLevel) === maxDefinitionLevel;
    if (isStored) {
      const { buffer, byteOffset } = physicalValueAt(values, valueIndex++);
      const view = new DataView(buffer, byteOffset, INT64_BYTES);
      mixId(lanes, item++, view.getInt32(0, true), view.getInt32(4, true));
    } else if (startId !== undefined) {
      const id = startId + BigInt(row);
      mixId(lanes, item++, lowWord(id), lowWord(id >> 32n));
    }
  }
  return { idCount, nullCount: valueCount - idCount, sums: sumLanes(lanes, NO_SUMS) };
}

/** One id for each item, counting from the first; in words, since there may be millions. */
function mixConsecutive(lanes: HashLanes, firstId: bigint): void {
  let low = lowWord(firstId);
  let high = lowWord(firstId >> 32n);
  for (let item = 0; item < lanes.first.length; item++) {
    mixId(lanes, item, low, high);
    low = (low + 1) | 0;
    if (low === 0) high = (high + 1) | 0;
  }
}

function mixId(lanes: HashLanes, item: number, low: number, high: number): void {
  mixWord(lanes, item, low);
  mixWord(lanes, item, high);
}

function lowWord(value: bigint): number {
  return Number(BigInt.asIntN(32, value));
}
