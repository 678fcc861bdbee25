/**
 * Reading and building bytes: bounded cursors, varints, CRC-32, hexadecimal text. Lengths found in the input
 * are checked against what remains before they are used. Knows no format.
 */
export { ByteReader, decodeUtf8 } from './byte-reader.ts';
export { ByteWriter, encodeUtf8 } from './byte-writer.ts';
export { compareBytes, concatBytes, crc32, equalBytes, fromHex, toHex } from './bytes.ts';
