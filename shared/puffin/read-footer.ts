import { IcebergError, parseJson, type RangedReader } from '../base/index.ts';
import { ByteReader, concatBytes, decodeUtf8, equalBytes } from '../bytes/index.ts';
import {
  FLAG_PAYLOAD_COMPRESSED,
  FOOTER_BYTES_MAX,
  FOOTER_FRAME_BYTES,
  FOOTER_TAIL_BYTES,
  MAGIC,
  MAGIC_BYTES,
} from './layout.ts';
import { decompressLz4Frame } from './lz4-frame.ts';
import type { BlobMetadata, PuffinFile } from './metadata.ts';
import { parsePayload } from './metadata-json.ts';

/** Holds the footer of about fifty blobs. */
const TAIL_BYTES_DEFAULT = 16 * 1024;

export interface PuffinFooterOptions {
  /** Where table metadata says it: then the footer is read at once, and must have this size. */
  readonly footerSizeBytes?: number;
  /** Otherwise, how much is read at first, from the end of the file. */
  readonly tailBytes?: number;
  /** Of the footer as stored, and of its payload once decompressed. */
  readonly footerBytesMax?: number;
}

/**
 * Reads and validates a footer: sizes, flags, the JSON's types, and that all blobs lie before the footer and apart
 * from one another. Blobs of any type and codec are listed. Costs one read, and a second one where the size is not
 * given and the footer is longer than `tailBytes`. The magic at the start of the file is checked if it was read.
 *
 * @throws invalid-data — when the file is not Puffin or its footer contradicts itself or `footerSizeBytes`
 * @throws unsupported — for flags that are not known, and footers beyond the limit
 * @see Puffin spec, "Footer structure"
 */
export async function readPuffinFooter(
  reader: RangedReader,
  options: PuffinFooterOptions = {},
): Promise<PuffinFile> {
  const { location, fileSizeBytes } = reader;
  const footerBytesMax = options.footerBytesMax ?? FOOTER_BYTES_MAX;
  const footer = await readFooterBytes(reader, options, footerBytesMax);
  const payload = parseFooter(footer, { location, footerBytesMax });
  const { blobs, properties } = parsePayload(parseJson(payload, location), location);
  requireApart(blobs, location, fileSizeBytes - footer.length);
  return { location, fileSizeBytes, footerSizeBytes: footer.length, blobs, properties };
}

async function readFooterBytes(
  reader: RangedReader,
  options: PuffinFooterOptions,
  footerBytesMax: number,
): Promise<Uint8Array> {
  const { location, fileSizeBytes } = reader;
  const { footerSizeBytes, tailBytes = TAIL_BYTES_DEFAULT } = options;
  if (fileSizeBytes < MAGIC_BYTES + FOOTER_FRAME_BYTES) {
    throw invalid(location, `${fileSizeBytes} bytes are too few for a footer`);
  }
  if (footerSizeBytes !== undefined) {
    requireFooterSize(footerSizeBytes, reader, footerBytesMax);
    const footer = await reader.read(fileSizeBytes - footerSizeBytes, footerSizeBytes);
    if (footerSizeOf(footer, location) === footerSizeBytes) return footer;
    const problem = `footer is said to have ${footerSizeBytes} bytes, not`;
    throw invalid(location, `${problem} ${footerSizeOf(footer, location)}`);
  }
  const readBytes = Math.min(Math.max(tailBytes, FOOTER_TAIL_BYTES), fileSizeBytes);
  const tail = await reader.read(fileSizeBytes - readBytes, readBytes);
  if (readBytes === fileSizeBytes) requireMagic(tail, 0, location);
  const footerBytes = footerSizeOf(tail, location);
  requireFooterSize(footerBytes, reader, footerBytesMax);
  if (footerBytes <= readBytes) return tail.subarray(readBytes - footerBytes);
  const front = await reader.read(fileSizeBytes - footerBytes, footerBytes - readBytes);
  return concatBytes([front, tail]);
}

/** What the end of the file says; may be negative. */
function footerSizeOf(tail: Uint8Array, location: string): number {
  requireMagic(tail, tail.length - MAGIC_BYTES, location);
  return FOOTER_FRAME_BYTES + new ByteReader(tail.subarray(-FOOTER_TAIL_BYTES), location).i32le();
}

function requireFooterSize(
  footerBytes: number,
  { location, fileSizeBytes }: RangedReader,
  footerBytesMax: number,
): void {
  const isSize = Number.isSafeInteger(footerBytes) && footerBytes >= FOOTER_FRAME_BYTES;
  if (!isSize || footerBytes > fileSizeBytes - MAGIC_BYTES) {
    const problem = `footer of ${footerBytes} bytes is not between ${FOOTER_FRAME_BYTES}`;
    throw invalid(location, `${problem} and ${fileSizeBytes - MAGIC_BYTES}`);
  }
  if (footerBytes <= footerBytesMax) return;
  throw new IcebergError(
    'unsupported',
    `${location}: footer of ${footerBytes} bytes exceeds the limit of ${footerBytesMax}`,
  );
}

/** The payload's text. */
function parseFooter(
  footer: Uint8Array,
  { location, footerBytesMax }: { readonly location: string; readonly footerBytesMax: number },
): string {
  requireMagic(footer, 0, location);
  const payload = footer.subarray(MAGIC_BYTES, footer.length - FOOTER_TAIL_BYTES);
  const end = new ByteReader(footer.subarray(-FOOTER_TAIL_BYTES), location);
  end.skip(4);
  const flags = end.u32le();
  if ((flags & ~FLAG_PAYLOAD_COMPRESSED) !== 0) {
    throw new IcebergError('unsupported', `${location}: footer flags ${flags} are not known`);
  }
  const isCompressed = flags === FLAG_PAYLOAD_COMPRESSED;
  const text = isCompressed ? decompressLz4Frame(payload, footerBytesMax, location) : payload;
  return decodeUtf8(text, `${location}: footer payload`);
}

function requireMagic(bytes: Uint8Array, offset: number, location: string): void {
  if (equalBytes(bytes.subarray(offset, offset + MAGIC_BYTES), MAGIC)) return;
  throw invalid(location, `no magic ${String.fromCharCode(...MAGIC)} where it has to be`);
}

/** Refuses blobs that reach outside the file's middle part, or into each other. */
function requireApart(
  blobs: readonly BlobMetadata[],
  location: string,
  footerOffset: number,
): void {
  const stored = blobs.filter(({ lengthBytes }) => lengthBytes > 0);
  stored.sort((one, other) => one.offset - other.offset);
  for (const { offset, lengthBytes } of blobs) {
    if (offset >= MAGIC_BYTES && offset + lengthBytes <= footerOffset) continue;
    const problem = `blob of ${lengthBytes} bytes at offset ${offset} is not between`;
    throw invalid(location, `${problem} ${MAGIC_BYTES} and ${footerOffset}`);
  }
  for (const [index, { offset }] of stored.entries()) {
    const before = stored[index - 1];
    if (before === undefined || before.offset + before.lengthBytes <= offset) continue;
    const problem = `blob of ${before.lengthBytes} bytes at offset ${before.offset} overlaps`;
    throw invalid(location, `${problem} the one at ${offset}`);
  }
}

function invalid(location: string, problem: string): IcebergError {
  return new IcebergError('invalid-data', `${location}: ${problem}`, { location });
}
