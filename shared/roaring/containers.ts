import { assert } from '../base/index.ts';
import {
  bitsOfRuns,
  bitsOfValues,
  cardinalityOfRuns,
  countsOfBits,
  runCountOfValues,
  writeRunsOfBits,
  writeRunsOfValues,
  writeValuesOfBits,
  writeValuesOfRuns,
} from './forms.ts';
import { ARRAY_CARDINALITY_MAX, BITMAP_WORDS } from './layout.ts';

/** How the values of a container are kept in its words; see `forms.ts`. */
export const KIND = { array: 0, bitmap: 1, run: 2 } as const;

const WORD_CAPACITY_MIN = 64;

/**
 * The containers of one bitmap: parallel arrays with an entry for each, and the words of all of them one after
 * another. No container is empty, and each has the form that Java's run optimization gives it, so that equal sets
 * have equal containers. Never changed once built. A container costs 17 bytes and its words, no object.
 */
export interface Containers {
  readonly count: number;
  /** Position / 65,536, strictly ascending. */
  readonly keys: Float64Array;
  readonly kinds: Uint8Array;
  readonly cardinalities: Uint32Array;
  /** Where each begins in `words`, and at the end where the last one ends: one entry more than containers. */
  readonly wordStarts: Uint32Array;
  readonly words: Uint16Array;
}

/** Collects containers by ascending key, and gives each its form. */
export class ContainersBuilder {
  readonly #keys: number[] = [];
  readonly #kinds: number[] = [];
  readonly #cardinalities: number[] = [];
  readonly #wordStarts: number[] = [0];
  #words = new Uint16Array(WORD_CAPACITY_MIN);
  #wordCount = 0;

  /** Strictly ascending values, of which none adds nothing; returns how many they are. */
  appendValues(key: number, values: Uint16Array): number {
    const cardinality = values.length;
    if (cardinality === 0) return 0;
    const runCount = runCountOfValues(values);
    if (isSmallerAsRuns(cardinality, runCount)) {
      writeRunsOfValues(values, this.#append(key, KIND.run, cardinality, 2 * runCount));
    } else if (cardinality <= ARRAY_CARDINALITY_MAX) {
      this.#append(key, KIND.array, cardinality, cardinality).set(values);
    } else {
      bitsOfValues(values, this.#append(key, KIND.bitmap, cardinality, BITMAP_WORDS));
    }
    return cardinality;
  }

  /** `BITMAP_WORDS` words; returns how many bits are set, of which none adds nothing. */
  appendBits(key: number, bits: Uint16Array): number {
    const { cardinality, runCount } = countsOfBits(bits);
    if (cardinality === 0) return 0;
    if (isSmallerAsRuns(cardinality, runCount)) {
      writeRunsOfBits(bits, this.#append(key, KIND.run, cardinality, 2 * runCount));
    } else if (cardinality <= ARRAY_CARDINALITY_MAX) {
      writeValuesOfBits(bits, this.#append(key, KIND.array, cardinality, cardinality));
    } else {
      this.#append(key, KIND.bitmap, cardinality, BITMAP_WORDS).set(bits);
    }
    return cardinality;
  }

  /** Pairs of start and length - 1, ascending, no two of them touching; returns how many positions they hold. */
  appendRuns(key: number, runs: Uint16Array): number {
    const cardinality = cardinalityOfRuns(runs);
    if (cardinality === 0) return 0;
    if (isSmallerAsRuns(cardinality, runs.length / 2)) {
      this.#append(key, KIND.run, cardinality, runs.length).set(runs);
    } else if (cardinality <= ARRAY_CARDINALITY_MAX) {
      writeValuesOfRuns(runs, this.#append(key, KIND.array, cardinality, cardinality));
    } else {
      bitsOfRuns(runs, this.#append(key, KIND.bitmap, cardinality, BITMAP_WORDS));
    }
    return cardinality;
  }

  /** A container as it stands. */
  appendCopy(source: Containers, index: number): void {
    const words = wordsOf(source, index);
    this.#append(
      source.keys[index]!,
      source.kinds[index]!,
      source.cardinalities[index]!,
      words.length,
    ).set(words);
  }

  finish(): Containers {
    return {
      count: this.#keys.length,
      keys: Float64Array.from(this.#keys),
      kinds: Uint8Array.from(this.#kinds),
      cardinalities: Uint32Array.from(this.#cardinalities),
      wordStarts: Uint32Array.from(this.#wordStarts),
      words: this.#words.slice(0, this.#wordCount),
    };
  }

  /** Enters a container and returns its words, all 0, to be filled. */
  #append(key: number, kind: number, cardinality: number, wordCount: number): Uint16Array {
    assert(key > (this.#keys.at(-1) ?? -1), `roaring: container key ${key} is not ascending`);
    const start = this.#wordCount;
    const end = start + wordCount;
    if (end > this.#words.length) {
      const grown = new Uint16Array(Math.max(end, this.#words.length * 2));
      grown.set(this.#words.subarray(0, start));
      this.#words = grown;
    }
    this.#keys.push(key);
    this.#kinds.push(kind);
    this.#cardinalities.push(cardinality);
    this.#wordStarts.push(end);
    this.#wordCount = end;
    return this.#words.subarray(start, end);
  }
}

/** The words of one container, as a view. */
export function wordsOf({ words, wordStarts }: Containers, index: number): Uint16Array {
  return words.subarray(wordStarts[index], wordStarts[index + 1]);
}

/** Where `key` is, or the complement of where it would be. */
export function indexOfKey({ keys, count }: Containers, key: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low < count && keys[low] === key ? low : ~low;
}

/**
 * Whether Java's `runOptimize` turns an array or a bitmap, which positions added one by one make, into runs: it does
 * not count the two bytes of an array's cardinality, and counts those of the number of runs.
 */
function isSmallerAsRuns(cardinality: number, runCount: number): boolean {
  const otherWords = cardinality <= ARRAY_CARDINALITY_MAX ? cardinality : BITMAP_WORDS;
  return 1 + 2 * runCount < otherWords;
}
