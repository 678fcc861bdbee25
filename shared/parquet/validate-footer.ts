import { IcebergError } from '../base/index.ts';
import { MAGIC_BYTES } from './layout.ts';
import type { ColumnChunk, ColumnMetaData, FileMetaData, RowGroup } from './metadata-types.ts';
import {
  type BloomFilterLocation,
  type ByteRange,
  chunkSubject,
  type ParquetColumnChunk,
  type ParquetFile,
  type ParquetRowGroup,
} from './parquet-file.ts';
import { buildSchemaTree, type SchemaLeaf, type SchemaTree } from './schema-tree.ts';

export interface ParsedFooter {
  readonly metadata: FileMetaData;
  readonly location: string;
  readonly fileSizeBytes: number;
  readonly footerOffset: number;
}

/**
 * Checks a parsed footer against itself and the file's length, and gives each column chunk its leaf and byte
 * ranges.
 *
 * @throws invalid-data — when counts, paths, types or ranges contradict each other
 * @throws unsupported — for encryption, columns in other files, versions other than 1 and 2
 */
export function validateFileMetaData(footer: ParsedFooter): ParquetFile {
  const { metadata, location } = footer;
  if (metadata.encryptionAlgorithm !== undefined) {
    throw new IcebergError('unsupported', `${location}: columns are encrypted`);
  }
  if (metadata.version !== 1 && metadata.version !== 2) {
    throw new IcebergError('unsupported', `${location}: version ${metadata.version} is not known`);
  }
  const tree = buildSchemaTree(metadata.schema, location);
  requireColumnOrders(metadata, tree, location);

  let firstRowIndex = 0;
  const rowGroups = metadata.rowGroups.map((rowGroup, rowGroupIndex) => {
    const validated = validateRowGroup({ footer, tree, rowGroup, rowGroupIndex, firstRowIndex });
    firstRowIndex += validated.rowCount;
    return validated;
  });
  if (firstRowIndex !== metadata.numRows) {
    throw new IcebergError(
      'invalid-data',
      `${location}: num_rows ${metadata.numRows}, row groups have ${firstRowIndex}`,
    );
  }
  requireApart(rowGroups, location);
  return { ...footer, root: tree.root, leaves: tree.leaves, rowGroups };
}

function requireColumnOrders(metadata: FileMetaData, tree: SchemaTree, location: string): void {
  const orderCount = metadata.columnOrders?.length ?? tree.leaves.length;
  if (orderCount === tree.leaves.length) return;
  throw new IcebergError(
    'invalid-data',
    `${location}: ${orderCount} column_orders for ${tree.leaves.length} columns`,
  );
}

interface RowGroupContext {
  readonly footer: ParsedFooter;
  readonly tree: SchemaTree;
  readonly rowGroup: RowGroup;
  readonly rowGroupIndex: number;
  readonly firstRowIndex: number;
}

function validateRowGroup(context: RowGroupContext): ParquetRowGroup {
  const { footer, tree, rowGroup, rowGroupIndex, firstRowIndex } = context;
  const { columns, numRows, sortingColumns = [] } = rowGroup;
  const subject = `${footer.location}: row group ${rowGroupIndex}`;
  requireCount(numRows, 'num_rows', subject);
  requireCount(rowGroup.totalByteSize, 'total_byte_size', subject);
  if (columns.length !== tree.leaves.length) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: ${columns.length} column chunks for ${tree.leaves.length} columns`,
    );
  }
  for (const { columnIdx } of sortingColumns) {
    if (columnIdx >= 0 && columnIdx < columns.length) continue;
    const problem = `sorting column ${columnIdx} of ${columns.length} columns`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
  const chunks = tree.leaves.map((leaf) =>
    validateColumnChunk(columns[leaf.columnIndex]!, leaf, context),
  );
  return { rowGroup, rowCount: numRows, firstRowIndex, chunks };
}

function validateColumnChunk(
  chunk: ColumnChunk,
  leaf: SchemaLeaf,
  { footer, rowGroup, rowGroupIndex }: RowGroupContext,
): ParquetColumnChunk {
  const subject = chunkSubject(footer.location, rowGroupIndex, leaf);
  const metaData = requirePlainMetaData(chunk, subject);
  requireSameColumn(metaData, leaf, subject);
  requireConsistentCounts(metaData, leaf, rowGroup.numRows, subject);
  const { footerOffset } = footer;
  const range = requireInside(chunkRange(metaData), 'column chunk', footerOffset, subject);
  const { offsetIndexOffset, offsetIndexLength, columnIndexOffset, columnIndexLength } = chunk;
  const offsetIndexRange = optionalRange(offsetIndexOffset, offsetIndexLength);
  const columnIndexRange = optionalRange(columnIndexOffset, columnIndexLength);
  if (offsetIndexRange) requireInside(offsetIndexRange, 'offset index', footerOffset, subject);
  if (columnIndexRange) requireInside(columnIndexRange, 'column index', footerOffset, subject);
  const bloomFilter = bloomFilterLocation(metaData, footerOffset, subject);
  return {
    leaf,
    metaData,
    columnOrder: footer.metadata.columnOrders?.[leaf.columnIndex],
    rowCount: rowGroup.numRows,
    range,
    ...(offsetIndexRange === undefined ? {} : { offsetIndexRange }),
    ...(columnIndexRange === undefined ? {} : { columnIndexRange }),
    ...(bloomFilter === undefined ? {} : { bloomFilter }),
  };
}

function requirePlainMetaData(chunk: ColumnChunk, subject: string): ColumnMetaData {
  if (chunk.cryptoMetadata !== undefined) {
    throw new IcebergError('unsupported', `${subject}: the column is encrypted`);
  }
  if (chunk.filePath !== undefined) {
    throw new IcebergError('unsupported', `${subject}: the column lies in another file`);
  }
  if (chunk.metaData === undefined) {
    throw new IcebergError('invalid-data', `${subject}: meta_data is missing`);
  }
  return chunk.metaData;
}

function requireSameColumn(metaData: ColumnMetaData, leaf: SchemaLeaf, subject: string): void {
  const { pathInSchema, type } = metaData;
  const isSamePath =
    pathInSchema.length === leaf.path.length &&
    pathInSchema.every((name, index) => name === leaf.path[index]);
  if (!isSamePath) {
    const problem = `path_in_schema is ${pathInSchema.join('.')}`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
  if (type !== leaf.physicalType) {
    const problem = `type ${type}, the schema has ${leaf.physicalType}`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
}

function requireConsistentCounts(
  metaData: ColumnMetaData,
  leaf: SchemaLeaf,
  rowCount: number,
  subject: string,
): void {
  const { numValues, statistics } = metaData;
  requireCount(numValues, 'num_values', subject);
  requireCount(metaData.totalCompressedSize, 'total_compressed_size', subject);
  requireCount(metaData.totalUncompressedSize, 'total_uncompressed_size', subject);
  const isConsistent =
    leaf.maxRepetitionLevel === 0 ? numValues === rowCount : numValues >= rowCount;
  if (!isConsistent) {
    const problem = `num_values ${numValues} in a row group of ${rowCount} rows`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
  const nullCount = statistics?.nullCount ?? 0;
  if (nullCount > numValues) {
    const problem = `null_count ${nullCount} of ${numValues} values`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
}

/** Older writers put 0 for "no dictionary", or let `data_page_offset` point at the dictionary page. */
function chunkRange(metaData: ColumnMetaData): ByteRange {
  const { dataPageOffset, dictionaryPageOffset = 0, totalCompressedSize } = metaData;
  const offset =
    dictionaryPageOffset > 0 ? Math.min(dictionaryPageOffset, dataPageOffset) : dataPageOffset;
  return { offset, lengthBytes: totalCompressedSize };
}

function bloomFilterLocation(
  metaData: ColumnMetaData,
  footerOffset: number,
  subject: string,
): BloomFilterLocation | undefined {
  const { bloomFilterOffset: offset, bloomFilterLength: lengthBytes } = metaData;
  if (offset === undefined) return undefined;
  requireInside({ offset, lengthBytes: lengthBytes ?? 1 }, 'bloom filter', footerOffset, subject);
  return lengthBytes === undefined ? { offset } : { offset, lengthBytes };
}

function optionalRange(offset?: number, lengthBytes?: number): ByteRange | undefined {
  return offset === undefined || lengthBytes === undefined ? undefined : { offset, lengthBytes };
}

function requireInside(
  range: ByteRange,
  what: string,
  footerOffset: number,
  subject: string,
): ByteRange {
  const { offset, lengthBytes } = range;
  const isInside =
    offset >= MAGIC_BYTES && lengthBytes >= 0 && lengthBytes <= footerOffset - offset;
  // A chunk without pages has nowhere to be.
  if (isInside || (lengthBytes === 0 && offset === 0)) return range;
  throw new IcebergError(
    'invalid-data',
    `${subject}: ${what} of ${lengthBytes} bytes at offset ${offset} does not lie between ` +
      `${MAGIC_BYTES} and the footer at ${footerOffset}`,
  );
}

function requireApart(rowGroups: readonly ParquetRowGroup[], location: string): void {
  const ranges = rowGroups
    .flatMap(({ chunks }) => chunks.flatMap(chunkRanges))
    .filter(({ lengthBytes }) => lengthBytes > 0)
    .sort((one, other) => one.offset - other.offset);
  let end = 0;
  for (const { offset, lengthBytes } of ranges) {
    if (offset < end) {
      throw new IcebergError(
        'invalid-data',
        `${location}: bytes at offset ${offset} belong to two parts, the first ends at ${end}`,
      );
    }
    end = offset + lengthBytes;
  }
}

function chunkRanges(chunk: ParquetColumnChunk): ByteRange[] {
  const { range, offsetIndexRange, columnIndexRange, bloomFilter } = chunk;
  const ranges = [range];
  if (offsetIndexRange) ranges.push(offsetIndexRange);
  if (columnIndexRange) ranges.push(columnIndexRange);
  if (bloomFilter) {
    ranges.push({ offset: bloomFilter.offset, lengthBytes: bloomFilter.lengthBytes ?? 1 });
  }
  return ranges;
}

function requireCount(count: number, field: string, subject: string): void {
  if (count < 0)
    throw new IcebergError('invalid-data', `${subject}: ${field} ${count} is negative`);
}
