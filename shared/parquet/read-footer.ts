import { IcebergError, type RangedReader } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';
import {
  FILE_BYTES_MIN,
  FOOTER_TAIL_BYTES,
  MAGIC,
  MAGIC_BYTES,
  MAGIC_ENCRYPTED_FOOTER,
} from './layout.ts';
import { FILE_META_DATA } from './metadata-codecs.ts';
import type { FileMetaData } from './metadata-types.ts';
import type { ParquetFile } from './parquet-file.ts';
import { ThriftReader } from './thrift-reader.ts';
import { validateFileMetaData } from './validate-footer.ts';

/** Holds the footer of nearly every file that needs compaction, so that one request is enough. */
const TAIL_BYTES_DEFAULT = 64 * 1024;

/**
 * A footer grows with row groups times columns, by some 150 bytes each: this is about 400,000 column chunks,
 * beyond what the struct limit of the Thrift reader lets through.
 */
const FOOTER_BYTES_MAX = 64 * 1024 * 1024;

export interface FooterOptions {
  /** How much is read at first, from the end of the file. */
  readonly tailBytes?: number;
  readonly footerBytesMax?: number;
}

/**
 * Reads and validates a footer: the schema's tree, paths, types and counts of every column chunk, and that all
 * ranges lie before the footer and apart from one another. Costs one read, two for a footer longer than
 * `tailBytes`. Statistics are views of the footer.
 *
 * @throws invalid-data — when the file is not Parquet or its footer contradicts itself
 * @throws unsupported — for encryption, columns in other files, unknown codecs, encodings, types, or a footer
 *   beyond the limits
 * @see Parquet format, "File Format"
 */
export async function readParquetFooter(
  reader: RangedReader,
  options: FooterOptions = {},
): Promise<ParquetFile> {
  const { location, fileSizeBytes } = reader;
  if (fileSizeBytes < FILE_BYTES_MIN) {
    const problem = `${fileSizeBytes} bytes are fewer than the ${FILE_BYTES_MIN} of an empty file`;
    throw new IcebergError('invalid-data', `${location}: ${problem}`);
  }
  const tailBytes = Math.min(
    Math.max(options.tailBytes ?? TAIL_BYTES_DEFAULT, FOOTER_TAIL_BYTES),
    fileSizeBytes,
  );
  const tail = await reader.read(fileSizeBytes - tailBytes, tailBytes);
  const footerBytes = parseFooterLength(tail, reader, options.footerBytesMax ?? FOOTER_BYTES_MAX);
  const footerOffset = fileSizeBytes - FOOTER_TAIL_BYTES - footerBytes;
  // A copy: statistics are views that live long, of the footer then and not of all that was read.
  const footer =
    footerBytes + FOOTER_TAIL_BYTES <= tail.length
      ? tail.slice(tail.length - FOOTER_TAIL_BYTES - footerBytes, -FOOTER_TAIL_BYTES)
      : await reader.read(footerOffset, footerBytes);
  const metadata = parseFileMetaData(footer, location);
  return validateFileMetaData({ metadata, location, fileSizeBytes, footerOffset });
}

function parseFooterLength(tail: Uint8Array, reader: RangedReader, footerBytesMax: number): number {
  const { location, fileSizeBytes } = reader;
  const end = new ByteReader(tail.subarray(-FOOTER_TAIL_BYTES), location);
  const footerBytes = end.u32le();
  const magic = String.fromCharCode(...end.bytes(MAGIC_BYTES));
  if (magic === MAGIC_ENCRYPTED_FOOTER) {
    throw new IcebergError('unsupported', `${location}: the footer is encrypted`);
  }
  if (magic !== MAGIC) {
    throw new IcebergError('invalid-data', `${location}: the closing magic is not ${MAGIC}`);
  }
  if (footerBytes > fileSizeBytes - FILE_BYTES_MIN) {
    throw new IcebergError(
      'invalid-data',
      `${location}: footer of ${footerBytes} bytes exceeds file length ${fileSizeBytes}`,
    );
  }
  if (footerBytes > footerBytesMax) {
    throw new IcebergError(
      'unsupported',
      `${location}: footer of ${footerBytes} bytes exceeds the limit of ${footerBytesMax}`,
    );
  }
  return footerBytes;
}

function parseFileMetaData(footer: Uint8Array, location: string): FileMetaData {
  return FILE_META_DATA.read(new ThriftReader(footer, `${location}: footer`));
}
