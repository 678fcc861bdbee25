import { ByteReader } from '../bytes/index.ts';
import { decompress } from '../compress/index.ts';
import { canDecompress, codecFor } from './compression.ts';
import type { WalkedPage } from './page-sequence.ts';
import type { ParquetColumnChunk } from './parquet-file.ts';

/** Rows that begin in a page, and whether its first entry begins one. */
export interface PageRows {
  readonly rowCount: number;
  readonly startsRow: boolean;
}

/**
 * Counts the rows that begin in a data page of a repeated column by its repetition levels. Costs the
 * decompression of a v1 page. `undefined` where the levels cannot be reached: a codec we cannot open, or the
 * deprecated bit-packed levels.
 *
 * @throws invalid-data — when the levels do not give the page's number of values
 */
export function countPageRows(
  { header, body }: WalkedPage,
  chunk: ParquetColumnChunk,
  subject: string,
): PageRows | undefined {
  const bitWidth = 32 - Math.clz32(chunk.leaf.maxRepetitionLevel);
  const { dataPageHeader: v1, dataPageHeaderV2: v2 } = header;
  if (header.type === 'DATA_PAGE_V2' && v2) {
    const levels = body.subarray(0, v2.repetitionLevelsByteLength);
    return countZeroLevels(levels, bitWidth, v2.numValues, subject);
  }
  if (header.type !== 'DATA_PAGE' || v1 === undefined) return undefined;
  const { codec } = chunk.metaData;
  if (v1.repetitionLevelEncoding !== 'RLE' || !canDecompress(codec)) return undefined;
  const page = decompress(codecFor(codec, subject), body, header.uncompressedPageSize, subject);
  const reader = new ByteReader(page, `${subject}: repetition levels`);
  return countZeroLevels(reader.bytes(reader.u32le()), bitWidth, v1.numValues, subject);
}

/** Walks the runs of the RLE/bit-packed hybrid; a repeated run costs the same however long it is. */
function countZeroLevels(
  bytes: Uint8Array,
  bitWidth: number,
  levelCount: number,
  subject: string,
): PageRows {
  const reader = new ByteReader(bytes, `${subject}: repetition levels`);
  let rowCount = 0;
  let startsRow = false;
  for (let count = 0; count < levelCount; ) {
    const header = reader.varint32();
    const isBitPacked = (header & 1) === 1;
    const runLength = Math.min((header >>> 1) * (isBitPacked ? 8 : 1), levelCount - count);
    if (runLength === 0) throw reader.invalid('a run of no values');
    const zeros = isBitPacked
      ? countPackedZeros(reader.bytes((header >>> 1) * bitWidth), bitWidth, runLength)
      : repeatedZeros(reader, bitWidth, runLength);
    if (count === 0) startsRow = zeros.startsRow;
    rowCount += zeros.rowCount;
    count += runLength;
  }
  return { rowCount, startsRow };
}

/** Levels are less than 256, so a repeated value takes one byte. */
function repeatedZeros(reader: ByteReader, bitWidth: number, runLength: number): PageRows {
  const isZero = bitWidth === 0 || reader.u8() === 0;
  return { rowCount: isZero ? runLength : 0, startsRow: isZero };
}

function countPackedZeros(bytes: Uint8Array, bitWidth: number, count: number): PageRows {
  const mask = (1 << bitWidth) - 1;
  let rowCount = 0;
  let startsRow = false;
  for (let index = 0, bit = 0; index < count; index++, bit += bitWidth) {
    const window = (bytes[bit >>> 3] ?? 0) | ((bytes[(bit >>> 3) + 1] ?? 0) << 8);
    if (((window >>> (bit & 7)) & mask) !== 0) continue;
    rowCount++;
    if (index === 0) startsRow = true;
  }
  return { rowCount, startsRow };
}
