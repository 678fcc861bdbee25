import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import type { ByteArrayValues, FixedWidthValues } from './leaf-values.ts';

/**
 * PLAIN values of a fixed width, as a view of `bytes`.
 *
 * @throws invalid-data — when `bytes` is not exactly `count` values long
 * @see Parquet format, "Encodings: Plain"
 */
export function decodePlainFixedWidth(
  bytes: Uint8Array,
  widthBytes: number,
  count: number,
  subject: string,
): FixedWidthValues {
  requireLength(bytes, widthBytes * count, count, subject);
  return { kind: 'fixed-width', widthBytes, count, bytes };
}

/** PLAIN booleans, one bit each. @throws invalid-data — when `bytes` has another length */
export function decodePlainBooleans(
  bytes: Uint8Array,
  count: number,
  subject: string,
): FixedWidthValues {
  requireLength(bytes, Math.ceil(count / 8), count, subject);
  const booleans = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    booleans[index] = (bytes[index >>> 3]! >>> (index & 7)) & 1;
  }
  return { kind: 'fixed-width', widthBytes: 1, count, bytes: booleans };
}

/**
 * PLAIN byte arrays, each behind its 4-byte length; the values are views of `bytes`.
 *
 * @throws invalid-data — when a length leaves `bytes`, or bytes are left over
 */
export function decodePlainByteArrays(
  bytes: Uint8Array,
  count: number,
  subject: string,
): ByteArrayValues {
  const reader = new ByteReader(bytes, subject);
  if (count * 4 > bytes.length) {
    throw reader.invalid(`${bytes.length} bytes cannot hold ${count} byte arrays`);
  }
  const starts = new Uint32Array(count);
  const lengths = new Uint32Array(count);
  for (let index = 0; index < count; index++) {
    const lengthBytes = reader.u32le();
    starts[index] = reader.offset;
    lengths[index] = lengthBytes;
    reader.skip(lengthBytes);
  }
  reader.requireEnd();
  return { kind: 'byte-array', count, heap: bytes, starts, lengths };
}

/**
 * BYTE_STREAM_SPLIT: the first bytes of all values, then all second bytes, and so on.
 *
 * @throws invalid-data — when `bytes` is not exactly `count` values long
 * @see Parquet format, "Encodings: Byte Stream Split"
 */
export function decodeByteStreamSplit(
  bytes: Uint8Array,
  widthBytes: number,
  count: number,
  subject: string,
): FixedWidthValues {
  requireLength(bytes, widthBytes * count, count, subject);
  const output = new Uint8Array(bytes.length);
  for (let byte = 0; byte < widthBytes; byte++) {
    const stream = bytes.subarray(byte * count, (byte + 1) * count);
    for (let index = 0; index < count; index++) output[index * widthBytes + byte] = stream[index]!;
  }
  return { kind: 'fixed-width', widthBytes, count, bytes: output };
}

function requireLength(
  bytes: Uint8Array,
  expectedBytes: number,
  count: number,
  subject: string,
): void {
  if (bytes.length === expectedBytes) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: ${count} values take ${expectedBytes} bytes, ${bytes.length} are there`,
  );
}
