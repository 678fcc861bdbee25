import { assert } from '../base/index.ts';
import type { ByteArrayValues, PhysicalValues } from './leaf-values.ts';

/** Bytes in front of each PLAIN byte array. */
export const BYTE_ARRAY_LENGTH_BYTES = 4;

/**
 * The values in PLAIN encoding; a view of the input where that already is its form.
 *
 * @param isBoolean fixed-width values of one byte each become bits
 * @see Parquet format, "Encodings: Plain"
 */
export function encodePlain(values: PhysicalValues, isBoolean: boolean): Uint8Array {
  if (values.kind === 'byte-array') return encodeByteArrays(values);
  return isBoolean ? packBooleans(values.bytes) : values.bytes;
}

function packBooleans(booleans: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(booleans.length / 8));
  for (let index = 0; index < booleans.length; index++) {
    const byte = index >>> 3;
    bytes[byte] = bytes[byte]! | (booleans[index]! << (index & 7));
  }
  return bytes;
}

function encodeByteArrays(values: ByteArrayValues): Uint8Array {
  let sizeBytes = values.count * BYTE_ARRAY_LENGTH_BYTES;
  for (const lengthBytes of values.lengths) sizeBytes += lengthBytes;
  const bytes = new Uint8Array(sizeBytes);
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (let index = 0; index < values.count; index++) {
    const start = values.starts[index]!;
    const lengthBytes = values.lengths[index]!;
    view.setUint32(offset, lengthBytes, true);
    offset += BYTE_ARRAY_LENGTH_BYTES;
    bytes.set(values.heap.subarray(start, start + lengthBytes), offset);
    offset += lengthBytes;
  }
  assert(offset === sizeBytes, `plain: ${offset} of ${sizeBytes} bytes written`);
  return bytes;
}
