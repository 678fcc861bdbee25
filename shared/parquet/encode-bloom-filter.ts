import { xxhash64 } from 'hyparquet/src/xxhash.js';
import { assert } from '../base/index.ts';
import { BLOOM_FILTER_BLOCK_BYTES } from './layout.ts';
import { type PhysicalValues, physicalValueAt } from './leaf-values.ts';

/** Multipliers that spread one 32-bit key over the eight words of a block. */
const SALTS = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
];

const BLOCK_WORDS = 8;
const BLOCK_BITS = 256;

export interface BloomFilterOptions {
  /** False positives accepted, in (0, 1). */
  readonly falsePositiveFraction: number;
  /** The bitset is never larger; rounded down to a power of two. */
  readonly sizeBytesMax: number;
}

/**
 * A split-block Bloom filter that is built at its greatest size and folded afterwards: joining neighbouring
 * blocks gives exactly the filter of half the size, so nothing has to be known of the values beforehand.
 *
 * @see Parquet format, "Parquet Bloom Filter"
 */
export class BloomFilterBuilder {
  readonly #words: Uint32Array;
  readonly #falsePositiveFraction: number;

  constructor(options: BloomFilterOptions) {
    const blockCount = 2 ** Math.floor(Math.log2(options.sizeBytesMax / BLOOM_FILTER_BLOCK_BYTES));
    assert(blockCount >= 1, `bloom filter: ${options.sizeBytesMax} bytes hold no block`);
    this.#words = new Uint32Array(blockCount * BLOCK_WORDS);
    this.#falsePositiveFraction = options.falsePositiveFraction;
  }

  /** Adds values by their PLAIN form; byte arrays without their length. */
  add(values: PhysicalValues): void {
    for (let index = 0; index < values.count; index++) {
      this.#insert(xxhash64(physicalValueAt(values, index)));
    }
  }

  /** The bitset of the smallest filter that keeps the false positives within what was asked. */
  bitset(): Uint8Array {
    let words = this.#words;
    while (words.length > BLOCK_WORDS) {
      const folded = fold(words);
      if (falsePositives(folded) > this.#falsePositiveFraction) break;
      words = folded;
    }
    const bytes = new Uint8Array(words.length * 4);
    const view = new DataView(bytes.buffer);
    words.forEach((word, index) => {
      view.setUint32(index * 4, word, true);
    });
    return bytes;
  }

  #insert(hash: bigint): void {
    const blockCount = BigInt(this.#words.length / BLOCK_WORDS);
    const block = Number(((hash >> 32n) * blockCount) >> 32n) * BLOCK_WORDS;
    const key = Number(hash & 0xffffffffn);
    for (const [word, salt] of SALTS.entries()) {
      const bit = Math.imul(key, salt) >>> 27;
      this.#words[block + word] = this.#words[block + word]! | (1 << bit);
    }
  }
}

function fold(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const folded = new Uint32Array(words.length / 2);
  for (let block = 0; block < folded.length; block += BLOCK_WORDS) {
    for (let word = 0; word < BLOCK_WORDS; word++) {
      folded[block + word] = words[block * 2 + word]! | words[block * 2 + BLOCK_WORDS + word]!;
    }
  }
  return folded;
}

/** The chance that a value that was not added finds all its bits set, averaged over the blocks. */
function falsePositives(words: Uint32Array): number {
  let sum = 0;
  for (let block = 0; block < words.length; block += BLOCK_WORDS) {
    let bitCount = 0;
    for (let word = 0; word < BLOCK_WORDS; word++) bitCount += countBits(words[block + word]!);
    sum += (bitCount / BLOCK_BITS) ** BLOCK_WORDS;
  }
  return sum / (words.length / BLOCK_WORDS);
}

function countBits(word: number): number {
  let rest = word - ((word >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
