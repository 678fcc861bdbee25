/**
 * The 64-bit bitmap, all numbers little-endian:
 *
 *     offset  width
 *     0       8      number of 32-bit bitmaps
 *     8              for each, by strictly ascending key: 4 bytes of key, which is position / 2^32, then the bitmap
 *
 * A 32-bit bitmap of n containers without runs (an empty one has n = 0):
 *
 *     0       4      12346
 *     4       4      n
 *     8       4n     for each container: 2 bytes of key, 2 of cardinality - 1
 *     8+4n    4n     for each container: where it begins, from the cookie
 *     8+8n           the containers
 *
 * with runs, where f = ceil(n / 8):
 *
 *     0       2      12347
 *     2       2      n - 1
 *     4       f      one bit for each container, the lowest first: whether it holds runs
 *     4+f     4n     keys and cardinalities, as above
 *     4+f+4n  4n     where each begins: only if n is at least 4
 *                    the containers
 *
 * A container is an array of 2 bytes for each value if its cardinality is at most 4096, else a bitmap of 8192 bytes;
 * one of runs has 2 bytes of run count, then for each run 2 bytes of its start and 2 of its length - 1.
 *
 * @see Roaring format, "General layout", "Extension for 64-bit implementations"
 */
export const COOKIE_WITHOUT_RUNS = 12346;
export const COOKIE_WITH_RUNS = 12347;
export const COUNT_BYTES = 8;
export const KEY_BYTES = 4;

/** A key and an empty 32-bit bitmap: cookie and a count of 0. */
export const KEYED_BITMAP_BYTES_MIN = KEY_BYTES + 8;

/** Key and cardinality of a container. */
export const DESCRIPTION_BYTES = 4;
export const OFFSET_BYTES = 4;

/** With runs, offsets are written from this many containers on; without runs always. */
export const OFFSETS_COUNT_MIN = 4;

/** Keys are 16 bits, and so are the values of a container. */
export const CONTAINERS_PER_BITMAP = 65_536;
export const CONTAINER_POSITIONS = 65_536;

/** Above, an array takes more bytes than the bitmap. */
export const ARRAY_CARDINALITY_MAX = 4096;
export const BITMAP_WORDS = CONTAINER_POSITIONS / 16;

/** Positions are quantities, so they stay within what a number holds; the format reaches to 2^63. */
export const POSITION_MAX = Number.MAX_SAFE_INTEGER;

/** The key of `POSITION_MAX`. */
export const BITMAP_KEY_MAX = 2 ** 21 - 1;
