import { readFileSync } from 'node:fs';
import { IcebergError, type RangedReader } from '../../shared/base/index.ts';

/** A reader of bytes in memory. */
export function bytesReader(bytes: Uint8Array, location = 'memory'): RangedReader {
  return {
    location,
    fileSizeBytes: bytes.length,
    read: async (offset, lengthBytes) => {
      if (offset < 0 || lengthBytes < 0 || offset + lengthBytes > bytes.length) {
        throw new IcebergError('invalid-data', `${location}: range ${offset}+${lengthBytes}`);
      }
      return bytes.slice(offset, offset + lengthBytes);
    },
  };
}

/** A reader of a file of the local disk, held in memory. */
export function fileReader(path: string): RangedReader {
  return bytesReader(new Uint8Array(readFileSync(path)), path);
}
