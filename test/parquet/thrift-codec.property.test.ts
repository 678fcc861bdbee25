import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isIcebergError } from '../../shared/base/index.ts';
import * as layout from '../../shared/parquet/layout.ts';
import {
  BLOOM_FILTER_HEADER,
  COLUMN_INDEX,
  FILE_META_DATA,
  OFFSET_INDEX,
  PAGE_HEADER,
} from '../../shared/parquet/metadata-codecs.ts';
import type * as types from '../../shared/parquet/metadata-types.ts';
import { serializeThrift, type ThriftCodec } from '../../shared/parquet/thrift-codec.ts';
import { ThriftReader } from '../../shared/parquet/thrift-reader.ts';

const SEED = 20261130;

const i64 = fc.maxSafeInteger();
const i32 = fc.integer();
const i8 = fc.integer({ min: -128, max: 127 });
const binary = fc.uint8Array({ maxLength: 40 });
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const counts = fc.array(i64, { maxLength: 20 });

function word<Word extends string>(numbers: Readonly<Record<Word, number>>): fc.Arbitrary<Word> {
  return fc.constantFrom(...(Object.keys(numbers) as Word[]));
}

/** A record whose keys outside `requiredKeys` may be missing. */
function structure<T>(
  model: { readonly [K in keyof T]-?: fc.Arbitrary<Exclude<T[K], undefined>> },
  requiredKeys: readonly (keyof T)[],
): fc.Arbitrary<T> {
  return fc.record(model as never, {
    requiredKeys: requiredKeys as never,
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<T>;
}

const statistics = structure<types.Statistics>(
  {
    max: binary,
    min: binary,
    nullCount: i64,
    distinctCount: i64,
    maxValue: binary,
    minValue: binary,
    isMaxValueExact: fc.boolean(),
    isMinValueExact: fc.boolean(),
    nanCount: i64,
  },
  [],
);

const temporal = { isAdjustedToUTC: fc.boolean(), unit: word(layout.TIME_UNITS) };

const logicalType: fc.Arbitrary<types.LogicalType> = fc.oneof(
  fc.record({
    type: fc.constantFrom(
      ...(['STRING', 'MAP', 'LIST', 'ENUM', 'DATE', 'UNKNOWN', 'JSON', 'BSON'] as const),
      ...(['UUID', 'FLOAT16', 'FILE'] as const),
    ),
  }),
  fc.record({ type: fc.constant('DECIMAL' as const), scale: i32, precision: i32 }),
  fc.record({ type: fc.constant('TIME' as const), ...temporal }),
  fc.record({ type: fc.constant('TIMESTAMP' as const), ...temporal }),
  fc.record({ type: fc.constant('INTEGER' as const), bitWidth: i8, isSigned: fc.boolean() }),
  structure<types.VariantType>({ type: fc.constant('VARIANT'), specificationVersion: i8 }, [
    'type',
  ]),
  structure<types.GeometryType>({ type: fc.constant('GEOMETRY'), crs: text }, ['type']),
  structure<types.GeographyType>(
    {
      type: fc.constant('GEOGRAPHY'),
      crs: text,
      algorithm: word(layout.EDGE_INTERPOLATION_ALGORITHMS),
    },
    ['type'],
  ),
);

const schemaElement = structure<types.SchemaElement>(
  {
    type: word(layout.PHYSICAL_TYPES),
    typeLength: i32,
    repetitionType: word(layout.FIELD_REPETITION_TYPES),
    name: text,
    numChildren: i32,
    convertedType: word(layout.CONVERTED_TYPES),
    scale: i32,
    precision: i32,
    fieldId: i32,
    logicalType,
  },
  ['name'],
);

const keyValue = structure<types.KeyValue>({ key: text, value: text }, ['key']);

const double = fc.double();
const boundingBox = structure<types.BoundingBox>(
  {
    xmin: double,
    xmax: double,
    ymin: double,
    ymax: double,
    zmin: double,
    zmax: double,
    mmin: double,
    mmax: double,
  },
  ['xmin', 'xmax', 'ymin', 'ymax'],
);

const columnMetaData = structure<types.ColumnMetaData>(
  {
    type: word(layout.PHYSICAL_TYPES),
    encodings: fc.array(word(layout.ENCODINGS)),
    pathInSchema: fc.array(text),
    codec: word(layout.COMPRESSION_CODECS),
    numValues: i64,
    totalUncompressedSize: i64,
    totalCompressedSize: i64,
    keyValueMetadata: fc.array(keyValue, { maxLength: 3 }),
    dataPageOffset: i64,
    indexPageOffset: i64,
    dictionaryPageOffset: i64,
    statistics,
    encodingStats: fc.array(
      fc.record({
        pageType: word(layout.PAGE_TYPES),
        encoding: word(layout.ENCODINGS),
        count: i32,
      }),
    ),
    bloomFilterOffset: i64,
    bloomFilterLength: i32,
    sizeStatistics: structure<types.SizeStatistics>(
      {
        unencodedByteArrayDataBytes: i64,
        repetitionLevelHistogram: counts,
        definitionLevelHistogram: counts,
      },
      [],
    ),
    geospatialStatistics: structure<types.GeospatialStatistics>(
      { bbox: boundingBox, geospatialTypes: fc.array(i32) },
      [],
    ),
  },
  [
    'type',
    'encodings',
    'pathInSchema',
    'codec',
    'numValues',
    'totalUncompressedSize',
    'totalCompressedSize',
    'dataPageOffset',
  ],
);

const columnChunk: fc.Arbitrary<types.ColumnChunk> = fc.record(
  {
    filePath: text,
    fileOffset: i64,
    metaData: columnMetaData,
    offsetIndexOffset: i64,
    offsetIndexLength: i32,
    columnIndexOffset: i64,
    columnIndexLength: i32,
  },
  { requiredKeys: ['fileOffset'] },
);

const rowGroup = structure<types.RowGroup>(
  {
    columns: fc.array(columnChunk, { maxLength: 4 }),
    totalByteSize: i64,
    numRows: i64,
    sortingColumns: fc.array(
      fc.record({ columnIdx: i32, descending: fc.boolean(), nullsFirst: fc.boolean() }),
    ),
    fileOffset: i64,
    totalCompressedSize: i64,
    ordinal: fc.integer({ min: -0x8000, max: 0x7fff }),
  },
  ['columns', 'totalByteSize', 'numRows'],
);

const fileMetaData: fc.Arbitrary<types.FileMetaData> = fc.record(
  {
    version: i32,
    schema: fc.array(schemaElement, { maxLength: 20 }),
    numRows: i64,
    rowGroups: fc.array(rowGroup, { maxLength: 3 }),
    keyValueMetadata: fc.array(keyValue),
    createdBy: text,
    columnOrders: fc.array(word(layout.COLUMN_ORDERS)),
  },
  { requiredKeys: ['version', 'schema', 'numRows', 'rowGroups'] },
);

const pageHeader = structure<types.PageHeader>(
  {
    type: word(layout.PAGE_TYPES),
    uncompressedPageSize: i32,
    compressedPageSize: i32,
    crc: i32,
    dataPageHeader: structure<types.DataPageHeader>(
      {
        numValues: i32,
        encoding: word(layout.ENCODINGS),
        definitionLevelEncoding: word(layout.ENCODINGS),
        repetitionLevelEncoding: word(layout.ENCODINGS),
        statistics,
      },
      ['numValues', 'encoding', 'definitionLevelEncoding', 'repetitionLevelEncoding'],
    ),
    dictionaryPageHeader: structure<types.DictionaryPageHeader>(
      { numValues: i32, encoding: word(layout.ENCODINGS), isSorted: fc.boolean() },
      ['numValues', 'encoding'],
    ),
    dataPageHeaderV2: structure<types.DataPageHeaderV2>(
      {
        numValues: i32,
        numNulls: i32,
        numRows: i32,
        encoding: word(layout.ENCODINGS),
        definitionLevelsByteLength: i32,
        repetitionLevelsByteLength: i32,
        isCompressed: fc.boolean(),
        statistics,
      },
      [
        'numValues',
        'numNulls',
        'numRows',
        'encoding',
        'definitionLevelsByteLength',
        'repetitionLevelsByteLength',
      ],
    ),
  },
  ['type', 'uncompressedPageSize', 'compressedPageSize'],
);

const offsetIndex = structure<types.OffsetIndex>(
  {
    pageLocations: fc.array(
      fc.record({ offset: i64, compressedPageSize: i32, firstRowIndex: i64 }),
      { maxLength: 20 },
    ),
    unencodedByteArrayDataBytes: counts,
  },
  ['pageLocations'],
);

const columnIndex = structure<types.ColumnIndex>(
  {
    nullPages: fc.array(fc.boolean(), { maxLength: 20 }),
    minValues: fc.array(binary),
    maxValues: fc.array(binary),
    boundaryOrder: word(layout.BOUNDARY_ORDERS),
    nullCounts: counts,
    repetitionLevelHistograms: counts,
    definitionLevelHistograms: counts,
    nanCounts: counts,
  },
  ['nullPages', 'minValues', 'maxValues', 'boundaryOrder'],
);

const bloomFilterHeader = fc.record({
  numBytes: i32,
  algorithm: fc.constant('BLOCK' as const),
  hash: fc.constant('XXHASH' as const),
  compression: fc.constant('UNCOMPRESSED' as const),
});

function roundTrips<T>(codec: ThriftCodec<T>, arbitrary: fc.Arbitrary<T>): void {
  fc.assert(
    fc.property(arbitrary, (value) => {
      // Clones have ordinary prototypes, which records of fast-check lack.
      const bytes = serializeThrift(codec, value);
      const reader = new ThriftReader(bytes, 'value');

      assert.deepEqual(codec.read(reader), structuredClone(value));
      assert.equal(reader.offset, bytes.length);
    }),
    { seed: SEED, numRuns: 200 },
  );
}

describe('thrift structures', () => {
  test('file metadata comes back as it was written', () => {
    roundTrips(FILE_META_DATA, fileMetaData);
  });

  test('page headers come back as they were written', () => {
    roundTrips(PAGE_HEADER, pageHeader);
  });

  test('page indexes and bloom filter headers come back as they were written', () => {
    roundTrips(OFFSET_INDEX, offsetIndex);
    roundTrips(COLUMN_INDEX, columnIndex);
    roundTrips(BLOOM_FILTER_HEADER, bloomFilterHeader);
  });

  test('any bytes give a value, invalid-data or unsupported', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          FILE_META_DATA.read(new ThriftReader(bytes, 'bytes'));
        } catch (error) {
          assert.ok(
            isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported'),
            String(error),
          );
        }
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });
});
