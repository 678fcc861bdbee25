/**
 *     offset  width
 *     0       4      magic: "PFA1"
 *     4              the blobs; where each lies, the footer says
 *
 * and the footer, up to the end of the file:
 *
 *     0       4      magic
 *     4       n      payload: JSON text, perhaps as an LZ4 frame
 *     4+n     4      n, a signed little-endian integer
 *     8+n     4      flags: bit 0 of the first byte says that the payload is compressed, all others are reserved
 *     12+n    4      magic
 *
 * @see Puffin spec, "File structure", "Footer structure"
 */
export const MAGIC = Uint8Array.of(0x50, 0x46, 0x41, 0x31);
export const MAGIC_BYTES = 4;

/** Payload size, flags and magic. */
export const FOOTER_TAIL_BYTES = 12;

/** All of the footer but the payload. */
export const FOOTER_FRAME_BYTES = MAGIC_BYTES + FOOTER_TAIL_BYTES;

export const FLAG_PAYLOAD_COMPRESSED = 1;

/** A blob takes some 300 bytes of JSON: this is about 200,000 of them. */
export const FOOTER_BYTES_MAX = 64 * 1024 * 1024;
