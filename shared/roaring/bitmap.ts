import { assert } from '../base/index.ts';
import { containersOfPositions, type PositionArray } from './build.ts';
import { type Containers, ContainersBuilder, indexOfKey } from './containers.ts';
import { CONTAINER_POSITIONS } from './layout.ts';
import { parseContainers } from './parse.ts';
import { type PositionRange, rangesOf, shiftedBy } from './ranges.ts';
import { serializeContainers } from './serialize.ts';
import { differenceOf, hasValue, isSupersetOf, sliceOf, unionOf } from './set-operations.ts';

/** So many mapped positions are kept as numbers at a time. */
const MAPPED_COUNT_MAX = 2 ** 20;

/**
 * A set of row positions from 0 to 2^53 - 1, kept compressed. Never changes: every operation gives a new bitmap. All
 * of it lies in memory that the garbage collector knows, so there is nothing to dispose of.
 */
export class RoaringBitmap {
  static readonly EMPTY = new RoaringBitmap(new ContainersBuilder().finish());

  /** How many positions are set. */
  readonly cardinality: number;
  readonly #containers: Containers;

  private constructor(containers: Containers) {
    this.#containers = containers;
    this.cardinality = containers.cardinalities.reduce((sum, count) => sum + count, 0);
  }

  /**
   * The set of some positions, in any order and any number of times; sorted ones are quicker.
   *
   * @throws invalid-data — when one is not an integer or is negative
   * @throws unsupported — when one is beyond 2^53 - 1
   */
  static fromPositions(positions: PositionArray, subject: string): RoaringBitmap {
    return new RoaringBitmap(containersOfPositions(positions, subject));
  }

  /**
   * Parses the 64-bit portable layout, all of `bytes`; keeps no view of them. Everything is validated, see
   * `parseContainers`.
   *
   * @throws invalid-data — when the bytes break the layout or contradict themselves
   * @throws unsupported — when a position is beyond 2^53 - 1
   * @see Roaring format, "Extension for 64-bit implementations"
   */
  static parse(bytes: Uint8Array, subject: string): RoaringBitmap {
    return new RoaringBitmap(parseContainers(bytes, subject));
  }

  /** What is set in any of the bitmaps, all at once: no more work than for two. */
  static unionOf(bitmaps: readonly RoaringBitmap[]): RoaringBitmap {
    return new RoaringBitmap(unionOf(bitmaps.map((bitmap) => bitmap.#containers)));
  }

  get isEmpty(): boolean {
    return this.cardinality === 0;
  }

  has(position: number): boolean {
    const key = Math.floor(position / CONTAINER_POSITIONS);
    const index = indexOfKey(this.#containers, key);
    return index >= 0 && hasValue(this.#containers, index, position - key * CONTAINER_POSITIONS);
  }

  union(other: RoaringBitmap): RoaringBitmap {
    return RoaringBitmap.unionOf([this, other]);
  }

  /** What is set here and not in `other`. */
  difference(other: RoaringBitmap): RoaringBitmap {
    return new RoaringBitmap(differenceOf(this.#containers, other.#containers));
  }

  /** Whether everything that is set in `other` is set here. */
  isSupersetOf(other: RoaringBitmap): boolean {
    return isSupersetOf(this.#containers, other.#containers);
  }

  /** What is set from position `from` to before `to`, which may be `Infinity`. */
  slice(from: number, to: number): RoaringBitmap {
    assert(from >= 0 && from <= to, `roaring: no slice from ${from} to ${to}`);
    return new RoaringBitmap(sliceOf(this.#containers, from, to));
  }

  /** Every position moved by `distance`, which may be negative; none may leave the range of positions. */
  shift(distance: number): RoaringBitmap {
    return new RoaringBitmap(shiftedBy(this.#containers, distance));
  }

  /**
   * The images of all positions, which may come in any order and fall together; those mapped to nothing are dropped.
   * Takes a call for each position; where whole ranges keep their order, `slice` and `shift` are quicker.
   *
   * @throws invalid-data, unsupported — when an image is not a position
   */
  mapPositions(map: (position: number) => number | undefined): RoaringBitmap {
    const parts: RoaringBitmap[] = [];
    const images = new Float64Array(Math.min(this.cardinality, MAPPED_COUNT_MAX));
    let count = 0;
    const endPart = (): void => {
      parts.push(RoaringBitmap.fromPositions(images.subarray(0, count), 'mapped positions'));
      count = 0;
    };
    for (const { start, end } of this.ranges()) {
      for (let position = start; position < end; position++) {
        const image = map(position);
        if (image === undefined) continue;
        if (count === images.length) endPart();
        images[count++] = image;
      }
    }
    endPart();
    return RoaringBitmap.unionOf(parts);
  }

  /** The longest ranges in which every position is set, ascending. */
  ranges(): Generator<PositionRange> {
    return rangesOf(this.#containers);
  }

  /** All positions, ascending. */
  *positions(): Generator<number> {
    for (const { start, end } of this.ranges()) {
      for (let position = start; position < end; position++) yield position;
    }
  }

  /** The 64-bit portable layout, byte for byte as Iceberg Java writes it; see `serializeContainers`. */
  serialize(): Uint8Array {
    return serializeContainers(this.#containers);
  }
}
