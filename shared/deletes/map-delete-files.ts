import { mapConcurrent } from '../base/index.ts';
import type { ManifestEntry } from '../iceberg/index.ts';

/** Most delete files are small, and what takes time is the wait for each. */
const SMALL_FILES_CONCURRENT = 16;
const SMALL_FILE_BYTES_MAX = 1024 * 1024;

/** Of a large one, some 8 MiB of each column are held while it is read. */
const LARGE_FILES_CONCURRENT = 2;

/** Applies `fn` to delete files, many at a time where they are small; results come in no order. */
export async function mapDeleteFiles<Result>(
  entries: readonly ManifestEntry[],
  fn: (entry: ManifestEntry) => Promise<Result>,
): Promise<readonly Result[]> {
  const isSmall = ({ dataFile }: ManifestEntry) => dataFile.fileSizeBytes <= SMALL_FILE_BYTES_MAX;
  const small = entries.filter(isSmall);
  const large = entries.filter((entry) => !isSmall(entry));
  return [
    ...(await mapConcurrent(small, { concurrencyMax: SMALL_FILES_CONCURRENT }, fn)),
    ...(await mapConcurrent(large, { concurrencyMax: LARGE_FILES_CONCURRENT }, fn)),
  ];
}
