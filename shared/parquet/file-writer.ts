import { assert, type ByteSink } from '../base/index.ts';
import { concatBytes, encodeUtf8 } from '../bytes/index.ts';
import { type ColumnChunkSource, copyColumnChunk } from './copy-column-chunk.ts';
import type { EncodedColumnChunk } from './encoded-column-chunk.ts';
import { FOOTER_TAIL_BYTES, MAGIC } from './layout.ts';
import { COLUMN_INDEX, FILE_META_DATA, OFFSET_INDEX } from './metadata-codecs.ts';
import type {
  ColumnChunk,
  ColumnMetaData,
  FileMetaData,
  KeyValue,
  RowGroup,
  SchemaElement,
  SortingColumn,
} from './metadata-types.ts';
import { buildSchemaTree, type SchemaLeaf } from './schema-tree.ts';
import { serializeThrift } from './thrift-codec.ts';
import { writeEncodedChunk } from './write-encoded-chunk.ts';
import { CountingSink, type WrittenColumnChunk } from './written-column-chunk.ts';

/** In the form that parquet-java parses; it takes an application it does not know for free of its own bugs. */
export const CREATED_BY = 'firn version 0.1.0 (build 1)';

/** Row group ordinals are 16-bit; beyond, the field is left out. */
const ORDINAL_MAX = 0x7fff;

export interface ParquetFileOptions {
  /** Depth-first, the root first. */
  readonly schema: readonly SchemaElement[];
  readonly keyValueMetadata?: readonly KeyValue[];
  readonly createdBy?: string;
}

export interface ParquetWriteResult {
  readonly fileSizeBytes: number;
  readonly metadata: FileMetaData;
  /** Where each row group begins, ascending: Iceberg's `split_offsets`. */
  readonly splitOffsets: readonly number[];
}

/** What became of one chunk, for reports. */
export interface ChunkReport {
  readonly sizeBytes: number;
  readonly hasOffsetIndex: boolean;
  readonly hasColumnIndex: boolean;
  readonly hasBloomFilter: boolean;
}

interface WrittenRowGroup {
  readonly chunks: readonly WrittenColumnChunk[];
  readonly rowCount: number;
  readonly offset: number;
  readonly sortingColumns?: readonly SortingColumn[];
}

/**
 * Writes one Parquet file from start to end: for each row group one chunk for each leaf in order, copied or newly
 * encoded, then `finishRowGroup`; at the end `finish`. Bloom filters come behind their row group, page indexes
 * before the footer. Memory: a batch of pages of one chunk, and page indexes and metadata until the end.
 *
 * After a failed call the file is unusable: drop it.
 *
 * @see Parquet format, "File Format", "Page Index", "Bloom Filter"
 */
export class ParquetFileWriter {
  readonly #sink: CountingSink;
  readonly #options: ParquetFileOptions;
  readonly #leaves: readonly SchemaLeaf[];
  readonly #rowGroups: WrittenRowGroup[] = [];
  #chunks: WrittenColumnChunk[] = [];
  #rowGroupOffset: number | undefined;

  constructor(sink: ByteSink, options: ParquetFileOptions) {
    this.#sink = new CountingSink(sink);
    this.#options = options;
    this.#leaves = buildSchemaTree(options.schema, 'parquet writer').leaves;
  }

  /** Bytes written so far. */
  get offset(): number {
    return this.#sink.offset;
  }

  /**
   * Copies a chunk as the next column. The source's leaf must have the target's physical type, length and
   * levels; name, field id and annotations may differ. Statistics that the source's `created_by` makes
   * doubtful, and page indexes that contradict the pages, are left out. Costs one read for each 8 MiB, one for
   * each page index, one or two for a Bloom filter: wrap the reader in `readAhead` to have fewer.
   *
   * @throws invalid-data — when the chunk's pages, page indexes or Bloom filter are broken
   * @throws unsupported — for pages that must be recoded, see `needsRecode`, or are beyond the limits
   */
  async copyColumnChunk(source: ColumnChunkSource): Promise<ChunkReport> {
    const target = await this.#beginChunk();
    return this.#endChunk(await copyColumnChunk(this.#sink, source, target));
  }

  /** Writes a newly encoded chunk as the next column. */
  async addEncodedChunk(encoded: EncodedColumnChunk): Promise<ChunkReport> {
    const target = await this.#beginChunk();
    return this.#endChunk(await writeEncodedChunk(this.#sink, encoded, target));
  }

  /**
   * Ends a row group whose chunks are all written.
   *
   * @param sortingColumns how its rows are sorted, if they are
   * @throws invalid-data, unsupported — when a Bloom filter to be copied is broken
   */
  async finishRowGroup(rowCount: number, sortingColumns?: readonly SortingColumn[]): Promise<void> {
    const chunks = this.#chunks;
    assert(
      chunks.length === this.#leaves.length,
      `parquet writer: ${chunks.length} chunks written`,
    );
    for (const chunk of chunks) {
      assert(chunk.rowCount === rowCount, `parquet writer: chunk of ${chunk.rowCount} rows`);
    }
    await this.#begin();
    this.#rowGroups.push({
      chunks: await this.#withBloomFilters(chunks),
      rowCount,
      offset: this.#rowGroupOffset ?? this.#sink.offset,
      ...(sortingColumns === undefined ? {} : { sortingColumns }),
    });
    this.#chunks = [];
    this.#rowGroupOffset = undefined;
  }

  /** Writes page indexes and footer. The writer must not be used afterwards. */
  async finish(): Promise<ParquetWriteResult> {
    assert(this.#chunks.length === 0, 'parquet writer: the last row group is not finished');
    await this.#begin();
    const columns = await this.#writePageIndexes();
    const metadata = this.#fileMetaData(columns);
    const footer = serializeThrift(FILE_META_DATA, metadata);
    const tail = new Uint8Array(FOOTER_TAIL_BYTES);
    new DataView(tail.buffer).setUint32(0, footer.length, true);
    tail.set(encodeUtf8(MAGIC), 4);
    await this.#sink.write(concatBytes([footer, tail]));
    return {
      fileSizeBytes: this.#sink.offset,
      metadata,
      splitOffsets: this.#rowGroups.map(({ offset }) => offset),
    };
  }

  async #begin(): Promise<void> {
    if (this.#sink.offset === 0) await this.#sink.write(encodeUtf8(MAGIC));
  }

  async #beginChunk(): Promise<SchemaLeaf> {
    await this.#begin();
    const target = this.#leaves[this.#chunks.length];
    assert(target !== undefined, `parquet writer: only ${this.#leaves.length} columns`);
    this.#rowGroupOffset ??= this.#sink.offset;
    return target;
  }

  #endChunk(chunk: WrittenColumnChunk): ChunkReport {
    this.#chunks.push(chunk);
    return {
      sizeBytes: chunk.metaData.totalCompressedSize,
      hasOffsetIndex: chunk.offsetIndex !== undefined,
      hasColumnIndex: chunk.columnIndex !== undefined,
      hasBloomFilter: chunk.readBloomFilter !== undefined,
    };
  }

  async #withBloomFilters(chunks: readonly WrittenColumnChunk[]): Promise<WrittenColumnChunk[]> {
    const written: WrittenColumnChunk[] = [];
    for (const { readBloomFilter, ...chunk } of chunks) {
      const filter = await readBloomFilter?.();
      const bloomFilterOffset = this.#sink.offset;
      if (filter !== undefined) await this.#sink.write(filter);
      const location = filter && { bloomFilterOffset, bloomFilterLength: filter.length };
      written.push({ ...chunk, metaData: { ...chunk.metaData, ...location } });
    }
    return written;
  }

  /** All column indexes, then all offset indexes, as readers expect them side by side. */
  async #writePageIndexes(): Promise<readonly (readonly ColumnChunk[])[]> {
    const columns = this.#rowGroups.map(({ chunks }) =>
      chunks.map(({ metaData }): ColumnChunk => ({ fileOffset: 0, metaData })),
    );
    for (const [rowGroupIndex, { chunks }] of this.#rowGroups.entries()) {
      for (const [columnIndex, chunk] of chunks.entries()) {
        if (chunk.columnIndex === undefined) continue;
        const bytes = serializeThrift(COLUMN_INDEX, chunk.columnIndex);
        columns[rowGroupIndex]![columnIndex] = {
          ...columns[rowGroupIndex]![columnIndex]!,
          columnIndexOffset: this.#sink.offset,
          columnIndexLength: bytes.length,
        };
        await this.#sink.write(bytes);
      }
    }
    for (const [rowGroupIndex, { chunks }] of this.#rowGroups.entries()) {
      for (const [columnIndex, chunk] of chunks.entries()) {
        if (chunk.offsetIndex === undefined) continue;
        const bytes = serializeThrift(OFFSET_INDEX, chunk.offsetIndex);
        columns[rowGroupIndex]![columnIndex] = {
          ...columns[rowGroupIndex]![columnIndex]!,
          offsetIndexOffset: this.#sink.offset,
          offsetIndexLength: bytes.length,
        };
        await this.#sink.write(bytes);
      }
    }
    return columns;
  }

  #fileMetaData(columns: readonly (readonly ColumnChunk[])[]): FileMetaData {
    const { schema, keyValueMetadata, createdBy = CREATED_BY } = this.#options;
    return {
      version: 1,
      schema,
      numRows: this.#rowGroups.reduce((sum, { rowCount }) => sum + rowCount, 0),
      rowGroups: this.#rowGroups.map((rowGroup, index) =>
        rowGroupOf(rowGroup, columns[index]!, index),
      ),
      ...(keyValueMetadata === undefined ? {} : { keyValueMetadata }),
      createdBy,
      columnOrders: this.#leaves.map(() => 'TYPE_ORDER'),
    };
  }
}

function rowGroupOf(
  { chunks, rowCount, offset, sortingColumns }: WrittenRowGroup,
  columns: readonly ColumnChunk[],
  rowGroupIndex: number,
): RowGroup {
  const sum = (size: (metaData: ColumnMetaData) => number) =>
    chunks.reduce((total, { metaData }) => total + size(metaData), 0);
  return {
    columns,
    totalByteSize: sum((metaData) => metaData.totalUncompressedSize),
    numRows: rowCount,
    ...(sortingColumns === undefined ? {} : { sortingColumns }),
    fileOffset: offset,
    totalCompressedSize: sum((metaData) => metaData.totalCompressedSize),
    ...(rowGroupIndex > ORDINAL_MAX ? {} : { ordinal: rowGroupIndex }),
  };
}
