/**
 * The three forms of a container's values as 16-bit words, and what turns one into another:
 *
 * - values: each value, strictly ascending;
 * - bits: 4096 words, value v is bit v % 16 of word v / 16, the lowest bit first;
 * - runs: pairs of start and length - 1, ascending, no two touching.
 *
 * These are the hot loops. What they write into holds exactly what they write, and bits that they add to others
 * are only ever set. Java's three kinds of containers have these words in the file, little-endian.
 */

/** How often a value does not follow the one before. */
export function runCountOfValues(values: Uint16Array): number {
  let runCount = values.length === 0 ? 0 : 1;
  for (let index = 1; index < values.length; index++) {
    if (values[index] !== values[index - 1]! + 1) runCount++;
  }
  return runCount;
}

/** How many bits are set, and how many of those have no set bit before them. Takes two words at a time. */
export function countsOfBits(bits: Uint16Array): {
  readonly cardinality: number;
  readonly runCount: number;
} {
  let cardinality = 0;
  let runCount = 0;
  let before = 0;
  for (let index = 0; index < bits.length; index += 2) {
    const word = bits[index]! | (bits[index + 1]! << 16);
    cardinality += bitCount(word);
    runCount += bitCount(word & ~((word << 1) | before));
    before = word >>> 31;
  }
  return { cardinality, runCount };
}

export function cardinalityOfRuns(runs: Uint16Array): number {
  let cardinality = 0;
  for (let index = 1; index < runs.length; index += 2) cardinality += runs[index]! + 1;
  return cardinality;
}

export function writeRunsOfValues(values: Uint16Array, runs: Uint16Array): void {
  let offset = -2;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (index > 0 && value === values[index - 1]! + 1) {
      runs[offset + 1]!++;
    } else {
      offset += 2;
      runs[offset] = value;
    }
  }
}

export function writeRunsOfBits(bits: Uint16Array, runs: Uint16Array): void {
  let offset = 0;
  for (let start = nextBit(bits, 0, 1); start < bits.length * 16; offset += 2) {
    const end = nextBit(bits, start, 0);
    runs[offset] = start;
    runs[offset + 1] = end - start - 1;
    start = nextBit(bits, end, 1);
  }
}

export function writeValuesOfBits(bits: Uint16Array, values: Uint16Array): void {
  let count = 0;
  for (let index = 0; index < bits.length; index++) {
    for (let word = bits[index]!; word !== 0; word &= word - 1) {
      values[count++] = index * 16 + (31 - Math.clz32(word & -word));
    }
  }
}

export function writeValuesOfRuns(runs: Uint16Array, values: Uint16Array): void {
  let count = 0;
  for (let index = 0; index < runs.length; index += 2) {
    const last = runs[index]! + runs[index + 1]!;
    for (let value = runs[index]!; value <= last; value++) values[count++] = value;
  }
}

/** Sets the bits of the values beside those that are set. */
export function bitsOfValues(values: Uint16Array, bits: Uint16Array): void {
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    bits[value >>> 4]! |= 1 << (value & 15);
  }
}

/** Sets the bits of the runs beside those that are set. */
export function bitsOfRuns(runs: Uint16Array, bits: Uint16Array): void {
  for (let index = 0; index < runs.length; index += 2) {
    setBitRange(bits, runs[index]!, runs[index]! + runs[index + 1]! + 1);
  }
}

/** Clears the bits of the values. */
export function clearValues(values: Uint16Array, bits: Uint16Array): void {
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    bits[value >>> 4]! &= ~(1 << (value & 15));
  }
}

/** Clears the bits of the runs. */
export function clearRuns(runs: Uint16Array, bits: Uint16Array): void {
  for (let index = 0; index < runs.length; index += 2) {
    clearBitRange(bits, runs[index]!, runs[index]! + runs[index + 1]! + 1);
  }
}

/** Clears the bits from `start` to before `end`. */
export function clearBitRange(bits: Uint16Array, start: number, end: number): void {
  for (let value = start; value < end; ) {
    const wordEnd = Math.min(end, (value | 15) + 1);
    bits[value >>> 4]! &= ~maskOf(value, wordEnd);
    value = wordEnd;
  }
}

function setBitRange(bits: Uint16Array, start: number, end: number): void {
  for (let value = start; value < end; ) {
    const wordEnd = Math.min(end, (value | 15) + 1);
    bits[value >>> 4]! |= maskOf(value, wordEnd);
    value = wordEnd;
  }
}

/** The bits from `start` to before `end`, both of one word. */
function maskOf(start: number, end: number): number {
  const first = start & 15;
  return (1 << (first + end - start)) - (1 << first);
}

/** The first bit from `start` on that is `wanted` (0 or 1); how many bits there are, if there is none. */
function nextBit(bits: Uint16Array, start: number, wanted: 0 | 1): number {
  const flip = wanted === 1 ? 0 : 0xffff;
  let index = start >>> 4;
  if (index >= bits.length) return bits.length * 16;
  let word = (bits[index]! ^ flip) & (0xffff << (start & 15)) & 0xffff;
  while (word === 0) {
    if (++index === bits.length) return bits.length * 16;
    word = bits[index]! ^ flip;
  }
  return index * 16 + (31 - Math.clz32(word & -word));
}

/** Of a 32-bit word. */
function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
