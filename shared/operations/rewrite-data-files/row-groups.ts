import {
  expectedOutputFileCount,
  type FileSizes,
  outputSizeBytesMax,
  splitSizeBytes,
} from './output-size.ts';

/**
 * The bytes of each row group of a Parquet file, from its split offsets; the footer counts with the last one.
 * A file whose split offsets are missing or not ascending within the file is taken as pieces of at most
 * `pieceBytesMax`, since it may have any number of row groups.
 */
export function rowGroupSizes(
  file: { readonly fileSizeBytes: number; readonly splitOffsets?: readonly number[] },
  pieceBytesMax: number,
): readonly number[] {
  const offsets = file.splitOffsets ?? [];
  const ends = [...offsets.slice(1), file.fileSizeBytes];
  const isKnown = offsets.every((offset, index) => offset >= 0 && offset < ends[index]!);
  if (offsets.length > 0 && isKnown) return offsets.map((offset, index) => ends[index]! - offset);
  const pieceCount = Math.max(1, Math.ceil(file.fileSizeBytes / pieceBytesMax));
  return Array.from({ length: pieceCount }, () => Math.ceil(file.fileSizeBytes / pieceCount));
}

/** What the outputs of a group will look like, as far as the sizes of its row groups tell. */
export interface OutputForecast {
  /** An output is closed before the row group that would take it beyond this size. */
  readonly outputSizeBytes: number;
  readonly fileCount: number;
}

/** Steps of the search below: 2^-20 of the range between split size and maximum is less than a footer. */
const SEARCH_STEPS = 20;

/**
 * Chooses the size at which outputs are closed. Row groups are moved whole, so they may not fill even shares;
 * then the smallest size, up to the writer's maximum, that reaches the expected number of files is taken. Only a
 * row group larger than that is cut, by rows.
 */
export function forecastOutputs(rowGroups: readonly number[], sizes: FileSizes): OutputForecast {
  const inputBytes = rowGroups.reduce((sum, bytes) => sum + bytes, 0);
  const countWanted = expectedOutputFileCount(inputBytes, sizes);
  const isReached = (outputBytes: number): boolean =>
    packedFileCount(rowGroups, outputBytes) <= countWanted;
  let low = splitSizeBytes(inputBytes, sizes);
  let high = outputSizeBytesMax(sizes);
  if (!isReached(low)) {
    for (let step = 0; isReached(high) && step < SEARCH_STEPS && low + 1 < high; step++) {
      const middle = Math.floor((low + high) / 2);
      if (isReached(middle)) high = middle;
      else low = middle;
    }
    low = high;
  }
  return { outputSizeBytes: low, fileCount: packedFileCount(rowGroups, low) };
}

function packedFileCount(rowGroups: readonly number[], outputSizeBytes: number): number {
  let fileCount = 0;
  let openBytes = Number.POSITIVE_INFINITY;
  for (const bytes of rowGroups) {
    const pieceCount = Math.max(1, Math.ceil(bytes / outputSizeBytes));
    const pieceBytes = Math.ceil(bytes / pieceCount);
    for (let piece = 0; piece < pieceCount; piece++) {
      const isNewFile = openBytes + pieceBytes > outputSizeBytes;
      if (isNewFile) fileCount++;
      openBytes = isNewFile ? pieceBytes : openBytes + pieceBytes;
    }
  }
  return fileCount;
}
