const LENGTH_AND_MAGIC_BYTES = 8;
const COOKIE_WITH_RUNS = 12347;
const COOKIE_WITHOUT_RUNS = 12346;
const OFFSETS_COUNT_MIN = 4;
const ARRAY_CARDINALITY_MAX = 4096;
const BITMAP_BYTES = 8192;

/** Every position of a `deletion-vector-v1` blob, one by one. @see Puffin spec; Roaring format, "64-bit" */
export function readDeletionVectorSlowly(blob: Uint8Array): Set<number> {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  const positions = new Set<number>();
  let offset = LENGTH_AND_MAGIC_BYTES;
  const bitmapCount = view.getUint32(offset, true);
  offset += 8;
  for (let index = 0; index < bitmapCount; index++) {
    const high = view.getUint32(offset, true) * 2 ** 32;
    offset = readBitmap(view, offset + 4, (low) => positions.add(high + low));
  }
  return positions;
}

/** One 32-bit bitmap; returns where it ends. */
function readBitmap(view: DataView, start: number, add: (value: number) => void): number {
  const cookie = view.getUint32(start, true);
  const hasRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS;
  if (!hasRuns && cookie !== COOKIE_WITHOUT_RUNS) throw new TypeError('slow roaring: bad cookie');
  const count = hasRuns ? (cookie >>> 16) + 1 : view.getUint32(start + 4, true);
  const flags = start + 4;
  const keys = hasRuns ? flags + Math.ceil(count / 8) : start + 8;
  let offset = keys + 4 * count + (!hasRuns || count >= OFFSETS_COUNT_MIN ? 4 * count : 0);
  for (let index = 0; index < count; index++) {
    const base = view.getUint16(keys + 4 * index, true) * 0x10000;
    const cardinality = view.getUint16(keys + 4 * index + 2, true) + 1;
    const isRun = hasRuns && (view.getUint8(flags + (index >> 3)) & (1 << (index & 7))) !== 0;
    const addLow = (low: number): void => add(base + low);
    if (isRun) offset = readRuns(view, offset, addLow);
    else if (cardinality > ARRAY_CARDINALITY_MAX) offset = readBits(view, offset, addLow);
    else {
      for (let each = 0; each < cardinality; each++)
        addLow(view.getUint16(offset + 2 * each, true));
      offset += 2 * cardinality;
    }
  }
  return offset;
}

function readRuns(view: DataView, start: number, add: (low: number) => void): number {
  const runCount = view.getUint16(start, true);
  for (let run = 0; run < runCount; run++) {
    const first = view.getUint16(start + 2 + 4 * run, true);
    const last = first + view.getUint16(start + 4 + 4 * run, true);
    for (let low = first; low <= last; low++) add(low);
  }
  return start + 2 + 4 * runCount;
}

function readBits(view: DataView, start: number, add: (low: number) => void): number {
  for (let low = 0; low < BITMAP_BYTES * 8; low++) {
    if ((view.getUint8(start + (low >> 3)) & (1 << (low & 7))) !== 0) add(low);
  }
  return start + BITMAP_BYTES;
}
