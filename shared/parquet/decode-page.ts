import { IcebergError } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import { decompress } from '../compress/index.ts';
import { codecFor } from './compression.ts';
import { countValues, decodeLevels, readLevelsV1 } from './decode-levels.ts';
import { decodePlain, decodeValues, type PageContext, requireEqual } from './decode-values.ts';
import type { LeafShape } from './leaf-shape.ts';
import { type LeafValues, type PhysicalValues, rowStartCount } from './leaf-values.ts';
import type { DataPageHeader, DataPageHeaderV2, PageHeader } from './metadata-types.ts';

/**
 * Values of one page, nulls counted. Writers put at most a row group into a page, and the largest row groups
 * of writers that do (DuckDB) have a few million rows.
 */
const PAGE_VALUES_MAX = 2 ** 24;

/** Levels are kept as bytes. */
const LEVEL_MAX = 255;

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
