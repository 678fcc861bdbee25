import { IcebergError } from '../base/index.ts';
import { equalBytes } from '../bytes/index.ts';
import { isDeletionVector } from './content-file.ts';
import type { ManifestEntry } from './manifest-types.ts';
import { partitionKey } from './partition-key.ts';
import { isUnpartitioned } from './partition-spec.ts';
import type { PartitionSpec } from './types.ts';

/** Field id of `file_path` in position delete files. @see Iceberg spec, "Reserved Field IDs" */
const DELETE_FILE_PATH_FIELD_ID = 2147483546;

/** The delete files that apply to one data file, by kind. */
export interface AttachedDeletes {
  /** At most one in a valid table. Where there is one, no position delete file applies. */
  readonly deletionVectors: readonly ManifestEntry[];
  /** Those that name this data file alone. */
  readonly fileScopedPositionDeleteFiles: readonly ManifestEntry[];
  /** Those that may name any data file of the partition. */
  readonly partitionScopedPositionDeleteFiles: readonly ManifestEntry[];
  readonly equalityDeleteFiles: readonly ManifestEntry[];
}

/** Finds the delete files of a data file. Memory grows with the delete entries added. */
export interface DeleteIndex {
  /**
   * Adds a live entry of a delete manifest.
   *
   * @throws invalid-data — when a deletion vector does not say which data file it belongs to
   */
  add(entry: ManifestEntry): void;
  /**
   * @throws invalid-data — when a deletion vector is older than the data file it names
   */
  attachedTo(dataEntry: ManifestEntry): AttachedDeletes;
}

/**
 * An empty index.
 *
 * @param specs every spec of the table; equality deletes of an unpartitioned one apply to all data files
 * @see Iceberg spec, "Scan Planning"
 */
export function createDeleteIndex(specs: readonly PartitionSpec[]): DeleteIndex {
  const globalSpecIds = new Set(specs.filter(isUnpartitioned).map((spec) => spec.specId));
  const vectors = new DeletesByKey();
  const positionDeletesByPath = new DeletesByKey();
  const positionDeletesByPartition = new DeletesByKey();
  const equalityDeletesByPartition = new DeletesByKey();
  const equalityDeletesGlobal = new DeletesByKey();
  return {
    add(entry) {
      const partition = partitionKey(entry.specId, entry.dataFile.partition);
      const path = referencedDataFile(entry);
      if (isDeletionVector(entry.dataFile)) vectors.add(requireReference(entry), entry);
      else if (entry.dataFile.content === 'position-deletes') {
        if (path === undefined) positionDeletesByPartition.add(partition, entry);
        else positionDeletesByPath.add(`${partition}${path}`, entry);
      } else if (globalSpecIds.has(entry.specId)) equalityDeletesGlobal.add('', entry);
      else equalityDeletesByPartition.add(partition, entry);
    },
    attachedTo(dataEntry) {
      const path = dataEntry.dataFile.filePath;
      const sequenceNumber = dataEntry.dataSequenceNumber;
      const partition = partitionKey(dataEntry.specId, dataEntry.dataFile.partition);
      const deletionVectors = vectors.from(path, sequenceNumber);
      refuseOlderVectors(dataEntry, vectors.from(path, 0n).length - deletionVectors.length);
      const hasVector = deletionVectors.length > 0;
      return {
        deletionVectors,
        fileScopedPositionDeleteFiles: hasVector
          ? []
          : positionDeletesByPath.from(`${partition}${path}`, sequenceNumber),
        partitionScopedPositionDeleteFiles: hasVector
          ? []
          : positionDeletesByPartition.from(partition, sequenceNumber),
        equalityDeleteFiles: [
          ...equalityDeletesByPartition.from(partition, sequenceNumber + 1n),
          ...equalityDeletesGlobal.from('', sequenceNumber + 1n),
        ],
      };
    },
  };
}

/** The one data file that a position delete entry applies to, told by its field or by equal path bounds. */
export function referencedDataFile(entry: ManifestEntry): string | undefined {
  const { content, referencedDataFile, lowerBounds, upperBounds } = entry.dataFile;
  if (content !== 'position-deletes') return undefined;
  if (referencedDataFile !== undefined) return referencedDataFile;
  const lower = lowerBounds?.get(DELETE_FILE_PATH_FIELD_ID);
  const upper = upperBounds?.get(DELETE_FILE_PATH_FIELD_ID);
  if (lower === undefined || upper === undefined || !equalBytes(lower, upper)) return undefined;
  return new TextDecoder().decode(lower);
}

function requireReference(vector: ManifestEntry): string {
  const path = vector.dataFile.referencedDataFile;
  if (path !== undefined) return path;
  throw new IcebergError(
    'invalid-data',
    `${vector.dataFile.filePath}: a deletion vector without referenced_data_file`,
  );
}

function refuseOlderVectors(dataEntry: ManifestEntry, olderCount: number): void {
  if (olderCount === 0) return;
  throw new IcebergError(
    'invalid-data',
    `${dataEntry.dataFile.filePath}: ${olderCount} deletion vectors are older than the data file's sequence number ${dataEntry.dataSequenceNumber}`,
  );
}

function compareSequenceNumbers(one: ManifestEntry, other: ManifestEntry): number {
  if (one.dataSequenceNumber === other.dataSequenceNumber) return 0;
  return one.dataSequenceNumber < other.dataSequenceNumber ? -1 : 1;
}

/** Delete entries by key, sorted by data sequence number when first asked for. */
class DeletesByKey {
  readonly #entries = new Map<string, ManifestEntry[]>();
  readonly #unsorted = new Set<string>();

  add(key: string, entry: ManifestEntry): void {
    const entries = this.#entries.get(key);
    if (entries === undefined) this.#entries.set(key, [entry]);
    else entries.push(entry);
    this.#unsorted.add(key);
  }

  /** Entries of `key` with at least the given data sequence number, ascending. */
  from(key: string, dataSequenceNumberMin: bigint): readonly ManifestEntry[] {
    const entries = this.#entries.get(key);
    if (entries === undefined) return [];
    if (this.#unsorted.delete(key)) {
      entries.sort(compareSequenceNumbers);
    }
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (entries[middle]!.dataSequenceNumber < dataSequenceNumberMin) low = middle + 1;
      else high = middle;
    }
    return entries.slice(low);
  }
}
