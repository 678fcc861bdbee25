import type { RewriteDataFilesOptions } from './options.ts';

/** The three sizes, in bytes, that decide how large output files become. */
export type FileSizes = Pick<
  RewriteDataFilesOptions,
  'targetFileSizeBytes' | 'fileSizeBytesMin' | 'fileSizeBytesMax'
>;

/** Bytes added to the even share, so that rounding does not leave a tiny file at the end of a group. */
const SPLIT_OVERHEAD_BYTES = 5 * 1024;

/** How far above the target the average output may lie when a small remainder is spread over the others. */
const SPREAD_RATIO_MAX = 1.1;

/** The largest output, in bytes, a writer is asked for: halfway between target and maximum. */
export function outputSizeBytesMax(sizes: FileSizes): number {
  const room = sizes.fileSizeBytesMax - sizes.targetFileSizeBytes;
  return Math.trunc(sizes.targetFileSizeBytes + room * 0.5);
}

/**
 * How many files `inputBytes` are written to: the remainder becomes a file of its own if it is large enough
 * to be one, and is spread over the others while they stay near the target.
 *
 * @see Iceberg Java, `SizeBasedFileRewritePlanner.expectedOutputFiles`
 */
export function expectedOutputFileCount(inputBytes: number, sizes: FileSizes): number {
  const target = sizes.targetFileSizeBytes;
  if (inputBytes < target) return 1;
  const floor = Math.floor(inputBytes / target);
  const ceiling = Math.ceil(inputBytes / target);
  if (inputBytes % target > sizes.fileSizeBytesMin) return ceiling;
  const spreadBytes = Math.floor(inputBytes / floor);
  const spreadBytesEnd = Math.min(SPREAD_RATIO_MAX * target, outputSizeBytesMax(sizes));
  return spreadBytes < spreadBytesEnd ? floor : ceiling;
}

/**
 * The size at which an output of a group of `inputBytes` is closed.
 *
 * @see Iceberg Java, `SizeBasedFileRewritePlanner.inputSplitSize`
 */
export function splitSizeBytes(inputBytes: number, sizes: FileSizes): number {
  const shareBytes = Math.floor(inputBytes / expectedOutputFileCount(inputBytes, sizes));
  const estimateBytes = shareBytes + SPLIT_OVERHEAD_BYTES;
  if (estimateBytes < sizes.targetFileSizeBytes) return sizes.targetFileSizeBytes;
  return Math.min(estimateBytes, outputSizeBytesMax(sizes));
}
