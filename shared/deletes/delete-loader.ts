import { assert, IcebergError, type RangedReader } from '../base/index.ts';
import {
  type AttachedDeletes,
  type ManifestEntry,
  partitionKey,
  readDeletionVector,
  type TableMetadata,
} from '../iceberg/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { type EqualityDeletes, readEqualityDeletes } from './equality-deletes.ts';
import { mapDeleteFiles } from './map-delete-files.ts';
import { bitmapBytes, MemoryBudget } from './memory-budget.ts';
import { readPositionDeleteFile, type WantedPaths } from './read-position-delete-file.ts';

/** What the deletes of a partition may take: a quarter of a Lambda function of 1 GiB. */
const MEMORY_BYTES_MAX_DEFAULT = 256 * 1024 * 1024;

/** Offsets into keys are 32 bits. */
const MEMORY_BYTES_MAX = 2 ** 32 - 1;

/** A live data file with everything that applies to it at one snapshot, as the delete index has it. */
export interface DataFileDeletes {
  readonly entry: ManifestEntry;
  readonly deletes: AttachedDeletes;
}

export interface DeleteLoaderOptions {
  readonly store: ObjectStore;
  readonly metadata: TableMetadata;
  /** Of one partition spec and partition; those without deletes may be left out. */
  readonly files: readonly DataFileDeletes[];
  /** What all deletes together may take in memory. */
  readonly memoryBytesMax?: number;
}

/**
 * Which rows of the data files of one partition are deleted. Positions count from the start of the data file.
 *
 * Deletes of several data files (equality deletes, partition-scoped position deletes) are read when the first data
 * file needs them, once, and held: their distinct keys, and bitmaps of the loader's own data files. Vectors and
 * file-scoped position deletes are read when their data file is asked for, and not held.
 *
 * All methods throw `invalid-data` for delete files that are broken, contradict their manifest entries, or name rows
 * that the data file does not have, and `unsupported` for those that are not Parquet or Puffin, for equality deletes
 * by columns of float or double, and for deletes beyond the memory allowed.
 */
export interface DeleteLoader {
  /** What its vector or its position delete files delete. */
  readPositionDeletes(filePath: string): Promise<RoaringBitmap>;
  /** The rows that equality deletes match, whether or not something else deletes them as well. */
  readEqualityDeletes(filePath: string): Promise<RoaringBitmap>;
  /** All that is deleted. */
  readDeletes(filePath: string): Promise<RoaringBitmap>;
}

/** A loader for some data files; nothing is read yet. */
export function createDeleteLoader(options: DeleteLoaderOptions): DeleteLoader {
  const memoryBytesMax = options.memoryBytesMax ?? MEMORY_BYTES_MAX_DEFAULT;
  assert(memoryBytesMax <= MEMORY_BYTES_MAX, `deletes: memory of ${memoryBytesMax} bytes`);
  requireOnePartition(options.files);
  return new PartitionDeletes({ ...options, memoryBytesMax });
}

class PartitionDeletes implements DeleteLoader {
  readonly #options: DeleteLoaderOptions;
  readonly #files: ReadonlyMap<string, DataFileDeletes>;
  readonly #budget: MemoryBudget;
  readonly #subject: string;
  #equality: Promise<EqualityDeletes> | undefined;
  #partitionScoped: Promise<PositionsByDelete> | undefined;

  constructor(options: DeleteLoaderOptions & { readonly memoryBytesMax: number }) {
    const { files, memoryBytesMax } = options;
    const [first] = files;
    this.#options = options;
    this.#files = new Map(files.map((file) => [file.entry.dataFile.filePath, file]));
    this.#subject =
      first === undefined ? 'no data files' : `partition of ${first.entry.dataFile.filePath}`;
    this.#budget = new MemoryBudget(this.#subject, memoryBytesMax);
  }

  async readDeletes(filePath: string): Promise<RoaringBitmap> {
    const byPosition = await this.readPositionDeletes(filePath);
    return byPosition.union(await this.readEqualityDeletes(filePath));
  }

  async readEqualityDeletes(filePath: string): Promise<RoaringBitmap> {
    const { entry, deletes } = this.#fileOf(filePath);
    if (deletes.equalityDeleteFiles.length === 0) return RoaringBitmap.EMPTY;
    this.#equality ??= this.#readEquality();
    return (await this.#equality).matchingRows(entry, deletes.equalityDeleteFiles);
  }

  async readPositionDeletes(filePath: string): Promise<RoaringBitmap> {
    const file = this.#fileOf(filePath);
    const { entry, deletes } = file;
    const positions =
      deletes.deletionVectors.length > 0
        ? await this.#readVector(file)
        : RoaringBitmap.unionOf([
            ...(await this.#readFileScoped(file)),
            ...(await this.#readPartitionScoped(file)),
          ]);
    requireRows(positions, entry);
    return positions;
  }

  #fileOf(filePath: string): DataFileDeletes {
    const file = this.#files.get(filePath);
    assert(file !== undefined, `deletes: ${filePath} is not of this loader`);
    return file;
  }

  #readVector({ entry, deletes }: DataFileDeletes): Promise<RoaringBitmap> {
    const { filePath } = entry.dataFile;
    const [vector, second] = deletes.deletionVectors;
    assert(vector !== undefined, `deletes: ${filePath} has no vector`);
    if (second !== undefined) {
      const { length } = deletes.deletionVectors;
      throw new IcebergError(
        'invalid-data',
        `${filePath}: ${length} deletion vectors, 1 is allowed`,
      );
    }
    requireSamePartition(vector, entry);
    assert(
      vector.dataFile.referencedDataFile === filePath,
      `deletes: ${filePath} has the vector of ${vector.dataFile.referencedDataFile}`,
    );
    return readDeletionVector(vector.dataFile, this.#open(vector));
  }

  async #readFileScoped({ entry, deletes }: DataFileDeletes): Promise<RoaringBitmap[]> {
    const { filePath } = entry.dataFile;
    const wanted = new Set([filePath]);
    const found = await mapDeleteFiles(deletes.fileScopedPositionDeleteFiles, (deleteEntry) =>
      this.#readPositions(deleteEntry, wanted),
    );
    return found.map((positions) => positions.get(filePath) ?? RoaringBitmap.EMPTY);
  }

  async #readPartitionScoped({ entry, deletes }: DataFileDeletes): Promise<RoaringBitmap[]> {
    const deleteEntries = deletes.partitionScopedPositionDeleteFiles;
    if (deleteEntries.length === 0) return [];
    this.#partitionScoped ??= this.#readAllPartitionScoped();
    const byDelete = await this.#partitionScoped;
    return deleteEntries.map(({ dataFile }) => {
      const byPath = byDelete.get(dataFile.filePath);
      return byPath?.get(entry.dataFile.filePath) ?? RoaringBitmap.EMPTY;
    });
  }

  async #readAllPartitionScoped(): Promise<PositionsByDelete> {
    const all = distinct(
      this.#options.files.flatMap(({ deletes }) => deletes.partitionScopedPositionDeleteFiles),
    );
    const found = await mapDeleteFiles(all, async (deleteEntry) => {
      const byPath = await this.#readPositions(deleteEntry, this.#files);
      for (const [path, positions] of byPath) {
        this.#budget.take(bitmapBytes(positions, this.#fileOf(path).entry.dataFile.recordCount));
      }
      return [deleteEntry.dataFile.filePath, byPath] as const;
    });
    return new Map(found);
  }

  #readPositions(
    entry: ManifestEntry,
    wanted: WantedPaths,
  ): Promise<ReadonlyMap<string, RoaringBitmap>> {
    const input = { dataFile: entry.dataFile, reader: this.#open(entry) };
    return readPositionDeleteFile(input, wanted);
  }

  #open({ dataFile }: ManifestEntry): RangedReader {
    return this.#options.store.openRanged(dataFile.filePath, dataFile.fileSizeBytes);
  }

  #readEquality(): Promise<EqualityDeletes> {
    const { store, metadata, files } = this.#options;
    const entries = distinct(files.flatMap(({ deletes }) => deletes.equalityDeleteFiles));
    requireSequenceRule(files, entries);
    return readEqualityDeletes({
      store,
      metadata,
      entries,
      budget: this.#budget,
      subject: this.#subject,
    });
  }
}

/** By the path of the delete file, then by that of the data file. */
type PositionsByDelete = ReadonlyMap<string, ReadonlyMap<string, RoaringBitmap>>;

function distinct(entries: readonly ManifestEntry[]): readonly ManifestEntry[] {
  return [...new Map(entries.map((entry) => [entry.dataFile.filePath, entry])).values()];
}

function requireOnePartition(files: readonly DataFileDeletes[]): void {
  const keys = new Set(
    files.map(({ entry }) => partitionKey(entry.specId, entry.dataFile.partition)),
  );
  assert(keys.size <= 1, `deletes: data files of ${keys.size} partitions`);
}

/**
 * All keys lie in one table, and the sequence number alone tells which apply to a data file. That is right as long as
 * every data file has all those attached that are younger than it.
 */
function requireSequenceRule(
  files: readonly DataFileDeletes[],
  entries: readonly ManifestEntry[],
): void {
  const ascending = BigInt64Array.from(entries, (entry) => entry.dataSequenceNumber).sort();
  for (const { entry, deletes } of files) {
    const { filePath } = entry.dataFile;
    const count = countGreater(ascending, entry.dataSequenceNumber);
    const attachedCount = distinct(deletes.equalityDeleteFiles).length;
    assert(
      count === attachedCount,
      `deletes: ${filePath} has ${attachedCount} equality delete files, by sequence number ${count} apply`,
    );
  }
}

function countGreater(ascending: BigInt64Array, limit: bigint): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return ascending.length - low;
}

function requireSamePartition(vector: ManifestEntry, entry: ManifestEntry): void {
  const [one, other] = [vector, entry].map(({ specId, dataFile }) =>
    partitionKey(specId, dataFile.partition),
  );
  if (one === other) return;
  throw new IcebergError(
    'invalid-data',
    `${entry.dataFile.filePath}: its deletion vector belongs to partition ${one}, the data file to ${other}`,
  );
}

function requireRows(positions: RoaringBitmap, { dataFile }: ManifestEntry): void {
  const { filePath, recordCount } = dataFile;
  const [beyond] = positions.slice(recordCount, Number.POSITIVE_INFINITY).ranges();
  if (beyond === undefined) return;
  throw new IcebergError(
    'invalid-data',
    `${filePath}: position ${beyond.start} is deleted, the file has ${recordCount} rows`,
  );
}
