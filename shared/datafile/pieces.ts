import type { ParquetRowGroup } from '../parquet/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { RowRange } from './decode-rows.ts';
import type { OpenedInput } from './open-input.ts';

/** One row group of the outputs: all kept rows of an input's row group, or of a part of it. */
export interface Piece {
  readonly input: OpenedInput;
  readonly rowGroup: ParquetRowGroup;
  readonly rowGroupIndex: number;
  /** Rows to be looked at, purged ones included. */
  readonly rows: RowRange;
  /** Position in the file of the first of `rows`. */
  readonly firstPosition: number;
  /** Positions in the file of rows that are left out. */
  readonly purged: RoaringBitmap;
  /** What is left; at least one row. */
  readonly keptCount: number;
  /** Takes the row group as it is. */
  readonly isWhole: boolean;
  /** About what the piece takes in an output. */
  readonly sizeBytes: number;
}

export interface RowGroupOfInput {
  readonly input: OpenedInput;
  readonly rowGroup: ParquetRowGroup;
  readonly rowGroupIndex: number;
  /** Positions in the file, all of this row group. */
  readonly purged: RoaringBitmap;
}

/** The pieces that a row group makes: one, or as many as outputs are needed to hold it; none of no rows. */
export function piecesOf(source: RowGroupOfInput, outputSizeBytes: number): readonly Piece[] {
  const { rowGroup, purged } = source;
  const { rowCount, firstRowIndex } = rowGroup;
  const keptCount = rowCount - purged.cardinality;
  if (keptCount === 0) return [];
  const sizeBytes = (rowGroupBytes(rowGroup) * keptCount) / rowCount;
  const pieces = splitRows(rowCount, sizeBytes, outputSizeBytes).map((rows): Piece => {
    const firstPosition = firstRowIndex + rows.firstRow;
    const purgedHere = purged.slice(firstPosition, firstPosition + rows.rowCount);
    return pieceOf(source, { rows, firstPosition, purged: purgedHere });
  });
  return joinEmpty(source, pieces);
}

function pieceOf(
  { input, rowGroup, rowGroupIndex }: RowGroupOfInput,
  part: Pick<Piece, 'rows' | 'firstPosition' | 'purged'>,
): Piece {
  const keptCount = part.rows.rowCount - part.purged.cardinality;
  return {
    input,
    rowGroup,
    rowGroupIndex,
    ...part,
    keptCount,
    isWhole: keptCount === rowGroup.rowCount,
    sizeBytes: Math.ceil((rowGroupBytes(rowGroup) * keptCount) / rowGroup.rowCount),
  };
}

/** A piece of which nothing is left goes to its neighbour, where its rows are counted as they are left out. */
function joinEmpty(source: RowGroupOfInput, pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last === undefined || (piece.keptCount > 0 && last.keptCount > 0)) joined.push(piece);
    else {
      const rowCount = last.rows.rowCount + piece.rows.rowCount;
      joined[joined.length - 1] = pieceOf(source, {
        rows: { ...last.rows, rowCount },
        firstPosition: last.firstPosition,
        purged: last.purged.union(piece.purged),
      });
    }
  }
  return joined;
}

function rowGroupBytes({ chunks }: ParquetRowGroup): number {
  return chunks.reduce((sum, { range }) => sum + range.lengthBytes, 0);
}

/** One range of all rows, or as many of about equal length as outputs are needed to hold them. */
function splitRows(rowCount: number, sizeBytes: number, outputSizeBytes: number): RowRange[] {
  const pieceCount = Math.min(Math.max(Math.ceil(sizeBytes / outputSizeBytes), 1), rowCount);
  return Array.from({ length: pieceCount }, (_, index) => {
    const firstRow = Math.floor((rowCount * index) / pieceCount);
    return { firstRow, rowCount: Math.floor((rowCount * (index + 1)) / pieceCount) - firstRow };
  });
}
