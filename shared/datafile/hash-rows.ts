import { assert } from '../base/index.ts';
import type { LeafValues, ParquetRowGroup, SchemaLeaf } from '../parquet/index.ts';
import type { RowRange } from './decode-rows.ts';
import {
  createLanes,
  type HashLanes,
  isSameSums,
  type LaneSums,
  mixBytes,
  mixWord,
  NO_SUMS,
  sumLanes,
} from './hash-lanes.ts';
import { leafBatches } from './leaf-batches.ts';
import { flagsOf } from './left-out.ts';
import { type OpenedInput, openInput } from './open-input.ts';
import { openInputOptions, type TableOfFiles, targetOf } from './table-of-files.ts';
import type { DataFileToRead } from './types.ts';

/** Rows hashed side by side; 8 bytes each. Larger row groups are decoded once for each so many rows. */
const ROWS_MAX = 2 ** 20;

/** What all live rows of some files are, in whatever order and files they stand. */
export interface RowsHash {
  readonly rowCount: number;
  readonly sums: LaneSums;
}

export interface HashRowsOptions extends TableOfFiles {
  readonly files: readonly DataFileToRead[];
}

/**
 * Hashes the rows that readers see in files under the table's schema, deleted ones left out: every column's values by field, with nulls,
 * defaults of columns that a file lacks, and in v3 `_row_id` and `_last_updated_sequence_number`, stored or inherited. Equal
 * rows have equal hashes, whatever encodings, codecs, physical forms and row groups they are stored in.
 *
 * Decodes every value and never copies a page, so it is a check on the code that does. Reads each file once. Memory: a
 * batch of pages, and 8 MiB.
 *
 * @throws unsupported, invalid-data — as `rewriteFileGroup` does for a file that it cannot read
 */
export async function hashRows(options: HashRowsOptions): Promise<RowsHash> {
  const { leaves } = targetOf(options);
  const openOptions = openInputOptions(options);
  let hash: RowsHash = { rowCount: 0, sums: NO_SUMS };
  for (const [index, file] of options.files.entries()) {
    const opened = await openInput(file, index, openOptions);
    for (const [rowGroupIndex, rowGroup] of opened.file.rowGroups.entries()) {
      for (const rows of rangesOf(rowGroup)) {
        const lanes = await hashRange(opened, { rowGroup, rowGroupIndex, rows }, leaves);
        const live = liveLanes(lanes, file, rowGroup.firstRowIndex + rows.firstRow);
        const rowCount = hash.rowCount + live.first.length;
        hash = { rowCount, sums: sumLanes(live, hash.sums) };
      }
    }
  }
  return hash;
}

export function isSameRows(one: RowsHash, other: RowsHash): boolean {
  return one.rowCount === other.rowCount && isSameSums(one.sums, other.sums);
}

function rangesOf({ rowCount }: ParquetRowGroup): readonly RowRange[] {
  return Array.from({ length: Math.ceil(rowCount / ROWS_MAX) }, (_, index) => ({
    firstRow: index * ROWS_MAX,
    rowCount: Math.min(ROWS_MAX, rowCount - index * ROWS_MAX),
  }));
}

interface RowsOfGroup {
  readonly rowGroup: ParquetRowGroup;
  readonly rowGroupIndex: number;
  readonly rows: RowRange;
}

/** One item for each row, with the values of all columns, column by column. */
async function hashRange(
  { input, reader, file, sources }: OpenedInput,
  range: RowsOfGroup,
  leaves: readonly SchemaLeaf[],
): Promise<HashLanes> {
  const { firstRowId } = input.dataFile;
  const lineage = {
    dataSequenceNumber: input.dataSequenceNumber,
    ...(firstRowId === undefined ? {} : { firstRowId }),
  };
  const lanes = createLanes(range.rows.rowCount);
  for (const target of leaves) {
    const source = sources[target.columnIndex];
    assert(source !== undefined, `datafile: no source for column ${target.columnIndex}`);
    let rowCount = 0;
    const context = { reader, file, ...range, target, lineage };
    for await (const batch of leafBatches(source, context)) {
      rowCount = mixBatch(lanes, batch, { target, rowCount });
    }
    assert(
      rowCount === range.rows.rowCount,
      `${file.location}: column ${target.path.join('.')} has ${rowCount} rows, expected ${range.rows.rowCount}`,
    );
  }
  return lanes;
}

/**
 * Leaves out rows that are deleted. Only now, when all are hashed: what drops rows in the rewrite has no part in it.
 *
 * @param position of the first lane's row in the file
 */
function liveLanes(lanes: HashLanes, { deletes }: DataFileToRead, position: number): HashLanes {
  if (deletes === undefined) return lanes;
  const isOut = flagsOf(deletes.positions, position, lanes.first.length);
  const isLive = (_: number, row: number) => isOut[row] === 0;
  return { first: lanes.first.filter(isLive), second: lanes.second.filter(isLive) };
}

/**
 * Takes the entries of a batch into the lanes of their rows. Levels tell nulls, empty lists and the ends of lists; the
 * column's place tells where a row's values of one column end and the next one's begin.
 *
 * @returns the rows begun so far
 */
function mixBatch(
  lanes: HashLanes,
  batch: LeafValues,
  column: { readonly target: SchemaLeaf; readonly rowCount: number },
): number {
  const { repetitionLevels, definitionLevels, values, valueCount } = batch;
  const { maxDefinitionLevel, columnIndex } = column.target;
  const isFixed = values.kind === 'fixed-width';
  let row = column.rowCount - 1;
  let valueIndex = 0;
  for (let index = 0; index < valueCount; index++) {
    const repetition = repetitionLevels?.[index] ?? 0;
    const definition = definitionLevels?.[index] ?? maxDefinitionLevel;
    if (repetition === 0) row++;
    assert(row >= 0 && row < lanes.first.length, `datafile: row ${row} of ${lanes.first.length}`);
    mixWord(lanes, row, (columnIndex << 16) ^ (repetition << 8) ^ definition);
    if (definition < maxDefinitionLevel) continue;
    const start = isFixed ? valueIndex * values.widthBytes : values.starts[valueIndex]!;
    const lengthBytes = isFixed ? values.widthBytes : values.lengths[valueIndex]!;
    if (!isFixed) mixWord(lanes, row, lengthBytes);
    mixBytes(lanes, row, { bytes: isFixed ? values.bytes : values.heap, start, lengthBytes });
    valueIndex++;
  }
  return row + 1;
}
