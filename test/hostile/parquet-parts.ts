import { type ParquetFile, readParquetFooter, walkPages } from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';

/** A part of a file: from `start` to before `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a sound Parquet file has what. */
export interface ParquetParts {
  readonly file: ParquetFile;
  /** FileMetaData, its length and the magic. */
  readonly footer: Span;
  readonly pageHeaders: readonly Span[];
  readonly pageBodies: readonly (Span & { readonly hasChecksum: boolean })[];
  /** Page indexes and Bloom filters: everything between the last page and the footer. */
  readonly indexes: Span;
}

const FOOTER_TAIL_BYTES = 8;

export async function parquetParts(bytes: Uint8Array): Promise<ParquetParts> {
  const file = await readParquetFooter(bytesReader(bytes));
  const pageHeaders: Span[] = [];
  const pageBodies: (Span & { readonly hasChecksum: boolean })[] = [];
  for (const { chunks } of file.rowGroups) {
    for (const chunk of chunks) {
      const { offset, lengthBytes } = chunk.range;
      const chunkBytes = bytes.subarray(offset, offset + lengthBytes);
      for (const page of walkPages(chunkBytes, chunk, 'hostile')) {
        const start = offset + page.offset;
        const body = start + page.headerBytes;
        pageHeaders.push({ start, end: body });
        const hasChecksum = page.header.crc !== undefined;
        pageBodies.push({ start: body, end: body + page.body.length, hasChecksum });
      }
    }
  }
  const pagesEnd = Math.max(...pageBodies.map(({ end }) => end));
  return {
    file,
    footer: { start: file.footerOffset, end: bytes.length },
    pageHeaders,
    pageBodies,
    indexes: { start: pagesEnd, end: file.footerOffset },
  };
}

/** The file with the footer's length set to what it is now. */
export function withFooterLength(bytes: Uint8Array, footerOffset: number): Uint8Array {
  const fixed = Uint8Array.from(bytes);
  const lengthBytes = bytes.length - FOOTER_TAIL_BYTES - footerOffset;
  new DataView(fixed.buffer).setUint32(bytes.length - FOOTER_TAIL_BYTES, lengthBytes, true);
  return fixed;
}
