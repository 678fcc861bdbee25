import type { Codec } from './codecs.ts';

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const ZSTD_CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const ZSTD_BLOCK_HEADER_BYTES = 3;
const ZSTD_CHECKSUM_BYTES = 4;
const ZSTD_BLOCK_RLE = 1;
const SNAPPY_LENGTH_BYTES_MAX = 5;

/**
 * What a compressed unit itself says its decompressed length is, found without decompressing; `undefined` where
 * the format or the writer does not say it. Costs some bytes of each 128 KiB block.
 *
 * @see Snappy format, "Preamble"; Zstandard format (RFC 8878), "Frame Header", "Blocks"
 */
export function declaredLengthBytes(codec: Codec, bytes: Uint8Array): number | undefined {
  if (codec === 'snappy') return snappyLength(bytes);
  if (codec === 'zstd') return zstdLength(bytes);
  return undefined;
}

function snappyLength(bytes: Uint8Array): number | undefined {
  let length = 0;
  for (let index = 0; index < SNAPPY_LENGTH_BYTES_MAX && index < bytes.length; index++) {
    const byte = bytes[index]!;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return length;
  }
  return undefined;
}

/** Frames may follow one another; their lengths add up. */
function zstdLength(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let length = 0;
  for (let offset = 0; offset < bytes.length; ) {
    const frame = zstdFrame(view, offset);
    if (frame === undefined) return undefined;
    length += frame.contentBytes;
    offset = frame.end;
  }
  return length;
}

/** `undefined` for a frame that does not tell, is cut off, or is not a frame. */
function zstdFrame(
  view: DataView,
  start: number,
): { readonly contentBytes: number; readonly end: number } | undefined {
  const remaining = (offset: number): number => view.byteLength - offset;
  if (remaining(start) < 5 || view.getUint32(start, true) !== ZSTD_MAGIC) return undefined;
  const descriptor = view.getUint8(start + 4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingleSegment ? 1 : ZSTD_CONTENT_SIZE_BYTES[sizeFlag & 3]!;
  const sizeOffset =
    start + 5 + (isSingleSegment ? 0 : 1) + ZSTD_DICTIONARY_ID_BYTES[descriptor & 3]!;
  if (sizeBytes === 0 || remaining(sizeOffset) < sizeBytes) return undefined;
  const contentBytes = contentSize(view, sizeOffset, sizeBytes);
  for (let offset = sizeOffset + sizeBytes; remaining(offset) >= ZSTD_BLOCK_HEADER_BYTES; ) {
    const header = view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
    const isRle = ((header >> 1) & 3) === ZSTD_BLOCK_RLE;
    offset += ZSTD_BLOCK_HEADER_BYTES + (isRle ? 1 : header >> 3);
    if ((header & 1) === 0) continue;
    const end = offset + ((descriptor & 0x04) === 0 ? 0 : ZSTD_CHECKSUM_BYTES);
    return end <= view.byteLength ? { contentBytes, end } : undefined;
  }
  return undefined;
}

function contentSize(view: DataView, offset: number, sizeBytes: number): number {
  switch (sizeBytes) {
    case 1:
      return view.getUint8(offset);
    case 2:
      return view.getUint16(offset, true) + 256;
    case 4:
      return view.getUint32(offset, true);
    default:
      return Number(view.getBigUint64(offset, true));
  }
}
