/**
 * Two 32-bit hashes side by side, in the manner of MurmurHash3 with a set of constants for each. Not for adversaries: it is
 * to notice mistakes of ours, and lets one pass with a chance of about 2^-64.
 */
export interface HashLanes {
  readonly first: Uint32Array;
  readonly second: Uint32Array;
}

/** Sums of finished lanes: the same whatever the order in which items were added. */
export interface LaneSums {
  readonly first: bigint;
  readonly second: bigint;
}

export const NO_SUMS: LaneSums = { first: 0n, second: 0n };

export function createLanes(count: number): HashLanes {
  return {
    first: new Uint32Array(count).fill(0x9747b28c),
    second: new Uint32Array(count).fill(0x3c6ef372),
  };
}

/** Takes a 32-bit word into the lanes of one item. */
export function mixWord({ first, second }: HashLanes, index: number, word: number): void {
  let one = Math.imul(word, 0xcc9e2d51);
  one = Math.imul((one << 15) | (one >>> 17), 0x1b873593);
  let state = first[index]! ^ one;
  state = (state << 13) | (state >>> 19);
  first[index] = Math.imul(state, 5) + 0xe6546b64;
  let other = Math.imul(word, 0x239b961b);
  other = Math.imul((other << 16) | (other >>> 16), 0xab0e9789);
  state = second[index]! ^ other;
  state = (state << 17) | (state >>> 15);
  second[index] = Math.imul(state, 5) + 0x561ccd1b;
}

/** Takes bytes `[start, start + lengthBytes)` into the lanes of one item, four at a time; the rest is padded. */
export function mixBytes(
  lanes: HashLanes,
  index: number,
  bytes: { readonly bytes: Uint8Array; readonly start: number; readonly lengthBytes: number },
): void {
  const { bytes: source, start, lengthBytes } = bytes;
  const end = start + lengthBytes;
  // Beyond the end there is zero, and the length, which the caller mixes where it varies, tells it from a zero.
  for (let offset = start; offset < end; offset += 4) {
    const isWhole = offset + 4 <= end;
    const second = isWhole || offset + 1 < end ? source[offset + 1]! : 0;
    const third = isWhole || offset + 2 < end ? source[offset + 2]! : 0;
    const fourth = isWhole ? source[offset + 3]! : 0;
    mixWord(lanes, index, source[offset]! | (second << 8) | (third << 16) | (fourth << 24));
  }
}

/** Finishes the lanes of all items and adds them up. */
export function sumLanes({ first, second }: HashLanes, sums: LaneSums): LaneSums {
  let firstSum = 0n;
  let secondSum = 0n;
  // A sum of 2^20 numbers below 2^32 is exact.
  for (let start = 0; start < first.length; start += 2 ** 20) {
    const end = Math.min(start + 2 ** 20, first.length);
    let firstPart = 0;
    let secondPart = 0;
    for (let index = start; index < end; index++) {
      const one = finish(first[index]! ^ Math.imul(second[index]!, 0x9e3779b1));
      firstPart += one;
      secondPart += finish(second[index]! ^ Math.imul(one, 0x85ebca77));
    }
    firstSum += BigInt(firstPart);
    secondSum += BigInt(secondPart);
  }
  return { first: sums.first + firstSum, second: sums.second + secondSum };
}

export function isSameSums(one: LaneSums, other: LaneSums): boolean {
  return one.first === other.first && one.second === other.second;
}

function finish(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
