import { type Random, seededRandom } from '../../shared/base/index.ts';

/** Chance that is a function of a seed and a name, so that one actor's luck does not depend on the others'. */
export interface Chance {
  /** A whole number from 0 to below the limit. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  is(probability: number): boolean;
}

export function chanceOf(seed: number, name: string): Chance {
  const random = randomOf(seed, name);
  const fraction = (): number => {
    const [a = 0, b = 0, c = 0] = random.bytes(3);
    return ((a << 16) | (b << 8) | c) / 2 ** 24;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    is: (probability) => fraction() < probability,
  };
}

export function randomOf(seed: number, name: string): Random {
  let hash = Math.imul(seed, 0x85eb_ca6b) ^ 0x1656_67b1;
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 0x0100_0193);
  const random = seededRandom(hash);
  // The first draws of near seeds are alike.
  random.bytes(16);
  return random;
}
