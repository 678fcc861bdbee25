import { type Containers, ContainersBuilder, indexOfKey, KIND, wordsOf } from './containers.ts';
import { bitsOfRuns, bitsOfValues, clearBitRange, clearRuns, clearValues } from './forms.ts';
import { BITMAP_WORDS, CONTAINER_POSITIONS } from './layout.ts';

/** Up to so many values in all are sorted; beyond, going through all words of a bitmap is quicker. */
const SORTED_VALUES_MAX = 64;

interface ContainerPlace {
  readonly source: Containers;
  readonly index: number;
  readonly key: number;
}

/** What is in any of the sets. Takes the time of sorting their containers by key. */
export function unionOf(sources: readonly Containers[]): Containers {
  const places: ContainerPlace[] = [];
  for (const source of sources) {
    for (let index = 0; index < source.count; index++) {
      places.push({ source, index, key: source.keys[index]! });
    }
  }
  places.sort((one, other) => one.key - other.key);
  const builder = new ContainersBuilder();
  const bits = new Uint16Array(BITMAP_WORDS);
  for (let start = 0; start < places.length; ) {
    const { source, index, key } = places[start]!;
    let end = start + 1;
    while (places[end]?.key === key) end++;
    if (end === start + 1) builder.appendCopy(source, index);
    else appendUnion(builder, places.slice(start, end), bits);
    start = end;
  }
  return builder.finish();
}

/** @param bits scratch, overwritten */
function appendUnion(
  builder: ContainersBuilder,
  places: readonly ContainerPlace[],
  bits: Uint16Array,
): void {
  const { key } = places[0]!;
  if (hasFewValues(places)) {
    builder.appendValues(key, sortedValues(places));
    return;
  }
  bits.fill(0);
  for (const { source, index } of places) addBits(source, index, bits);
  builder.appendBits(key, bits);
}

function hasFewValues(places: readonly ContainerPlace[]): boolean {
  let count = 0;
  for (const { source, index } of places) {
    count += source.kinds[index] === KIND.array ? source.cardinalities[index]! : Infinity;
    if (count > SORTED_VALUES_MAX) return false;
  }
  return true;
}

/** The distinct values of arrays. */
function sortedValues(places: readonly ContainerPlace[]): Uint16Array {
  const values = places.flatMap(({ source, index }) => [...wordsOf(source, index)]);
  return Uint16Array.from(new Set(values)).sort();
}

/** What is in `one` and not in `other`. */
export function differenceOf(one: Containers, other: Containers): Containers {
  const builder = new ContainersBuilder();
  const bits = new Uint16Array(BITMAP_WORDS);
  for (let index = 0; index < one.count; index++) {
    const key = one.keys[index]!;
    const otherIndex = indexOfKey(other, key);
    if (otherIndex < 0) builder.appendCopy(one, index);
    else if (one.kinds[index] === KIND.array) {
      const isLeft = (value: number): boolean => !hasValue(other, otherIndex, value);
      builder.appendValues(key, wordsOf(one, index).filter(isLeft));
    } else {
      loadDifference(one, index, { other, otherIndex, bits });
      builder.appendBits(key, bits);
    }
  }
  return builder.finish();
}

/** Whether all of `part` is in `whole`. */
export function isSupersetOf(whole: Containers, part: Containers): boolean {
  const bits = new Uint16Array(BITMAP_WORDS);
  for (let index = 0; index < part.count; index++) {
    const wholeIndex = indexOfKey(whole, part.keys[index]!);
    if (wholeIndex < 0) return false;
    if (whole.cardinalities[wholeIndex]! < part.cardinalities[index]!) return false;
    if (part.kinds[index] === KIND.array) {
      if (!wordsOf(part, index).every((value) => hasValue(whole, wholeIndex, value))) return false;
    } else {
      loadDifference(part, index, { other: whole, otherIndex: wholeIndex, bits });
      if (bits.some((word) => word !== 0)) return false;
    }
  }
  return true;
}

/** What of the set lies from position `from` to before `to`. */
export function sliceOf(source: Containers, from: number, to: number): Containers {
  const builder = new ContainersBuilder();
  const first = indexOfKey(source, Math.floor(from / CONTAINER_POSITIONS));
  for (let index = first < 0 ? ~first : first; index < source.count; index++) {
    const key = source.keys[index]!;
    const start = Math.max(0, from - key * CONTAINER_POSITIONS);
    const end = Math.min(CONTAINER_POSITIONS, to - key * CONTAINER_POSITIONS);
    if (end <= 0) break;
    if (start === 0 && end === CONTAINER_POSITIONS) builder.appendCopy(source, index);
    else if (source.kinds[index] === KIND.array) {
      const values = wordsOf(source, index);
      builder.appendValues(key, values.subarray(rankOf(values, start), rankOf(values, end)));
    } else {
      const bits = new Uint16Array(BITMAP_WORDS);
      addBits(source, index, bits);
      clearBitRange(bits, 0, start);
      clearBitRange(bits, end, CONTAINER_POSITIONS);
      builder.appendBits(key, bits);
    }
  }
  return builder.finish();
}

/** Whether a container holds a value, which lies below 65,536. */
export function hasValue(source: Containers, index: number, value: number): boolean {
  const words = wordsOf(source, index);
  const kind = source.kinds[index];
  if (kind === KIND.bitmap) return (words[value >>> 4]! & (1 << (value & 15))) !== 0;
  if (kind === KIND.array) return words[rankOf(words, value)] === value;
  let low = 0;
  let high = words.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[2 * middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value <= words[2 * low - 2]! + words[2 * low - 1]!;
}

/** How many of the ascending values are less than `value`. */
function rankOf(values: Uint16Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Overwrites `bits` with what the one container holds and the other does not. */
function loadDifference(
  one: Containers,
  index: number,
  rest: { readonly other: Containers; readonly otherIndex: number; readonly bits: Uint16Array },
): void {
  const { other, otherIndex, bits } = rest;
  bits.fill(0);
  addBits(one, index, bits);
  const words = wordsOf(other, otherIndex);
  const kind = other.kinds[otherIndex];
  if (kind === KIND.array) clearValues(words, bits);
  else if (kind === KIND.run) clearRuns(words, bits);
  else for (let word = 0; word < BITMAP_WORDS; word++) bits[word]! &= ~words[word]!;
}

function addBits(source: Containers, index: number, bits: Uint16Array): void {
  const words = wordsOf(source, index);
  const kind = source.kinds[index];
  if (kind === KIND.array) bitsOfValues(words, bits);
  else if (kind === KIND.run) bitsOfRuns(words, bits);
  else for (let word = 0; word < BITMAP_WORDS; word++) bits[word]! |= words[word]!;
}
