import { seededRandom } from '../../shared/base/index.ts';

/** Chance of one case: a function of seed and case alone, so that any case can be run again by itself. */
export interface Chance {
  /** A whole number from 0 to below the limit. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

export function chanceOf(seed: number, caseNumber: number): Chance {
  const random = seededRandom(Math.imul(seed, 0x85eb_ca6b) ^ Math.imul(caseNumber, 0xc2b2_ae35));
  const below = (limit: number): number => {
    const [a = 0, b = 0, c = 0] = random.bytes(3);
    return ((a << 16) | (b << 8) | c) % limit;
  };
  return { below, pick: (items) => items[below(items.length)]! };
}
