import type { DataFile } from '../iceberg/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { DeleteTreatment } from './types.ts';

/**
 * Purging pays where it takes out at least this share of what must be decoded for it. To decode and encode a byte
 * takes about ten times as long as to copy it, and a byte taken out is never copied, stored or read again.
 */
const PURGED_SHARE_MIN = 0.1;

/** Bytes of an input that a rewrite takes over in one way or the other. */
export interface TreatmentEstimate {
  /** Decoded, and encoded anew. */
  readonly decodedBytes: number;
  readonly copiedBytes: number;
}

export interface DeletesEstimate {
  readonly carry: TreatmentEstimate;
  readonly purge: TreatmentEstimate;
  /** What the deleted rows take in the file: what outputs are smaller by, and readers save, when they are purged. */
  readonly deletedBytes: number;
}

export interface EstimateDeletesOptions {
  readonly dataFile: Pick<DataFile, 'recordCount' | 'fileSizeBytes' | 'splitOffsets'>;
  /** What is deleted of the file. */
  readonly positions: RoaringBitmap;
  /** As the rewrite is told: larger row groups are split, and so decoded in any case. */
  readonly outputSizeBytes: number;
}

/**
 * Estimates what either treatment of a file's deleted rows costs, from its manifest entry alone: rows are taken to be
 * of equal length, and columns to be copied where they can be. Reads nothing.
 */
export function estimateDeletes(options: EstimateDeletesOptions): DeletesEstimate {
  const carry = { decodedBytes: 0, copiedBytes: 0 };
  const purge = { decodedBytes: 0, copiedBytes: 0 };
  let deletedBytes = 0;
  for (const { sizeBytes, firstRow, endRow } of rowGroupsOf(options.dataFile)) {
    const isSplit = sizeBytes > options.outputSizeBytes;
    if (isSplit) carry.decodedBytes += sizeBytes;
    else carry.copiedBytes += sizeBytes;
    const rowCount = endRow - firstRow;
    const deletedCount = options.positions.slice(firstRow, endRow).cardinality;
    deletedBytes += rowCount === 0 ? 0 : (sizeBytes * deletedCount) / rowCount;
    if (deletedCount > 0 && deletedCount === rowCount) continue;
    if (isSplit || deletedCount > 0) purge.decodedBytes += sizeBytes;
    else purge.copiedBytes += sizeBytes;
  }
  return { carry, purge, deletedBytes };
}

/**
 * The treatment to take where nobody asks for one: `carry` where the deleted rows are less than a tenth of what
 * would have to be decoded only to purge them. So row groups that vanish whole, or are decoded anyway, count for
 * purging.
 */
export function cheaperTreatment({ carry, purge, deletedBytes }: DeletesEstimate): DeleteTreatment {
  const decodedMoreBytes = purge.decodedBytes - carry.decodedBytes;
  return deletedBytes >= PURGED_SHARE_MIN * decodedMoreBytes ? 'purge' : 'carry';
}

interface EstimatedRowGroup {
  readonly sizeBytes: number;
  readonly firstRow: number;
  readonly endRow: number;
}

/** By the split offsets, or one where they are absent or make no sense. */
function rowGroupsOf(dataFile: EstimateDeletesOptions['dataFile']): readonly EstimatedRowGroup[] {
  const { recordCount, fileSizeBytes, splitOffsets = [] } = dataFile;
  const starts = isAscending(splitOffsets, fileSizeBytes) ? splitOffsets : [0];
  const firstStart = starts[0] ?? 0;
  const allBytes = Math.max(fileSizeBytes - firstStart, 1);
  const rowAt = (offset: number) => Math.round((recordCount * (offset - firstStart)) / allBytes);
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? fileSizeBytes;
    return { sizeBytes: end - start, firstRow: rowAt(start), endRow: rowAt(end) };
  });
}

function isAscending(offsets: readonly number[], end: number): boolean {
  const isBefore = (offset: number, index: number) => offset < (offsets[index + 1] ?? end);
  return offsets.length > 0 && offsets[0]! >= 0 && offsets.every(isBefore);
}
