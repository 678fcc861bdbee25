import { ByteReader } from '../bytes/index.ts';
import { type ByteArrayValues, type FixedWidthValues, physicalValueAt } from './leaf-values.ts';

/** Far above the 128 (256 for 64 bits) that writers use. */
const BLOCK_VALUES_MAX = 1 << 20;

/**
 * Decodes DELTA_BINARY_PACKED values of 32 or 64 bits; arithmetic wraps as in two's complement.
 *
 * @throws invalid-data — when the count differs, a header is out of range, or bytes end early or are left over
 * @see Parquet format, "Encodings: Delta Encoding"
 */
export function decodeDeltaBinaryPacked(
  bytes: Uint8Array,
  widthBytes: 4 | 8,
  count: number,
  subject: string,
): FixedWidthValues {
  const reader = new ByteReader(bytes, subject);
  const values = readDeltas(reader, widthBytes * 8, count);
  reader.requireEnd();
  const output = new DataView(new ArrayBuffer(count * widthBytes));
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    if (widthBytes === 4) output.setInt32(index * 4, Number(value), true);
    else output.setBigInt64(index * 8, value, true);
  }
  return { kind: 'fixed-width', widthBytes, count, bytes: new Uint8Array(output.buffer) };
}

/**
 * Decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes. The values are views of `bytes`.
 *
 * @throws invalid-data — when lengths are negative or do not add up to the bytes that follow
 * @see Parquet format, "Encodings: Delta-length byte array"
 */
export function decodeDeltaLengthByteArray(
  bytes: Uint8Array,
  count: number,
  subject: string,
): ByteArrayValues {
  const reader = new ByteReader(bytes, subject);
  const lengths = readLengths(reader, count);
  const heap = bytes.subarray(reader.offset);
  const starts = new Uint32Array(count);
  let offset = 0;
  for (let index = 0; index < count; index++) {
    starts[index] = offset;
    offset += lengths[index]!;
  }
  if (offset !== heap.length) {
    throw reader.invalid(`lengths add up to ${offset} bytes, ${heap.length} follow`);
  }
  return { kind: 'byte-array', count, heap, starts, lengths };
}

export interface DeltaByteArrayOptions {
  readonly subject: string;
  /** What the values may take in all, since a page can name far more than it holds. */
  readonly outputBytesMax: number;
  /** What the first prefix refers to; the format says nothing, so usually absent. */
  readonly previousValue?: Uint8Array;
}

/**
 * Decodes DELTA_BYTE_ARRAY: how much of the value before is repeated, then the rest of each.
 *
 * @returns values that stand back to back in their heap
 * @throws invalid-data — when a prefix is longer than the value before, or the values exceed the limit
 * @see Parquet format, "Encodings: Delta Strings"
 */
export function decodeDeltaByteArray(
  bytes: Uint8Array,
  count: number,
  options: DeltaByteArrayOptions,
): ByteArrayValues {
  const { subject, previousValue = new Uint8Array(0) } = options;
  const reader = new ByteReader(bytes, subject);
  const prefixLengths = readLengths(reader, count);
  const suffixes = decodeDeltaLengthByteArray(bytes.subarray(reader.offset), count, subject);
  const lengths = new Uint32Array(count);
  const starts = new Uint32Array(count);
  let lengthBefore = previousValue.length;
  let heapBytes = previousValue.length;
  for (let index = 0; index < count; index++) {
    const prefixLength = prefixLengths[index]!;
    if (prefixLength > lengthBefore) {
      throw reader.invalid(`prefix of ${prefixLength} bytes, the value before has ${lengthBefore}`);
    }
    starts[index] = heapBytes;
    lengthBefore = prefixLength + suffixes.lengths[index]!;
    lengths[index] = lengthBefore;
    heapBytes += lengthBefore;
    if (heapBytes > options.outputBytesMax) {
      throw reader.invalid(`values take more than ${options.outputBytesMax} bytes`);
    }
  }
  const heap = new Uint8Array(heapBytes);
  heap.set(previousValue);
  let before = 0;
  for (let index = 0; index < count; index++) {
    const start = starts[index]!;
    const prefixLength = prefixLengths[index]!;
    heap.copyWithin(start, before, before + prefixLength);
    heap.set(physicalValueAt(suffixes, index), start + prefixLength);
    before = start;
  }
  return { kind: 'byte-array', count, heap, starts, lengths };
}

function readLengths(reader: ByteReader, count: number): Uint32Array {
  const lengths = new Uint32Array(count);
  const values = readDeltas(reader, 32, count);
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    if (value < 0n) throw reader.invalid(`length ${value} is negative`);
    lengths[index] = Number(value);
  }
  return lengths;
}

function readDeltas(reader: ByteReader, bits: number, count: number): BigInt64Array {
  const header = readDeltaHeader(reader, count);
  const values = new BigInt64Array(count);
  let value = BigInt.asIntN(bits, header.firstValue);
  if (count > 0) values[0] = value;
  let index = 1;
  while (index < count) {
    const deltaMin = reader.zigzag64();
    const bitWidths = reader.bytes(header.miniblockCount);
    for (let block = 0; block < header.miniblockCount && index < count; block++) {
      const bitWidth = bitWidths[block]!;
      if (bitWidth > 64) throw reader.invalid(`miniblock bit width ${bitWidth} exceeds 64`);
      const bytes = reader.bytes((header.miniblockValues * bitWidth) / 8);
      const wanted = Math.min(header.miniblockValues, count - index);
      for (let item = 0; item < wanted; item++) {
        const delta = unpackBig(bytes, item * bitWidth, bitWidth) + deltaMin;
        value = BigInt.asIntN(bits, value + delta);
        values[index++] = value;
      }
    }
  }
  return values;
}

interface DeltaHeader {
  readonly miniblockCount: number;
  readonly miniblockValues: number;
  readonly firstValue: bigint;
}

function readDeltaHeader(reader: ByteReader, count: number): DeltaHeader {
  const blockValues = reader.varint32();
  const miniblockCount = reader.varint32();
  const totalCount = reader.varint32();
  const miniblockValues = blockValues / miniblockCount;
  const isAllowed = blockValues > 0 && blockValues % 128 === 0 && miniblockValues % 32 === 0;
  if (!isAllowed || blockValues > BLOCK_VALUES_MAX) {
    throw reader.invalid(`delta blocks of ${blockValues} values in ${miniblockCount} miniblocks`);
  }
  if (totalCount !== count) {
    throw reader.invalid(`delta header counts ${totalCount} values, ${count} are expected`);
  }
  return { miniblockCount, miniblockValues, firstValue: reader.zigzag64() };
}

/** The `bitWidth` bits (0 to 64) from bit `start` on, least significant first. */
function unpackBig(bytes: Uint8Array, start: number, bitWidth: number): bigint {
  let low = 0;
  let high = 0;
  for (let done = 0; done < bitWidth; ) {
    const bit = start + done;
    const taken = Math.min(8 - (bit & 7), bitWidth - done, done < 32 ? 32 - done : 64);
    const part = (bytes[bit >>> 3]! >>> (bit & 7)) & ((1 << taken) - 1);
    if (done < 32) low |= part << done;
    else high |= part << (done - 32);
    done += taken;
  }
  return high === 0 ? BigInt(low >>> 0) : (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}
