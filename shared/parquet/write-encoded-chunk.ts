import { assert } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';
import { serializeBloomFilter } from './bloom-filter.ts';
import { valueOrderOf } from './encode-bounds.ts';
import type { EncodedColumnChunk, EncodedDataPage, EncodedPage } from './encoded-column-chunk.ts';
import { PAGE_HEADER } from './metadata-codecs.ts';
import type { ColumnIndex } from './metadata-types.ts';
import { columnIndexOf } from './page-index.ts';
import { dataPageFacts } from './page-sequence.ts';
import { offsetIndexOf, PageTally } from './page-tally.ts';
import type { SchemaLeaf } from './schema-tree.ts';
import { serializeThrift } from './thrift-codec.ts';
import type { CountingSink, WrittenColumnChunk } from './written-column-chunk.ts';

/** Writes the pages of a newly encoded chunk under the column `target`, and gives their metadata. */
export async function writeEncodedChunk(
  sink: CountingSink,
  encoded: EncodedColumnChunk,
  target: SchemaLeaf,
): Promise<WrittenColumnChunk> {
  const { codec, dictionaryPage, dataPages, bloomFilterBitset } = encoded;
  const { statistics, sizeStatistics, geospatialStatistics } = encoded;
  const chunkOffset = sink.offset;
  const tally = new PageTally(target);
  if (dictionaryPage !== undefined) await writePage(sink, dictionaryPage, tally);
  for (const page of dataPages) await writePage(sink, page, tally);

  const rowCounts = dataPages.map(({ rowCount }) => rowCount);
  const offsetIndex = offsetIndexOf(tally.dataPages, rowCounts, chunkOffset);
  const columnIndex = offsetIndex && encodedColumnIndex(dataPages, target);
  return {
    metaData: {
      type: target.physicalType,
      pathInSchema: target.path,
      codec,
      ...tally.totals(chunkOffset),
      ...(statistics === undefined ? {} : { statistics }),
      ...(sizeStatistics === undefined ? {} : { sizeStatistics }),
      ...(geospatialStatistics === undefined ? {} : { geospatialStatistics }),
    },
    rowCount: rowCounts.reduce((sum, count) => sum + count, 0),
    ...(offsetIndex === undefined ? {} : { offsetIndex }),
    ...(columnIndex === undefined ? {} : { columnIndex }),
    ...(bloomFilterBitset === undefined
      ? {}
      : { readBloomFilter: async () => serializeBloomFilter(bloomFilterBitset) }),
  };
}

async function writePage(
  sink: CountingSink,
  { header, body }: EncodedPage,
  tally: PageTally,
): Promise<void> {
  assert(body.length === header.compressedPageSize, 'parquet writer: page of another size');
  const headerBytes = serializeThrift(PAGE_HEADER, header);
  tally.add(header, headerBytes.length);
  await sink.write(concatBytes([headerBytes, body]));
}

function encodedColumnIndex(
  dataPages: readonly EncodedDataPage[],
  target: SchemaLeaf,
): ColumnIndex | undefined {
  const pages = dataPages.map(({ header, statistics }) => ({
    valueCount: dataPageFacts(header, target.maxRepetitionLevel)!.valueCount,
    statistics,
  }));
  return columnIndexOf(pages, valueOrderOf(target.element));
}
