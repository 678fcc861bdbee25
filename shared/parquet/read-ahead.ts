import type { RangedReader } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';

/** As much as a column chunk is read in at once. */
const WINDOW_BYTES_DEFAULT = 8 * 1024 * 1024;

/** Chunks, Bloom filters and page indexes are visited side by side, each in file order. */
const WINDOW_COUNT = 3;

/**
 * A reader that turns small reads in file order into few large ones: a read that misses fetches a whole window
 * from its offset on, and the last few windows are kept. A read that begins in a window and goes on behind it
 * fetches only what is missing. A file no longer than a window is fetched whole, so that copying it costs one
 * request. Memory: three windows.
 */
export function readAhead(reader: RangedReader, windowBytes = WINDOW_BYTES_DEFAULT): RangedReader {
  const { location, fileSizeBytes } = reader;
  const windows: Window[] = [];

  async function read(offset: number, lengthBytes: number): Promise<Uint8Array> {
    const end = offset + lengthBytes;
    const window = windows.find((one) => offset >= one.offset && offset < endOf(one));
    if (window === undefined) {
      const isPassedThrough = lengthBytes >= windowBytes || end > fileSizeBytes;
      if (isPassedThrough) return reader.read(offset, lengthBytes);
      return copyOf(await load(offset), offset, end);
    }
    if (end <= endOf(window)) return copyOf(window, offset, end);
    const rest = await read(endOf(window), end - endOf(window));
    return concatBytes([window.bytes.subarray(offset - window.offset), rest]);
  }

  async function load(offset: number): Promise<Window> {
    const start = fileSizeBytes <= windowBytes ? 0 : offset;
    const bytes = await reader.read(start, Math.min(windowBytes, fileSizeBytes - start));
    const window = { offset: start, bytes };
    windows.unshift(window);
    windows.splice(WINDOW_COUNT);
    return window;
  }

  return { location, fileSizeBytes, read };
}

interface Window {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

function endOf({ offset, bytes }: Window): number {
  return offset + bytes.length;
}

/** The caller may keep and change what it is given. */
function copyOf(window: Window, offset: number, end: number): Uint8Array {
  return window.bytes.slice(offset - window.offset, end - window.offset);
}
