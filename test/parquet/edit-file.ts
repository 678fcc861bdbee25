import { readFileSync } from 'node:fs';
import { concatBytes, encodeUtf8 } from '../../shared/bytes/index.ts';
import { FILE_META_DATA } from '../../shared/parquet/metadata-codecs.ts';
import type {
  ColumnChunk,
  ColumnMetaData,
  FileMetaData,
  RowGroup,
} from '../../shared/parquet/metadata-types.ts';
import { serializeThrift } from '../../shared/parquet/thrift-codec.ts';
import { ThriftReader } from '../../shared/parquet/thrift-reader.ts';

export function readFixture(name: string): Uint8Array<ArrayBuffer> {
  const url = new URL(`../fixtures/parquet-pyarrow/${name}.parquet`, import.meta.url);
  return new Uint8Array(readFileSync(url));
}

/** Where the footer begins, not checked. */
export function footerOffsetOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.length - 8 - view.getUint32(bytes.length - 8, true);
}

/** The file with another footer in place of its own; what lies before it stays. */
export function withMetadata(
  bytes: Uint8Array,
  change: (metadata: FileMetaData) => FileMetaData,
): Uint8Array<ArrayBuffer> {
  const footerOffset = footerOffsetOf(bytes);
  const footer = bytes.subarray(footerOffset, bytes.length - 8);
  const metadata = FILE_META_DATA.read(new ThriftReader(footer, 'footer'));
  return withFooter(
    bytes.subarray(0, footerOffset),
    serializeThrift(FILE_META_DATA, change(metadata)),
  );
}

export function withFooter(before: Uint8Array, footer: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, footer.length, true);
  return concatBytes([before, footer, length, encodeUtf8('PAR1')]);
}

/** Changes the first row group. */
export function withRowGroup(
  bytes: Uint8Array,
  change: (rowGroup: RowGroup) => RowGroup,
): Uint8Array<ArrayBuffer> {
  return withMetadata(bytes, (metadata) => ({
    ...metadata,
    rowGroups: [change(metadata.rowGroups[0]!), ...metadata.rowGroups.slice(1)],
  }));
}

/** Changes one chunk of the first row group. */
export function withChunk(
  bytes: Uint8Array,
  columnIndex: number,
  change: (chunk: ColumnChunk) => ColumnChunk,
): Uint8Array<ArrayBuffer> {
  return withRowGroup(bytes, (rowGroup) => ({
    ...rowGroup,
    columns: rowGroup.columns.map((chunk, index) =>
      index === columnIndex ? change(chunk) : chunk,
    ),
  }));
}

/** Changes the metadata of one chunk of the first row group. */
export function withColumnMetaData(
  bytes: Uint8Array,
  columnIndex: number,
  change: Partial<ColumnMetaData>,
): Uint8Array<ArrayBuffer> {
  return withChunk(bytes, columnIndex, (chunk) => ({
    ...chunk,
    metaData: { ...chunk.metaData!, ...change },
  }));
}

/** A copy with one byte changed. */
export function withByte(
  bytes: Uint8Array,
  offset: number,
  change: (byte: number) => number,
): Uint8Array<ArrayBuffer> {
  const changed = Uint8Array.from(bytes);
  changed[offset] = change(changed[offset]!);
  return changed;
}
