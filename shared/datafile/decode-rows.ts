import { assert, type RangedReader } from '../base/index.ts';
import {
  chunkSubject,
  decodeColumnChunk,
  type LeafValues,
  type ParquetFile,
  type ParquetRowGroup,
  type SchemaLeaf,
  sliceLeafValues,
} from '../parquet/index.ts';
import type { LineageValues } from './lineage-batches.ts';

/** Consecutive rows of one row group. */
export interface RowRange {
  /** Counted from the start of the row group. */
  readonly firstRow: number;
  readonly rowCount: number;
}

/** Where the values of one column come from and go to. */
export interface LeafBatchContext {
  readonly reader: RangedReader;
  readonly file: ParquetFile;
  readonly rowGroup: ParquetRowGroup;
  readonly rowGroupIndex: number;
  readonly rows: RowRange;
  readonly target: SchemaLeaf;
  readonly lineage: LineageValues;
}

/** Names a column of the file for error messages. */
export function subjectOf(leaf: SchemaLeaf, { file, rowGroupIndex }: LeafBatchContext): string {
  return chunkSubject(file.location, rowGroupIndex, leaf);
}

/** Batches of a column of the file, cut to the rows wanted. Throws as `decodeColumnChunk`. */
export async function* decodeRows(
  leaf: SchemaLeaf,
  context: LeafBatchContext,
): AsyncGenerator<LeafValues, void, undefined> {
  const { reader, file, rowGroup, rows } = context;
  const chunk = rowGroup.chunks[leaf.columnIndex];
  assert(chunk !== undefined, `datafile: no chunk for column ${leaf.columnIndex}`);
  const options = { createdBy: file.metadata.createdBy, subject: subjectOf(leaf, context) };
  const isWhole = rows.rowCount === rowGroup.rowCount;
  const end = rows.firstRow + rows.rowCount;
  let rowsBefore = 0;
  for await (const batch of decodeColumnChunk(reader, chunk, options)) {
    if (isWhole) {
      yield batch;
      continue;
    }
    const cut = cutRows(batch, { rowsBefore, firstRow: rows.firstRow, end }, leaf);
    rowsBefore = cut.rowsAfter;
    if (cut.batch.valueCount > 0) yield cut.batch;
    // The last piece reads on to the end, where the chunk's counts are checked.
    if (rowsBefore > end) return;
  }
}

/** The entries of a batch whose rows lie in `[firstRow, end)`. */
function cutRows(
  batch: LeafValues,
  range: { readonly rowsBefore: number; readonly firstRow: number; readonly end: number },
  { maxDefinitionLevel }: SchemaLeaf,
): { readonly batch: LeafValues; readonly rowsAfter: number } {
  const { repetitionLevels, definitionLevels, valueCount } = batch;
  let rowsAfter = range.rowsBefore;
  let valueIndex = 0;
  let start = 0;
  let valueStart = 0;
  let end = 0;
  let valueEnd = 0;
  for (let index = 0; index < valueCount; index++) {
    if (repetitionLevels === undefined || repetitionLevels[index] === 0) rowsAfter++;
    const hasValue =
      definitionLevels === undefined || definitionLevels[index] === maxDefinitionLevel;
    const row = rowsAfter - 1;
    if (row < range.firstRow) {
      start = index + 1;
      valueStart = valueIndex + (hasValue ? 1 : 0);
    }
    if (hasValue) valueIndex++;
    if (row < range.end) {
      end = index + 1;
      valueEnd = valueIndex;
    }
  }
  const cut = {
    start,
    end: Math.max(start, end),
    valueStart,
    valueEnd: Math.max(valueStart, valueEnd),
  };
  return { batch: sliceLeafValues(batch, cut), rowsAfter };
}
