import { assert } from '../base/index.ts';
import { ByteWriter } from '../bytes/index.ts';
import type { HybridValues } from './decode-hybrid.ts';

/** A bit-packed group holds eight values; a shorter repetition is not worth a run of its own. */
const GROUP_VALUES = 8;

/** Bits needed for values from 0 to `valueMax`. */
export function bitWidthFor(valueMax: number): number {
  return 32 - Math.clz32(valueMax);
}

/**
 * The values as runs of the RLE/bit-packed hybrid, without a length in front. Every value must fit `bitWidth`.
 *
 * @see Parquet format, "Encodings: RLE"
 */
export function encodeHybrid(values: HybridValues, bitWidth: number): Uint8Array {
  const writer = new ByteWriter();
  if (bitWidth === 0) return writer.finish();
  let index = 0;
  while (index < values.length) {
    const repeatEnd = repetitionEnd(values, index);
    if (repeatEnd - index >= GROUP_VALUES) {
      writeRepeatedRun(writer, values[index]!, { count: repeatEnd - index, bitWidth });
      index = repeatEnd;
    } else {
      const end = literalEnd(values, index);
      writeBitPackedRun(writer, values.subarray(index, end), bitWidth);
      index = end;
    }
  }
  return writer.finish();
}

function repetitionEnd(values: HybridValues, start: number): number {
  const value = values[start];
  let end = start + 1;
  while (end < values.length && values[end] === value) end++;
  return end;
}

/** Whole groups from `start` until one begins with a repetition that deserves its own run. */
function literalEnd(values: HybridValues, start: number): number {
  let end = start + GROUP_VALUES;
  while (end < values.length && !startsRepetition(values, end)) end += GROUP_VALUES;
  return Math.min(end, values.length);
}

function startsRepetition(values: HybridValues, start: number): boolean {
  const value = values[start];
  for (let index = start + 1; index < start + GROUP_VALUES; index++) {
    if (values[index] !== value) return false;
  }
  return true;
}

function writeRepeatedRun(
  writer: ByteWriter,
  value: number,
  run: { readonly count: number; readonly bitWidth: number },
): void {
  assert(run.count < 2 ** 31, `a run of ${run.count} values`);
  writer.varint32(run.count * 2);
  for (let bit = 0; bit < run.bitWidth; bit += 8) writer.u8((value >>> bit) & 0xff);
}

function writeBitPackedRun(writer: ByteWriter, values: HybridValues, bitWidth: number): void {
  const groupCount = Math.ceil(values.length / GROUP_VALUES);
  writer.varint32(groupCount * 2 + 1);
  const bytes = new Uint8Array(groupCount * bitWidth);
  for (let index = 0, bit = 0; index < values.length; index++, bit += bitWidth) {
    let rest = values[index]!;
    let restBits = bitWidth;
    let position = bit;
    while (restBits > 0) {
      const taken = Math.min(8 - (position & 7), restBits);
      const byte = position >>> 3;
      bytes[byte] = bytes[byte]! | ((rest & (2 ** taken - 1)) << (position & 7));
      rest >>>= taken;
      restBits -= taken;
      position += taken;
    }
  }
  writer.bytes(bytes);
}
