import type { RangedReader } from '../base/index.ts';

/** As much as a column chunk is read in at once. */
const WINDOW_BYTES_DEFAULT = 8 * 1024 * 1024;

/** Chunks, Bloom filters and page indexes are visited side by side, each in file order. */
const WINDOW_COUNT = 3;

/**
 * A reader that turns small reads in file order into few large ones: a read that misses fetches a whole window
 * from its offset on, and the last few windows are kept. A file no longer than a window is fetched whole, so
 * that copying it costs one request. Memory: three windows.
 */
export function readAhead(reader: RangedReader, windowBytes = WINDOW_BYTES_DEFAULT): RangedReader {
  const { location, fileSizeBytes } = reader;
  const windows: Window[] = [];

  async function read(offset: number, lengthBytes: number): Promise<Uint8Array> {
    const hit = windows.find((window) => covers(window, offset, lengthBytes));
    const isPassedThrough = lengthBytes >= windowBytes || offset + lengthBytes > fileSizeBytes;
    if (hit === undefined && isPassedThrough) return reader.read(offset, lengthBytes);
    const window = hit ?? (await load(offset));
    // A copy: the caller may keep and change it.
    return window.bytes.slice(offset - window.offset, offset - window.offset + lengthBytes);
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

function covers(window: Window, offset: number, lengthBytes: number): boolean {
  return offset >= window.offset && offset + lengthBytes <= window.offset + window.bytes.length;
}
