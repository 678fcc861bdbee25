import type { RoaringBitmap } from '../roaring/index.ts';

/** For each of `rowCount` rows from a position on, 1 where a bitmap has it. */
export function flagsOf(
  positions: RoaringBitmap,
  firstPosition: number,
  rowCount: number,
): Uint8Array {
  const flags = new Uint8Array(rowCount);
  const here = positions.slice(firstPosition, firstPosition + rowCount);
  for (const position of here.positions()) flags[position - firstPosition] = 1;
  return flags;
}
