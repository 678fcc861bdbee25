import { columnProperties, fieldByName, type Schema, tableProperty } from '../iceberg/index.ts';
import type { CompressionCodec, EncodeOptions, SchemaLeaf } from '../parquet/index.ts';
import { ROW_ID_FIELD_ID } from './parquet-schema.ts';

/** parquet-java's, and Iceberg's, where a column has no `bloom-filter-fpp` property. */
const FALSE_POSITIVE_FRACTION_DEFAULT = 0.01;

/** One block: no filter is smaller. */
const BLOOM_FILTER_BYTES_MIN = 32;

/** `lz4` is parquet-java's framed form, which readers disagree about: the block form takes its place. */
const CODECS = {
  zstd: 'ZSTD',
  gzip: 'GZIP',
  snappy: 'SNAPPY',
  uncompressed: 'UNCOMPRESSED',
  lz4: 'LZ4_RAW',
  lz4_raw: 'LZ4_RAW',
  brotli: 'BROTLI',
} as const satisfies Readonly<Record<string, CompressionCodec>>;

/** How a column is to be encoded where it cannot be copied. */
export type EncodeOptionsOf = (leaf: SchemaLeaf) => EncodeOptions;

/**
 * Encoding by the table's `write.parquet.*` properties.
 *
 * @throws invalid-config — when one is malformed
 */
export function encodeOptionsFor(
  schema: Schema,
  properties: Readonly<Record<string, string>>,
): EncodeOptionsOf {
  const compressionLevel = tableProperty(properties, 'write.parquet.compression-level');
  const common = {
    codec: CODECS[tableProperty(properties, 'write.parquet.compression-codec')],
    ...(compressionLevel === undefined ? {} : { compressionLevel }),
    pageSizeBytes: tableProperty(properties, 'write.parquet.page-size-bytes'),
    pageRowCountMax: tableProperty(properties, 'write.parquet.page-row-limit'),
    dictionarySizeBytesMax: tableProperty(properties, 'write.parquet.dict-size-bytes'),
  };
  const fractions = bloomFilterFractions(schema, properties);
  const sizeBytesMax = Math.max(
    tableProperty(properties, 'write.parquet.bloom-filter-max-bytes'),
    BLOOM_FILTER_BYTES_MIN,
  );
  return ({ element, physicalType }) => {
    // No two rows have the same row id: a dictionary would be built only to be given up.
    if (element.fieldId === ROW_ID_FIELD_ID) return { ...common, dictionarySizeBytesMax: 0 };
    const falsePositiveFraction = fractions.get(element.fieldId ?? -1);
    // parquet-java has no filters for booleans either.
    if (falsePositiveFraction === undefined || physicalType === 'BOOLEAN') return common;
    return { ...common, bloomFilter: { falsePositiveFraction, sizeBytesMax } };
  };
}

/** By field id, for the columns whose filters are switched on. */
function bloomFilterFractions(
  schema: Schema,
  properties: Readonly<Record<string, string>>,
): ReadonlyMap<number, number> {
  const fractions = columnProperties(properties, 'write.parquet.bloom-filter-fpp.column.');
  const enabled = columnProperties(properties, 'write.parquet.bloom-filter-enabled.column.');
  const byId = new Map<number, number>();
  for (const [name, isEnabled] of enabled) {
    const field = fieldByName(schema, name);
    if (!isEnabled || field === undefined) continue;
    byId.set(field.field.fieldId, fractions.get(name) ?? FALSE_POSITIVE_FRACTION_DEFAULT);
  }
  return byId;
}
