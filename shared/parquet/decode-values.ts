import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import { DECOMPRESSED_BYTES_MAX } from '../compress/index.ts';
import {
  decodeDeltaBinaryPacked,
  decodeDeltaByteArray,
  decodeDeltaLengthByteArray,
} from './decode-delta.ts';
import { decodeHybrid } from './decode-hybrid.ts';
import {
  decodeByteStreamSplit,
  decodePlainBooleans,
  decodePlainByteArrays,
  decodePlainFixedWidth,
} from './decode-plain.ts';
import { type LeafShape, physicalWidthBytes } from './leaf-shape.ts';
import { type ByteArrayValues, gatherPhysicalValues, type PhysicalValues } from './leaf-values.ts';
import type { CompressionCodec, Encoding, SchemaElement } from './metadata-types.ts';

/** What the pages of one chunk have in common. */
export interface PageContext {
  readonly leaf: LeafShape;
  readonly codec: CompressionCodec;
  /** Entries of the chunk's dictionary page, when there was one. */
  readonly dictionary?: PhysicalValues;
  /**
   * The last value of the page before. Given only for files of writers whose DELTA_BYTE_ARRAY pages go on
   * from it, against the format.
   */
  readonly previousValue?: Uint8Array;
  /** Names file and column for error messages. */
  readonly subject: string;
}

/**
 * Values of a data page, without levels.
 *
 * @throws invalid-data — when the bytes do not hold exactly `count` values, or the encoding does not suit the type
 * @throws unsupported — for encodings that we do not know, and more bytes than a page may have
 * @see Parquet format, "Encodings"
 */
export function decodeValues(
  bytes: Uint8Array,
  encoding: Encoding,
  count: number,
  context: PageContext,
): PhysicalValues {
  const { subject, leaf } = context;
  const { element } = leaf;
  const widthBytes = physicalWidthBytes(element, subject);
  // What stands in a page without values differs by writer, and does not matter.
  if (count === 0) return noValues(widthBytes);
  switch (encoding) {
    case 'PLAIN':
      return decodePlain(bytes, element, count, subject);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return decodeDictionaryIndices(bytes, count, context);
    case 'RLE':
      if (element.type === 'BOOLEAN') return decodeRleBooleans(bytes, count, subject);
      break;
    case 'DELTA_BINARY_PACKED':
      if (element.type === 'INT32') return decodeDeltaBinaryPacked(bytes, 4, count, subject);
      if (element.type === 'INT64') return decodeDeltaBinaryPacked(bytes, 8, count, subject);
      break;
    case 'DELTA_LENGTH_BYTE_ARRAY':
      if (widthBytes === undefined) return decodeDeltaLengthByteArray(bytes, count, subject);
      break;
    case 'DELTA_BYTE_ARRAY':
      return decodeDeltaStrings(bytes, count, context);
    case 'BYTE_STREAM_SPLIT':
      if (widthBytes !== undefined && element.type !== 'BOOLEAN' && element.type !== 'INT96') {
        return decodeByteStreamSplit(bytes, widthBytes, count, subject);
      }
      break;
    default:
      throw new IcebergError('unsupported', `${subject}: encoding ${encoding}`);
  }
  throw new IcebergError('invalid-data', `${subject}: ${element.type} encoded as ${encoding}`);
}

function noValues(widthBytes: number | undefined): PhysicalValues {
  if (widthBytes !== undefined) {
    return { kind: 'fixed-width', widthBytes, count: 0, bytes: new Uint8Array(0) };
  }
  return {
    kind: 'byte-array',
    count: 0,
    heap: new Uint8Array(0),
    starts: new Uint32Array(0),
    lengths: new Uint32Array(0),
  };
}

/** PLAIN values of any type. @throws invalid-data — when `bytes` does not hold exactly `count` values */
export function decodePlain(
  bytes: Uint8Array,
  element: SchemaElement,
  count: number,
  subject: string,
): PhysicalValues {
  if (element.type === 'BOOLEAN') return decodePlainBooleans(bytes, count, subject);
  const widthBytes = physicalWidthBytes(element, subject);
  if (widthBytes === undefined) return decodePlainByteArrays(bytes, count, subject);
  return decodePlainFixedWidth(bytes, widthBytes, count, subject);
}

function decodeDictionaryIndices(
  bytes: Uint8Array,
  count: number,
  { dictionary, subject }: PageContext,
): PhysicalValues {
  if (dictionary === undefined) {
    throw new IcebergError('invalid-data', `${subject}: the chunk has no dictionary page`);
  }
  const reader = new ByteReader(bytes, subject);
  const bitWidth = reader.u8();
  const indices = new Uint32Array(count);
  decodeHybrid(reader.bytes(reader.remainingBytes), bitWidth, indices, subject);
  for (let index = 0; index < count; index++) {
    if (indices[index]! < dictionary.count) continue;
    throw reader.invalid(
      `index ${indices[index]} of a dictionary with ${dictionary.count} entries`,
    );
  }
  requireGatheredSize(dictionary, count, subject);
  return gatherPhysicalValues(dictionary, indices);
}

/** A dictionary lets a page of few bytes stand for very many. Byte arrays share theirs. */
function requireGatheredSize(dictionary: PhysicalValues, count: number, subject: string): void {
  if (dictionary.kind === 'byte-array') return;
  const sizeBytes = dictionary.widthBytes * count;
  if (sizeBytes <= DECOMPRESSED_BYTES_MAX) return;
  throw new IcebergError(
    'unsupported',
    `${subject}: a page of ${sizeBytes} bytes exceeds the limit of ${DECOMPRESSED_BYTES_MAX}`,
  );
}

function decodeRleBooleans(bytes: Uint8Array, count: number, subject: string): PhysicalValues {
  const reader = new ByteReader(bytes, subject);
  const booleans = new Uint8Array(count);
  decodeHybrid(reader.bytes(reader.u32le()), 1, booleans, subject);
  return { kind: 'fixed-width', widthBytes: 1, count, bytes: booleans };
}

function decodeDeltaStrings(
  bytes: Uint8Array,
  count: number,
  context: PageContext,
): PhysicalValues {
  const { subject, leaf, previousValue } = context;
  const { element } = leaf;
  const values = decodeDeltaByteArray(bytes, count, {
    subject,
    outputBytesMax: DECOMPRESSED_BYTES_MAX,
    ...(previousValue && { previousValue }),
  });
  if (element.type === 'BYTE_ARRAY') return values;
  if (element.type !== 'FIXED_LEN_BYTE_ARRAY') {
    throw new IcebergError('invalid-data', `${subject}: ${element.type} encoded as byte arrays`);
  }
  return fixedWidthOf(values, physicalWidthBytes(element, subject) ?? 0, subject);
}

/** Decoded delta strings stand back to back in their heap, which is the fixed-width form. */
function fixedWidthOf(
  values: ByteArrayValues,
  widthBytes: number,
  subject: string,
): PhysicalValues {
  for (const lengthBytes of values.lengths) {
    requireEqual(lengthBytes, widthBytes, `${subject}: bytes of a value`);
  }
  const start = values.starts[0]!;
  const bytes = values.heap.subarray(start, start + values.count * widthBytes);
  return { kind: 'fixed-width', widthBytes, count: values.count, bytes };
}

/** @throws invalid-data — when the counts differ; `subject` says of what */
export function requireEqual(found: number, expected: number, subject: string): void {
  if (found === expected) return;
  throw new IcebergError('invalid-data', `${subject}: ${found}, ${expected} are expected`);
}
