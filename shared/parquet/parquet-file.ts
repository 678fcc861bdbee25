import type { ColumnMetaData, ColumnOrder, FileMetaData, RowGroup } from './metadata-types.ts';
import type { SchemaLeaf, SchemaNode } from './schema-tree.ts';

/** `offset` counts from the start of the file. */
export interface ByteRange {
  readonly offset: number;
  readonly lengthBytes: number;
}

/** A footer that was read and found consistent with itself and with the file's length. */
export interface ParquetFile {
  readonly location: string;
  readonly fileSizeBytes: number;
  /** Where FileMetaData begins; everything else lies before it. */
  readonly footerOffset: number;
  readonly metadata: FileMetaData;
  readonly root: SchemaNode;
  readonly leaves: readonly SchemaLeaf[];
  readonly rowGroups: readonly ParquetRowGroup[];
}

export interface ParquetRowGroup {
  readonly rowGroup: RowGroup;
  readonly rowCount: number;
  /** Position of its first row in the file. */
  readonly firstRowIndex: number;
  /** One for each leaf, in order. */
  readonly chunks: readonly ParquetColumnChunk[];
}

export interface ParquetColumnChunk {
  readonly leaf: SchemaLeaf;
  readonly metaData: ColumnMetaData;
  /** `undefined` where the file declares no orders. */
  readonly columnOrder: ColumnOrder | undefined;
  /** Rows of the row group. */
  readonly rowCount: number;
  /** All pages, the dictionary page included. */
  readonly range: ByteRange;
  readonly offsetIndexRange?: ByteRange;
  readonly columnIndexRange?: ByteRange;
  readonly bloomFilter?: BloomFilterLocation;
}

export interface BloomFilterLocation {
  readonly offset: number;
  /** Absent in files of older writers: then the header says it. */
  readonly lengthBytes?: number;
}

/** How errors name a column chunk. */
export function chunkSubject(location: string, rowGroupIndex: number, leaf: SchemaLeaf): string {
  return `${location}: row group ${rowGroupIndex}, column ${leaf.path.join('.')}`;
}
