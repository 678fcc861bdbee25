import { concatBytes } from '../../shared/bytes/index.ts';
import { PAGE_HEADER } from '../../shared/parquet/metadata-codecs.ts';
import type { ColumnMetaData, PageHeader } from '../../shared/parquet/metadata-types.ts';
import type { ParquetColumnChunk } from '../../shared/parquet/parquet-file.ts';
import { buildSchemaTree, type SchemaLeaf } from '../../shared/parquet/schema-tree.ts';
import { serializeThrift } from '../../shared/parquet/thrift-codec.ts';

export interface BuiltPage {
  readonly header: PageHeader;
  readonly body: Uint8Array;
}

/** `INT32`, optional. */
export const FLAT_LEAF: SchemaLeaf = buildSchemaTree(
  [
    { name: 'root', numChildren: 1 },
    { name: 'flat', type: 'INT32', repetitionType: 'OPTIONAL' },
  ],
  'test',
).leaves[0]!;

/** `INT32`, repeated. */
export const REPEATED_LEAF: SchemaLeaf = buildSchemaTree(
  [
    { name: 'root', numChildren: 1 },
    { name: 'repeated', type: 'INT32', repetitionType: 'REPEATED' },
  ],
  'test',
).leaves[0]!;

export function dataPageV1(numValues: number, body: Uint8Array): BuiltPage {
  return {
    header: {
      type: 'DATA_PAGE',
      uncompressedPageSize: body.length,
      compressedPageSize: body.length,
      dataPageHeader: {
        numValues,
        encoding: 'PLAIN',
        definitionLevelEncoding: 'RLE',
        repetitionLevelEncoding: 'RLE',
      },
    },
    body,
  };
}

export function dataPageV2(numValues: number, numRows: number, body: Uint8Array): BuiltPage {
  return {
    header: {
      type: 'DATA_PAGE_V2',
      uncompressedPageSize: body.length,
      compressedPageSize: body.length,
      dataPageHeaderV2: {
        numValues,
        numNulls: 0,
        numRows,
        encoding: 'PLAIN',
        definitionLevelsByteLength: 0,
        repetitionLevelsByteLength: 0,
      },
    },
    body,
  };
}

export function dictionaryPage(numValues: number, body: Uint8Array): BuiltPage {
  return {
    header: {
      type: 'DICTIONARY_PAGE',
      uncompressedPageSize: body.length,
      compressedPageSize: body.length,
      dictionaryPageHeader: { numValues, encoding: 'PLAIN' },
    },
    body,
  };
}

/** A page with its own kind of header changed. */
export function withDataHeader(
  page: BuiltPage,
  change: Partial<NonNullable<PageHeader['dataPageHeader']>>,
): BuiltPage {
  const { dataPageHeader, ...header } = page.header;
  return { ...page, header: { ...header, dataPageHeader: { ...dataPageHeader!, ...change } } };
}

export function withV2Header(
  page: BuiltPage,
  change: Partial<NonNullable<PageHeader['dataPageHeaderV2']>>,
): BuiltPage {
  const { dataPageHeaderV2, ...header } = page.header;
  return { ...page, header: { ...header, dataPageHeaderV2: { ...dataPageHeaderV2!, ...change } } };
}

export function withHeader(page: BuiltPage, change: Partial<PageHeader>): BuiltPage {
  return { ...page, header: { ...page.header, ...change } };
}

/** The chunk that the pages make up, uncompressed, at offset 0; values and rows are 10. */
export function chunkOf(
  pages: readonly BuiltPage[],
  {
    metaData,
    ...change
  }: Partial<Omit<ParquetColumnChunk, 'metaData'>> & {
    readonly metaData?: Partial<ColumnMetaData>;
  } = {},
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly chunk: ParquetColumnChunk } {
  const bytes = concatBytes(
    pages.flatMap(({ header, body }) => [serializeThrift(PAGE_HEADER, header), body]),
  );
  const leaf = change.leaf ?? FLAT_LEAF;
  const chunk: ParquetColumnChunk = {
    leaf,
    columnOrder: 'TYPE_ORDER',
    rowCount: 10,
    range: { offset: 0, lengthBytes: bytes.length },
    metaData: {
      type: leaf.physicalType,
      encodings: ['PLAIN'],
      pathInSchema: leaf.path,
      codec: 'UNCOMPRESSED',
      numValues: 10,
      totalUncompressedSize: bytes.length,
      totalCompressedSize: bytes.length,
      dataPageOffset: 0,
      ...metaData,
    },
    ...change,
  };
  return { bytes, chunk };
}
