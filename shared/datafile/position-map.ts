import { assert, IcebergError } from '../base/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import { rankCursor } from './position-cursors.ts';
import { type KeptRange, type MapParts, type MapRanges, problemOf } from './position-map-parts.ts';
import { parsePositionMap, serializePositionMap } from './position-map-sidecar.ts';

/** Where some rows of one input have gone. */
export interface TranslatedPositions {
  /** Positions in the outputs, one bitmap for each, in their order. */
  readonly outputs: readonly RoaringBitmap[];
  /** Those rows that stand in no output; positions in the input, as they came. */
  readonly gone: RoaringBitmap;
}

/** Where one row of an input stands, among the rows of all outputs, counted through. Positions must ascend. */
type PlaceCursor = (position: number) => number;

/**
 * Where the rows of some input files stand in output files. Every input row stands in one place or is gone, and
 * every output row comes from one. Takes as much memory as what it was made of: little where rows keep their order,
 * 4 bytes for each row where they do not.
 */
export class PositionMap {
  readonly #parts: MapParts;
  /** For each input its ranges by its own rows; empty for a permutation. */
  readonly #placedRanges: readonly (readonly PlacedRange[])[];

  private constructor(parts: MapParts) {
    this.#parts = parts;
    this.#placedRanges =
      parts.rows.kind === 'ranges' ? placeRanges(parts.rows, parts.inputs.length) : [];
  }

  /** Made of ranges or of a permutation, see `MapParts`; keeps views of them. */
  static of(parts: MapParts): PositionMap {
    const problem = problemOf(parts);
    assert(problem === undefined, `position map: ${problem}`);
    return new PositionMap(parts);
  }

  /**
   * Parses a sidecar, all of `bytes`; keeps no view of them.
   *
   * @throws invalid-data — when the bytes break the layout, or are not a map
   * @throws unsupported — when they have a later format version, or count beyond 2^53 - 1
   */
  static parse(bytes: Uint8Array, subject: string): PositionMap {
    return new PositionMap(parsePositionMap(bytes, subject));
  }

  /** The binary sidecar that `parse` reads, see `position-map-sidecar.ts`. */
  serialize(): Uint8Array {
    return serializePositionMap(this.#parts);
  }

  get inputCount(): number {
    return this.#parts.inputs.length;
  }

  get outputRowCounts(): readonly number[] {
    return this.#parts.outputRowCounts;
  }

  /** Rows of all inputs that stand in no output. */
  get goneCount(): number {
    return this.#parts.inputs.reduce((sum, { gone }) => sum + gone.cardinality, 0);
  }

  /**
   * Finds the places of some rows of an input. Takes a step for each row, and one for each range of those that are
   * gone.
   *
   * @throws invalid-data — when the input has fewer rows than a position says
   */
  translate(inputIndex: number, positions: RoaringBitmap): TranslatedPositions {
    const input = this.#parts.inputs[inputIndex];
    assert(input !== undefined, `position map: input ${inputIndex} of ${this.inputCount}`);
    requirePositionsWithin(positions, input.rowCount, `position map: input ${inputIndex}`);
    const kept = positions.difference(input.gone);
    const places = kept.mapPositions(this.#placeCursor(inputIndex, input.gone));
    assert(places.cardinality === kept.cardinality, 'position map: two rows in one place');
    let outputEnd = 0;
    const outputs = this.outputRowCounts.map((rowCount) => {
      const outputStart = outputEnd;
      outputEnd += rowCount;
      const here = places.slice(outputStart, outputEnd);
      return here.isEmpty ? RoaringBitmap.EMPTY : here.shift(-outputStart);
    });
    return { outputs, gone: positions.difference(kept) };
  }

  #placeCursor(inputIndex: number, gone: RoaringBitmap): PlaceCursor {
    const goneBefore = rankCursor(gone);
    const { rows } = this.#parts;
    if (rows.kind === 'ranges') return rangeCursor(this.#placedRanges[inputIndex]!, goneBefore);
    const places = rows.places[inputIndex]!;
    return (position) => places[position - goneBefore(position)]!;
  }
}

/**
 * @param rowCount of the file that the positions are of
 * @throws invalid-data — when the file has fewer rows than a position says
 */
export function requirePositionsWithin(
  positions: RoaringBitmap,
  rowCount: number,
  subject: string,
): void {
  const [first] = positions.slice(rowCount, Number.POSITIVE_INFINITY).ranges();
  if (first === undefined) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: position ${first.start} is deleted, the file has ${rowCount} rows`,
  );
}

interface PlacedRange extends KeptRange {
  /** Of its first row. */
  readonly place: number;
}

function placeRanges({ ranges }: MapRanges, inputCount: number): readonly PlacedRange[][] {
  const placed: PlacedRange[][] = Array.from({ length: inputCount }, () => []);
  let place = 0;
  for (const range of ranges) {
    placed[range.inputIndex]!.push({ ...range, place });
    place += range.rowCount;
  }
  for (const own of placed) own.sort((one, other) => one.firstKept - other.firstKept);
  return placed;
}

function rangeCursor(
  ranges: readonly PlacedRange[],
  goneBefore: (position: number) => number,
): PlaceCursor {
  let index = 0;
  return (position) => {
    const kept = position - goneBefore(position);
    while (kept >= ranges[index]!.firstKept + ranges[index]!.rowCount) index++;
    return ranges[index]!.place + kept - ranges[index]!.firstKept;
  };
}
