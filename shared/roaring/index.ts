/**
 * Roaring bitmaps of 64-bit row positions in the portable layout, all container kinds, written byte for byte as
 * Iceberg Java writes them. Positions beyond 2^53 - 1 are refused. The containers are plain typed arrays of our own
 * rather than CRoaring's in a WebAssembly heap: CRoaring chooses runs where Java keeps arrays, must not see bytes that
 * were not checked, which is most of the parsing, and needs each bitmap disposed of. In tests it is the second
 * opinion. Left out: the frozen and native layouts, bitmaps that change in place.
 */
export { RoaringBitmap } from './bitmap.ts';
export type { PositionArray } from './build.ts';
export type { PositionRange } from './ranges.ts';
