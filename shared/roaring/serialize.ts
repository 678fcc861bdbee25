import { assert } from '../base/index.ts';
import { ByteWriter } from '../bytes/index.ts';
import { type Containers, KIND, wordsOf } from './containers.ts';
import {
  CONTAINERS_PER_BITMAP,
  COOKIE_WITH_RUNS,
  COOKIE_WITHOUT_RUNS,
  COUNT_BYTES,
  DESCRIPTION_BYTES,
  KEY_BYTES,
  OFFSET_BYTES,
  OFFSETS_COUNT_MIN,
} from './layout.ts';

/** The containers from `start` to before `end`, which share the 32-bit bitmap with this key. */
interface BitmapPart {
  readonly key: number;
  readonly start: number;
  readonly end: number;
  readonly hasRuns: boolean;
}

/**
 * The bytes that Iceberg Java writes for positions set one by one: a bitmap for each key from 0 to the highest, empty
 * ones too, and runs where they are shorter. Where a container of Java's was made from ranges, or was read from a
 * vector and merged, Java may keep runs that save nothing, and differs.
 *
 * @see layout.ts; Iceberg Java, `RoaringPositionBitmap.serialize`
 */
export function serializeContainers(containers: Containers): Uint8Array {
  const parts = partsOf(containers);
  let lengthBytes = COUNT_BYTES;
  for (const part of parts) lengthBytes += KEY_BYTES + bitmapBytes(containers, part);
  const writer = new ByteWriter(lengthBytes);
  writer.u64le(BigInt(parts.length));
  for (const part of parts) {
    writer.u32le(part.key);
    writeBitmap(writer, containers, part);
  }
  assert(writer.lengthBytes === lengthBytes, `roaring: ${writer.lengthBytes} of ${lengthBytes}`);
  return writer.finish();
}

function partsOf(containers: Containers): BitmapPart[] {
  const { count, keys, kinds } = containers;
  const parts: BitmapPart[] = [];
  for (let start = 0; start < count; ) {
    const keyEnd = (parts.length + 1) * CONTAINERS_PER_BITMAP;
    let end = start;
    while (end < count && keys[end]! < keyEnd) end++;
    const hasRuns = kinds.subarray(start, end).includes(KIND.run);
    parts.push({ key: parts.length, start, end, hasRuns });
    start = end;
  }
  return parts;
}

function bitmapBytes(containers: Containers, part: BitmapPart): number {
  let lengthBytes = headerBytes(part);
  for (let index = part.start; index < part.end; index++) {
    lengthBytes += containerBytes(containers, index);
  }
  return lengthBytes;
}

/** Cookie, flags, descriptions and offsets. */
function headerBytes({ start, end, hasRuns }: BitmapPart): number {
  const count = end - start;
  const hasOffsets = !hasRuns || count >= OFFSETS_COUNT_MIN;
  const cookieAndFlagBytes = hasRuns ? 4 + Math.ceil(count / 8) : 8;
  return cookieAndFlagBytes + count * (DESCRIPTION_BYTES + (hasOffsets ? OFFSET_BYTES : 0));
}

function containerBytes({ kinds, wordStarts }: Containers, index: number): number {
  const wordCount = wordStarts[index + 1]! - wordStarts[index]!;
  return 2 * wordCount + (kinds[index] === KIND.run ? 2 : 0);
}

function writeBitmap(writer: ByteWriter, containers: Containers, part: BitmapPart): void {
  const { keys, cardinalities } = containers;
  const { start, end } = part;
  writeCookie(writer, containers, part);
  for (let index = start; index < end; index++) {
    writer.u16le(keys[index]! % CONTAINERS_PER_BITMAP);
    writer.u16le(cardinalities[index]! - 1);
  }
  if (!part.hasRuns || end - start >= OFFSETS_COUNT_MIN) {
    let offset = headerBytes(part);
    for (let index = start; index < end; index++) {
      writer.u32le(offset);
      offset += containerBytes(containers, index);
    }
  }
  for (let index = start; index < end; index++) {
    const words = wordsOf(containers, index);
    if (containers.kinds[index] === KIND.run) writer.u16le(words.length / 2);
    writer.bytes(bytesOfWords(words));
  }
}

function writeCookie(writer: ByteWriter, { kinds }: Containers, part: BitmapPart): void {
  const { start, end, hasRuns } = part;
  const count = end - start;
  if (!hasRuns) {
    writer.u32le(COOKIE_WITHOUT_RUNS);
    writer.u32le(count);
    return;
  }
  writer.u16le(COOKIE_WITH_RUNS);
  writer.u16le(count - 1);
  const flags = new Uint8Array(Math.ceil(count / 8));
  for (let index = 0; index < count; index++) {
    if (kinds[start + index] === KIND.run) flags[index >> 3]! |= 1 << (index & 7);
  }
  writer.bytes(flags);
}

function bytesOfWords(words: Uint16Array): Uint8Array {
  const bytes = new Uint8Array(words.length * 2);
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    bytes[2 * index] = word;
    bytes[2 * index + 1] = word >>> 8;
  }
  return bytes;
}
