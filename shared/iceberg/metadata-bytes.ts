import { IcebergError, isJsonObject, type JsonObject, parseJson } from '../base/index.ts';
import { decodeUtf8, encodeUtf8 } from '../bytes/index.ts';
import { compress, decompressUpTo } from '../compress/index.ts';

/** Largest metadata document, uncompressed: some hundred thousand snapshots, and well within a string. */
export const METADATA_BYTES_MAX = 256 * 1024 * 1024;

const GZIP_MAGIC = [0x1f, 0x8b];
const GZIP_NAME = /(?:\.gz\.metadata\.json|\.metadata\.json\.gz)$/;

/**
 * The JSON object in the bytes of a metadata file, which may be compressed with gzip.
 *
 * @throws invalid-data — when it is not well-formed, or exceeds `METADATA_BYTES_MAX`
 */
export function decodeMetadataJson(bytes: Uint8Array, metadataLocation: string): JsonObject {
  const plain = decompressMetadata(bytes, metadataLocation);
  if (plain.length > METADATA_BYTES_MAX) {
    throw new IcebergError(
      'invalid-data',
      `table metadata: ${plain.length} bytes exceed the limit of ${METADATA_BYTES_MAX}`,
      { metadataLocation },
    );
  }
  const json = parseJson(decodeUtf8(plain, 'table metadata'), 'table metadata');
  if (!isJsonObject(json)) {
    throw new IcebergError('invalid-data', 'table metadata: is not a JSON object', {
      metadataLocation,
    });
  }
  return json;
}

/** The bytes of a metadata file of that name: gzip where the name says so, as readers go by it. */
export function encodeMetadataText(text: string, metadataLocation: string): Uint8Array {
  const plain = encodeUtf8(text);
  return GZIP_NAME.test(metadataLocation) ? compress('gzip', plain) : plain;
}

/** Name and magic may disagree: text never begins with the magic, and a name with `.gz` promises it. */
function decompressMetadata(bytes: Uint8Array, metadataLocation: string): Uint8Array {
  const hasMagic = bytes[0] === GZIP_MAGIC[0] && bytes[1] === GZIP_MAGIC[1];
  if (!hasMagic && !GZIP_NAME.test(metadataLocation)) return bytes;
  return decompressUpTo('gzip', bytes, METADATA_BYTES_MAX, 'table metadata');
}
