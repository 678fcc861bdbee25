import type { RoaringBitmap } from '../roaring/index.ts';

/** Tells for positions, none less than the one before, whether a bitmap has them. One pass over its ranges. */
export function membershipCursor(bitmap: RoaringBitmap): (position: number) => boolean {
  const ranges = bitmap.ranges();
  let range = ranges.next().value;
  return (position) => {
    while (range && range.end <= position) range = ranges.next().value;
    return range ? range.start <= position : false;
  };
}

/** Tells for positions, none less than the one before, how many of a bitmap's are less. One pass over its ranges. */
export function rankCursor(bitmap: RoaringBitmap): (position: number) => number {
  const ranges = bitmap.ranges();
  let range = ranges.next().value;
  let countBefore = 0;
  return (position) => {
    while (range && range.end <= position) {
      countBefore += range.end - range.start;
      range = ranges.next().value;
    }
    return range && range.start < position ? countBefore + position - range.start : countBefore;
  };
}
