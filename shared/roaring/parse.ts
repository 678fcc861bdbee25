import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import { type Containers, ContainersBuilder } from './containers.ts';
import {
  ARRAY_CARDINALITY_MAX,
  BITMAP_KEY_MAX,
  BITMAP_WORDS,
  CONTAINER_POSITIONS,
  CONTAINERS_PER_BITMAP,
  COOKIE_WITH_RUNS,
  COOKIE_WITHOUT_RUNS,
  DESCRIPTION_BYTES,
  KEYED_BITMAP_BYTES_MIN,
  OFFSET_BYTES,
  OFFSETS_COUNT_MIN,
} from './layout.ts';

/** Keys are signed in Java, and the highest bit of a position must be 0. */
const SIGNED_KEY_MAX = 2 ** 31 - 1;

interface Cursor {
  readonly reader: ByteReader;
  readonly builder: ContainersBuilder;
}

/** What the header of a 32-bit bitmap says of its containers. */
interface BitmapHeader {
  readonly count: number;
  /** Little-endian bits, absent where no container may hold runs. */
  readonly runFlags?: Uint8Array;
  /** Of each container its key and cardinality - 1. */
  readonly descriptions: Uint16Array;
  /** Of each container, from the cookie. */
  readonly offsets?: Uint32Array;
}

/**
 * Parses a 64-bit bitmap, and checks all that it says twice: counts against the bytes that are there, cardinalities
 * against the values, offsets against where containers are; keys, values and runs ascend, and no byte is left over.
 * Empty 32-bit bitmaps, keys left out, runs that touch, and forms that are not the smallest are accepted. Memory
 * stays within a small multiple of the bytes.
 *
 * @throws invalid-data — when any of that does not hold
 * @throws unsupported — for positions beyond 2^53 - 1
 * @see layout.ts
 */
export function parseContainers(bytes: Uint8Array, subject: string): Containers {
  const cursor = { reader: new ByteReader(bytes, subject), builder: new ContainersBuilder() };
  const { reader, builder } = cursor;
  const bitmapCount = parseBitmapCount(reader);
  let keyBefore = -1;
  for (let index = 0; index < bitmapCount; index++) {
    const key = reader.u32le();
    if (key <= keyBefore) throw reader.invalid(`bitmap key ${key} follows ${keyBefore}`);
    requireSafeKey(key, subject);
    parseBitmap(cursor, key);
    keyBefore = key;
  }
  reader.requireEnd();
  return builder.finish();
}

function parseBitmapCount(reader: ByteReader): number {
  const bitmapCount = reader.u64le();
  const possibleCount = Math.floor(reader.remainingBytes / KEYED_BITMAP_BYTES_MIN);
  if (bitmapCount <= BigInt(possibleCount)) return Number(bitmapCount);
  throw reader.invalid(`${bitmapCount} bitmaps in bytes for at most ${possibleCount}`);
}

function requireSafeKey(key: number, subject: string): void {
  if (key <= BITMAP_KEY_MAX) return;
  throw new IcebergError(
    key > SIGNED_KEY_MAX ? 'invalid-data' : 'unsupported',
    `${subject}: bitmap key ${key} exceeds ${key > SIGNED_KEY_MAX ? SIGNED_KEY_MAX : BITMAP_KEY_MAX}`,
  );
}

function parseBitmap(cursor: Cursor, bitmapKey: number): void {
  const { reader } = cursor;
  const start = reader.offset;
  const { count, runFlags, descriptions, offsets } = parseHeader(reader);
  let keyBefore = -1;
  for (let index = 0; index < count; index++) {
    const keyInBitmap = descriptions[2 * index]!;
    const cardinality = descriptions[2 * index + 1]! + 1;
    if (keyInBitmap <= keyBefore) {
      throw reader.invalid(`container key ${keyInBitmap} follows ${keyBefore}`);
    }
    keyBefore = keyInBitmap;
    const offset = offsets?.[index];
    if (offset !== undefined && offset !== reader.offset - start) {
      throw reader.invalid(`container is said to begin at ${offset}, not ${reader.offset - start}`);
    }
    const key = bitmapKey * CONTAINERS_PER_BITMAP + keyInBitmap;
    const isRun = runFlags !== undefined && (runFlags[index >> 3]! & (1 << (index & 7))) !== 0;
    const found = appendContainer(cursor, { key, cardinality, isRun });
    if (found !== cardinality) {
      throw reader.invalid(`container of ${found} values is said to have ${cardinality}`);
    }
  }
}

/** Returns how many values there are; `cardinality` is what the header says. */
function appendContainer(
  { reader, builder }: Cursor,
  said: { readonly key: number; readonly cardinality: number; readonly isRun: boolean },
): number {
  const { key, cardinality, isRun } = said;
  if (isRun) return builder.appendRuns(key, parseRuns(reader));
  if (cardinality > ARRAY_CARDINALITY_MAX) {
    return builder.appendBits(key, parseWords(reader, BITMAP_WORDS));
  }
  return builder.appendValues(key, parseValues(reader, cardinality));
}

function parseHeader(reader: ByteReader): BitmapHeader {
  const cookie = reader.u32le();
  const hasRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS;
  if (!hasRuns && cookie !== COOKIE_WITHOUT_RUNS) {
    throw reader.invalid(
      `cookie ${cookie} is neither ${COOKIE_WITHOUT_RUNS} nor ${COOKIE_WITH_RUNS}`,
    );
  }
  const count = hasRuns ? (cookie >>> 16) + 1 : reader.u32le();
  if (count > CONTAINERS_PER_BITMAP) {
    throw reader.invalid(`${count} containers, at most ${CONTAINERS_PER_BITMAP} are possible`);
  }
  const runFlags = hasRuns ? reader.bytes(Math.ceil(count / 8)) : undefined;
  const descriptions = parseWords(reader, (count * DESCRIPTION_BYTES) / 2);
  const hasOffsets = !hasRuns || count >= OFFSETS_COUNT_MIN;
  return {
    count,
    descriptions,
    ...(runFlags === undefined ? {} : { runFlags }),
    ...(hasOffsets ? { offsets: parseOffsets(reader, count) } : {}),
  };
}

function parseOffsets(reader: ByteReader, count: number): Uint32Array {
  const bytes = reader.bytes(count * OFFSET_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: count }, (_, index) => view.getUint32(4 * index, true));
}

function parseValues(reader: ByteReader, cardinality: number): Uint16Array {
  const values = parseWords(reader, cardinality);
  for (let index = 1; index < values.length; index++) {
    if (values[index]! <= values[index - 1]!) {
      throw reader.invalid(`value ${values[index]} follows ${values[index - 1]}`);
    }
  }
  return values;
}

/** Runs that touch become one. */
function parseRuns(reader: ByteReader): Uint16Array {
  const runs = parseWords(reader, 2 * reader.u16le());
  let wordCount = 0;
  let end = -1;
  for (let index = 0; index < runs.length; index += 2) {
    const start = runs[index]!;
    const length = runs[index + 1]! + 1;
    if (start < end) throw reader.invalid(`run at ${start} begins before ${end}`);
    if (start + length > CONTAINER_POSITIONS) {
      throw reader.invalid(`run of ${length} at ${start} exceeds ${CONTAINER_POSITIONS}`);
    }
    if (start === end) runs[wordCount - 1]! += length;
    else {
      runs[wordCount++] = start;
      runs[wordCount++] = length - 1;
    }
    end = start + length;
  }
  return runs.subarray(0, wordCount);
}

function parseWords(reader: ByteReader, count: number): Uint16Array {
  const bytes = reader.bytes(count * 2);
  const words = new Uint16Array(count);
  for (let index = 0; index < count; index++) {
    words[index] = bytes[2 * index]! | (bytes[2 * index + 1]! << 8);
  }
  return words;
}
