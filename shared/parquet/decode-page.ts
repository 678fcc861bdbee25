import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import { DECOMPRESSED_BYTES_MAX, decompress } from '../compress/index.ts';
import { codecFor } from './compression.ts';
import {
  decodeDeltaBinaryPacked,
  decodeDeltaByteArray,
  decodeDeltaLengthByteArray,
} from './decode-delta.ts';
import { decodeBitPackedLevels, decodeHybrid } from './decode-hybrid.ts';
import {
  decodeByteStreamSplit,
  decodePlainBooleans,
  decodePlainByteArrays,
  decodePlainFixedWidth,
} from './decode-plain.ts';
import { bitWidthFor } from './encode-hybrid.ts';
import {
  type ByteArrayValues,
  gatherPhysicalValues,
  type LeafValues,
  type PhysicalValues,
  rowStartCount,
} from './leaf-values.ts';
import type {
  CompressionCodec,
  DataPageHeader,
  DataPageHeaderV2,
  Encoding,
  PageHeader,
  SchemaElement,
} from './metadata-types.ts';

/**
 * Values of one page, nulls counted. Writers put at most a row group into a page, and the largest row groups
 * of writers that do (DuckDB) have a few million rows.
 */
const PAGE_VALUES_MAX = 2 ** 24;

/** Levels are kept as bytes. */
const LEVEL_MAX = 255;

const INT96_BYTES = 12;

/** What decoding a page needs to know of its column. */
export interface LeafShape {
  readonly element: SchemaElement;
  readonly maxRepetitionLevel: number;
  readonly maxDefinitionLevel: number;
}

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

/** Bytes of one value of a fixed-width type in PLAIN form; 1 for a BOOLEAN; `undefined` for BYTE_ARRAY. */
export function physicalWidthBytes(element: SchemaElement, subject: string): number | undefined {
  switch (element.type) {
    case 'BOOLEAN':
      return 1;
    case 'INT32':
    case 'FLOAT':
      return 4;
    case 'INT64':
    case 'DOUBLE':
      return 8;
    case 'INT96':
      return INT96_BYTES;
    case 'BYTE_ARRAY':
      return undefined;
    case 'FIXED_LEN_BYTE_ARRAY':
      if (element.typeLength !== undefined && element.typeLength > 0) return element.typeLength;
      throw new IcebergError('invalid-data', `${subject}: fixed-length type without a length`);
    default:
      throw new IcebergError('invalid-data', `${subject}: leaf without a physical type`);
  }
}

/**
 * The entries of a dictionary page, which `walkPages` has accepted.
 *
 * @param body as stored
 * @throws invalid-data — when counts or lengths are wrong
 */
export function decodeDictionaryPage(
  header: PageHeader,
  body: Uint8Array,
  context: PageContext,
): PhysicalValues {
  const { subject, leaf } = context;
  const dictionary = header.dictionaryPageHeader;
  if (dictionary === undefined || leaf.element.type === 'BOOLEAN') {
    throw new IcebergError('invalid-data', `${subject}: not a dictionary page of this column`);
  }
  requireValueCount(dictionary.numValues, subject);
  const bytes = inflate(body, header.uncompressedPageSize, context);
  return decodePlain(bytes, leaf.element, dictionary.numValues, subject);
}

/**
 * The levels and values of a data page (v1 or v2), which `walkPages` has accepted.
 *
 * @param body as stored
 * @throws invalid-data — when counts, levels, indices or lengths are wrong
 * @throws unsupported — for encodings or codecs that we do not know, or more values than a page may have
 * @see Parquet format, "Data Pages"
 */
export function decodeDataPage(
  header: PageHeader,
  body: Uint8Array,
  context: PageContext,
): LeafValues {
  requireLevels(context.leaf, context.subject);
  if (header.dataPageHeader !== undefined) {
    return decodeDataPageV1(header, header.dataPageHeader, { body, context });
  }
  if (header.dataPageHeaderV2 !== undefined) {
    return decodeDataPageV2(header, header.dataPageHeaderV2, { body, context });
  }
  throw new IcebergError('invalid-data', `${context.subject}: ${header.type} has no data header`);
}

interface PageBody {
  readonly body: Uint8Array;
  readonly context: PageContext;
}

function decodeDataPageV1(
  header: PageHeader,
  page: DataPageHeader,
  { body, context }: PageBody,
): LeafValues {
  const { leaf, subject } = context;
  requireValueCount(page.numValues, subject);
  const reader = new ByteReader(inflate(body, header.uncompressedPageSize, context), subject);
  const repetitionLevels = readLevelsV1(reader, leaf.maxRepetitionLevel, {
    encoding: page.repetitionLevelEncoding,
    count: page.numValues,
    subject,
  });
  const definitionLevels = readLevelsV1(reader, leaf.maxDefinitionLevel, {
    encoding: page.definitionLevelEncoding,
    count: page.numValues,
    subject,
  });
  const count = countValues(definitionLevels, page.numValues, leaf.maxDefinitionLevel);
  const values = decodeValues(reader.bytes(reader.remainingBytes), page.encoding, count, context);
  return leafValues(page.numValues, repetitionLevels, definitionLevels, values);
}

function decodeDataPageV2(
  header: PageHeader,
  page: DataPageHeaderV2,
  { body, context }: PageBody,
): LeafValues {
  const { leaf, subject } = context;
  requireValueCount(page.numValues, subject);
  const reader = new ByteReader(body, subject);
  const repetitionBytes = reader.bytes(page.repetitionLevelsByteLength);
  const definitionBytes = reader.bytes(page.definitionLevelsByteLength);
  const levels = { count: page.numValues, subject };
  const repetitionLevels = decodeLevels(repetitionBytes, leaf.maxRepetitionLevel, levels);
  const definitionLevels = decodeLevels(definitionBytes, leaf.maxDefinitionLevel, levels);
  const count = countValues(definitionLevels, page.numValues, leaf.maxDefinitionLevel);
  requireEqual(page.numNulls, page.numValues - count, `${subject}: nulls`);
  const stored = reader.bytes(reader.remainingBytes);
  const sizeBytes = header.uncompressedPageSize - repetitionBytes.length - definitionBytes.length;
  const bytes = page.isCompressed === false ? stored : inflate(stored, sizeBytes, context);
  const values = decodeValues(bytes, page.encoding, count, context);
  const batch = leafValues(page.numValues, repetitionLevels, definitionLevels, values);
  requireEqual(page.numRows, rowStartCount(batch), `${subject}: rows`);
  return batch;
}

function leafValues(
  valueCount: number,
  repetitionLevels: Uint8Array | undefined,
  definitionLevels: Uint8Array | undefined,
  values: PhysicalValues,
): LeafValues {
  return {
    valueCount,
    ...(repetitionLevels === undefined ? {} : { repetitionLevels }),
    ...(definitionLevels === undefined ? {} : { definitionLevels }),
    values,
  };
}

function inflate(stored: Uint8Array, sizeBytes: number, context: PageContext): Uint8Array {
  const codec = codecFor(context.codec, context.subject);
  if (sizeBytes < 0) {
    throw new IcebergError('invalid-data', `${context.subject}: levels are longer than the page`);
  }
  // Some writers store nothing at all where a page holds no values.
  if (sizeBytes === 0 && stored.length === 0) return stored;
  return decompress(codec, stored, sizeBytes, context.subject);
}

interface LevelsOptions {
  readonly count: number;
  readonly subject: string;
}

function readLevelsV1(
  reader: ByteReader,
  levelMax: number,
  options: LevelsOptions & { readonly encoding: Encoding },
): Uint8Array | undefined {
  if (levelMax === 0) return undefined;
  if (options.encoding === 'RLE') {
    return decodeLevels(reader.bytes(reader.u32le()), levelMax, options);
  }
  if (options.encoding !== 'BIT_PACKED') {
    throw new IcebergError(
      'invalid-data',
      `${options.subject}: levels encoded as ${options.encoding}`,
    );
  }
  const bitWidth = bitWidthFor(levelMax);
  const levels = new Uint8Array(options.count);
  const bytes = reader.bytes(Math.ceil((bitWidth * options.count) / 8));
  decodeBitPackedLevels(bytes, bitWidth, levels, options.subject);
  requireLevelsWithin(levels, levelMax, options.subject);
  return levels;
}

function decodeLevels(
  bytes: Uint8Array,
  levelMax: number,
  options: LevelsOptions,
): Uint8Array | undefined {
  if (levelMax === 0) return undefined;
  const levels = new Uint8Array(options.count);
  decodeHybrid(bytes, bitWidthFor(levelMax), levels, options.subject);
  requireLevelsWithin(levels, levelMax, options.subject);
  return levels;
}

function decodeValues(
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

function decodePlain(
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

function countValues(
  definitionLevels: Uint8Array | undefined,
  valueCount: number,
  levelMax: number,
): number {
  if (definitionLevels === undefined) return valueCount;
  let count = 0;
  for (let index = 0; index < valueCount; index++) {
    if (definitionLevels[index] === levelMax) count++;
  }
  return count;
}

function requireLevelsWithin(levels: Uint8Array, levelMax: number, subject: string): void {
  for (const level of levels) {
    if (level > levelMax) {
      throw new IcebergError('invalid-data', `${subject}: level ${level} exceeds ${levelMax}`);
    }
  }
}

function requireLevels(leaf: LeafShape, subject: string): void {
  if (leaf.maxDefinitionLevel <= LEVEL_MAX && leaf.maxRepetitionLevel <= LEVEL_MAX) return;
  throw new IcebergError('unsupported', `${subject}: column is nested deeper than ${LEVEL_MAX}`);
}

function requireValueCount(count: number, subject: string): void {
  if (count < 0) throw new IcebergError('invalid-data', `${subject}: ${count} values`);
  if (count <= PAGE_VALUES_MAX) return;
  throw new IcebergError(
    'unsupported',
    `${subject}: ${count} values in one page exceed the limit of ${PAGE_VALUES_MAX}`,
  );
}

function requireEqual(found: number, expected: number, subject: string): void {
  if (found === expected) return;
  throw new IcebergError('invalid-data', `${subject}: ${found}, ${expected} are expected`);
}
