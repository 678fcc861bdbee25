import type { ManifestEntry, TableMetadata } from '../iceberg/index.ts';
import { hasUnsupportedKey, keySchemas } from './key-fields.ts';

/** Why what a delete file deletes cannot be told. */
export type UnreadableReason = 'unsupported-format' | 'unsupported-column' | 'encrypted';

/** Parquet delete files, and the files of vectors. */
const READABLE_FORMATS: readonly string[] = ['PARQUET', 'PUFFIN'];

/**
 * Why a loader would refuse a delete file, as far as its manifest entry tells; undefined where nothing speaks against it.
 * A column that the table's schemas have forgotten is known once the file is read.
 */
export function unreadableReason(
  { dataFile }: ManifestEntry,
  metadata: TableMetadata,
): UnreadableReason | undefined {
  if (dataFile.keyMetadata !== undefined) return 'encrypted';
  if (!READABLE_FORMATS.includes(dataFile.fileFormat.toUpperCase())) return 'unsupported-format';
  const isByUnsupportedColumn =
    dataFile.content === 'equality-deletes' &&
    hasUnsupportedKey(dataFile.equalityIds ?? [], keySchemas(metadata));
  return isByUnsupportedColumn ? 'unsupported-column' : undefined;
}
