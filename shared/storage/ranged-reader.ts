import { IcebergError, type RangedReader } from '../base/index.ts';
import type { ObjectStore } from './object-store.ts';

/** A reader over `readRange` of a store: one GET for each read, and none beyond the known length. */
export function rangedReader(
  store: Pick<ObjectStore, 'readRange'>,
  location: string,
  fileSizeBytes: number,
): RangedReader {
  return {
    location,
    fileSizeBytes,
    read: async (offset, lengthBytes) => {
      validateRange({ location, offset, lengthBytes, fileSizeBytes });
      return await store.readRange(location, offset, lengthBytes);
    },
  };
}

/**
 * Refuses a range that does not lie within an object of `fileSizeBytes` bytes.
 *
 * @throws invalid-data
 */
export function validateRange(range: {
  readonly location: string;
  readonly offset: number;
  readonly lengthBytes: number;
  readonly fileSizeBytes: number;
}): void {
  const { location, offset, lengthBytes, fileSizeBytes } = range;
  const isRange = Number.isSafeInteger(offset) && Number.isSafeInteger(lengthBytes);
  if (isRange && offset >= 0 && lengthBytes >= 0 && offset + lengthBytes <= fileSizeBytes) return;
  throw new IcebergError(
    'invalid-data',
    `${location}: range of ${lengthBytes} bytes at offset ${offset} exceeds length ${fileSizeBytes}`,
    { location, offset, lengthBytes, fileSizeBytes },
  );
}
