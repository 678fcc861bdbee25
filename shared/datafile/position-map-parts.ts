import type { RoaringBitmap } from '../roaring/index.ts';

/** Places of a permutation are numbers of 32 bits. */
const PERMUTED_ROWS_MAX = 2 ** 32;

/**
 * What a position map is made of. Rows of an input that stand in an output are its kept rows, and are counted
 * without those that are gone; the rows of all outputs are counted through, from the first output to the last.
 */
export interface MapParts {
  readonly inputs: readonly MappedInput[];
  readonly outputRowCounts: readonly number[];
  readonly rows: MapRanges | MapPermutation;
}

export interface MappedInput {
  readonly rowCount: number;
  /** Positions of rows that stand in no output. */
  readonly gone: RoaringBitmap;
}

/** For rows that keep their order for long stretches. */
export interface MapRanges {
  readonly kind: 'ranges';
  /** In the order in which they fill the outputs. */
  readonly ranges: readonly KeptRange[];
}

/** Consecutive kept rows of one input that stand together in the outputs, in the same order. */
export interface KeptRange {
  readonly inputIndex: number;
  /** How many kept rows of the input come before. */
  readonly firstKept: number;
  readonly rowCount: number;
}

/** For rows in any order, sorted for instance. */
export interface MapPermutation {
  readonly kind: 'permutation';
  /** For each input the place of each kept row among the rows of all outputs. */
  readonly places: readonly Uint32Array[];
}

/** What keeps the parts from being a map in which every row has one place; undefined where nothing does. */
export function problemOf(parts: MapParts): string | undefined {
  for (const [index, { rowCount, gone }] of parts.inputs.entries()) {
    if (!gone.slice(rowCount, Number.POSITIVE_INFINITY).isEmpty) {
      return `rows beyond the ${rowCount} of input ${index} are gone`;
    }
  }
  const outputRows = rowSum(parts.outputRowCounts);
  if (!Number.isSafeInteger(outputRows)) return `${outputRows} rows cannot be counted`;
  const keptRows = rowSum(parts.inputs.map(keptCount));
  if (keptRows !== outputRows) return `${keptRows} rows are kept, the outputs have ${outputRows}`;
  const { inputs, rows } = parts;
  return rows.kind === 'ranges'
    ? rangesProblem(inputs, rows)
    : permutationProblem(inputs, rows, outputRows);
}

export function keptCount({ rowCount, gone }: MappedInput): number {
  return rowCount - gone.cardinality;
}

function rowSum(rowCounts: readonly number[]): number {
  return rowCounts.reduce((sum, rowCount) => sum + rowCount, 0);
}

function rangesProblem(inputs: readonly MappedInput[], { ranges }: MapRanges): string | undefined {
  const ends = inputs.map(() => 0);
  for (const { inputIndex, firstKept, rowCount } of ranges.toSorted(byFirstKept)) {
    if (ends[inputIndex] !== firstKept || rowCount === 0) {
      return `a range of ${rowCount} rows at row ${firstKept} of input ${inputIndex}, expected at ${ends[inputIndex]}`;
    }
    ends[inputIndex] = firstKept + rowCount;
  }
  const index = inputs.findIndex((input, inputIndex) => keptCount(input) !== ends[inputIndex]);
  if (index < 0) return undefined;
  return `ranges hold ${ends[index]} rows of input ${index}, it keeps ${keptCount(inputs[index]!)}`;
}

function byFirstKept(one: KeptRange, other: KeptRange): number {
  return one.inputIndex - other.inputIndex || one.firstKept - other.firstKept;
}

function permutationProblem(
  inputs: readonly MappedInput[],
  { places }: MapPermutation,
  outputRows: number,
): string | undefined {
  const wrong = inputs.findIndex((input, index) => keptCount(input) !== places[index]?.length);
  if (wrong >= 0) return `input ${wrong} has ${places[wrong]?.length} places, not one for each row`;
  if (outputRows > PERMUTED_ROWS_MAX) return `${outputRows} rows are too many to be permuted`;
  const isTaken = new Uint8Array(Math.ceil(outputRows / 8));
  for (const ofInput of places) {
    for (const place of ofInput) {
      const bit = 1 << (place & 7);
      if (place >= outputRows || (isTaken[place >>> 3]! & bit) !== 0) {
        return `place ${place} of ${outputRows} is taken twice or is none`;
      }
      isTaken[place >>> 3]! |= bit;
    }
  }
  return undefined;
}
