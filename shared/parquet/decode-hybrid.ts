import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';

/** Bytes for levels, 32 bits for dictionary indices. */
export type HybridValues = Uint8Array | Uint32Array;

/**
 * Fills `values` from runs of the RLE/bit-packed hybrid. `bytes` holds the runs only, without the length that
 * precedes them in places. Bytes after the last run are left alone: some writers pad.
 *
 * @param bitWidth 0 to the width of the array's elements; with 0 every value is 0 and nothing is read
 * @throws invalid-data — when the runs end too early or too late, or the width is too large
 * @see Parquet format, "Encodings: RLE"
 */
export function decodeHybrid(
  bytes: Uint8Array,
  bitWidth: number,
  values: HybridValues,
  subject: string,
): void {
  const count = values.length;
  if (bitWidth > values.BYTES_PER_ELEMENT * 8) {
    throw new IcebergError('invalid-data', `${subject}: bit width ${bitWidth} is too large`);
  }
  values.fill(0);
  if (bitWidth === 0) return;
  const reader = new ByteReader(bytes, subject);
  let index = 0;
  while (index < count) {
    const header = reader.varint32();
    const runLength = header >>> 1;
    if (runLength === 0) throw reader.invalid('a run of no values');
    if ((header & 1) === 0) {
      const end = index + runLength;
      if (end > count) throw reader.invalid(`runs give ${end} values, ${count} are expected`);
      values.fill(repeatedValue(reader, bitWidth), index, end);
      index = end;
    } else {
      index = readBitPackedRun(reader, bitWidth, runLength, values, index);
    }
  }
}

/**
 * Fills `levels` from the deprecated BIT_PACKED encoding: most significant bit first, no runs.
 *
 * @throws invalid-data — when the bytes end early
 * @see Parquet format, "Encodings: Bit-packed (Deprecated)"
 */
export function decodeBitPackedLevels(
  bytes: Uint8Array,
  bitWidth: number,
  levels: Uint8Array,
  subject: string,
): void {
  const count = levels.length;
  const neededBytes = Math.ceil((bitWidth * count) / 8);
  if (bytes.length < neededBytes) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: ${bytes.length} bytes hold fewer than ${count} levels of ${bitWidth} bits`,
    );
  }
  for (let index = 0, bit = 0; index < count; index++) {
    let value = 0;
    for (let end = bit + bitWidth; bit < end; bit++) {
      value = (value << 1) | ((bytes[bit >>> 3]! >>> (7 - (bit & 7))) & 1);
    }
    levels[index] = value;
  }
}

function repeatedValue(reader: ByteReader, bitWidth: number): number {
  const widthBytes = (bitWidth + 7) >>> 3;
  let value = 0;
  for (let byte = 0; byte < widthBytes; byte++) value |= reader.u8() << (8 * byte);
  value >>>= 0;
  if (bitWidth < 32 && value >= 2 ** bitWidth) {
    throw reader.invalid(`repeated value ${value} does not fit ${bitWidth} bits`);
  }
  return value;
}

/**
 * Reads groups of eight values into `values` from `index` on; those beyond its end are padding. The last
 * run of some writers is cut short at the last byte that holds a wanted value.
 */
function readBitPackedRun(
  reader: ByteReader,
  bitWidth: number,
  groupCount: number,
  values: HybridValues,
  index: number,
): number {
  const wanted = Math.min(groupCount * 8, values.length - index);
  const neededBytes = Math.ceil((wanted * bitWidth) / 8);
  const runBytes = groupCount * bitWidth;
  const isLastRun = groupCount * 8 >= values.length - index;
  const bytes = reader.bytes(isLastRun ? Math.min(runBytes, neededBytes) : runBytes);
  unpackBits(bytes, bitWidth, values, { index, count: wanted });
  return index + wanted;
}

/** Unpacks little-endian bit-packed values of 1 to 32 bits; `bytes` must hold them all. */
function unpackBits(
  bytes: Uint8Array,
  bitWidth: number,
  values: HybridValues,
  range: { readonly index: number; readonly count: number },
): void {
  const mask = bitWidth === 32 ? 0xffffffff : 2 ** bitWidth - 1;
  const end = range.index + range.count;
  let buffered = 0;
  let bufferedBits = 0;
  let offset = 0;
  for (let index = range.index; index < end; index++) {
    let value = buffered;
    let valueBits = bufferedBits;
    let last = 0;
    while (valueBits < bitWidth) {
      last = bytes[offset++]!;
      // Bits above 31 of the last byte are dropped here and kept for the next value below.
      value |= last << valueBits;
      valueBits += 8;
    }
    values[index] = (value & mask) >>> 0;
    bufferedBits = valueBits - bitWidth;
    buffered =
      valueBits > 32 ? last >>> (8 - bufferedBits) : bitWidth === 32 ? 0 : value >>> bitWidth;
  }
}
