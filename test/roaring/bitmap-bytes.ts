import { ByteWriter } from '../../shared/bytes/index.ts';

/** A container as a test wants it, whatever the layout says of it. */
export interface ContainerParts {
  readonly key: number;
  readonly cardinality: number;
  readonly isRun?: boolean;
  /** 16-bit words of the container; of runs those behind their count. */
  readonly words: readonly number[];
  /** Other than the true ones. */
  readonly offset?: number;
  readonly runCount?: number;
}

export interface BitmapParts {
  readonly key: number;
  readonly containers: readonly ContainerParts[];
  readonly cookie?: number;
}

/** A 64-bit bitmap, written from the layout's text without the help of the code under test. */
export function bitmapBytes(
  bitmaps: readonly BitmapParts[],
  bitmapCount: bigint = BigInt(bitmaps.length),
): Uint8Array {
  const writer = new ByteWriter();
  writer.u64le(bitmapCount);
  for (const bitmap of bitmaps) writeBitmap(writer, bitmap);
  return writer.finish();
}

/** A bitmap of key 0 with these containers. */
export function containersBytes(...containers: readonly ContainerParts[]): Uint8Array {
  return bitmapBytes([{ key: 0, containers }]);
}

function writeBitmap(writer: ByteWriter, { key, containers, cookie }: BitmapParts): void {
  const count = containers.length;
  const hasRuns = containers.some(({ isRun }) => isRun);
  const hasOffsets = !hasRuns || count >= 4;
  writer.u32le(key);
  const start = writer.lengthBytes;
  writer.u32le(cookie ?? (hasRuns ? 12347 | ((count - 1) << 16) : 12346));
  if (hasRuns) {
    for (let first = 0; first < count; first += 8) {
      const bits = containers
        .slice(first, first + 8)
        .reduce((sum, { isRun }, bit) => sum | (isRun ? 1 << bit : 0), 0);
      writer.u8(bits);
    }
  } else writer.u32le(count);
  for (const { key: containerKey, cardinality } of containers) {
    writer.u16le(containerKey);
    writer.u16le(cardinality - 1);
  }
  let offset = writer.lengthBytes - start + (hasOffsets ? 4 * count : 0);
  if (hasOffsets) {
    for (const { words, isRun, offset: other } of containers) {
      writer.u32le(other ?? offset);
      offset += 2 * words.length + (isRun ? 2 : 0);
    }
  }
  for (const { words, isRun, runCount } of containers) {
    if (isRun) writer.u16le(runCount ?? words.length / 2);
    for (const word of words) writer.u16le(word);
  }
}
