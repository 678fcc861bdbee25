import { assert } from '../../base/index.ts';
import type { DeleteKind, ScannedDelete, ScannedFile, ScannedPartition } from './scanned.ts';

/** The live data files of a partition, as far as deletes matter. */
export interface PartitionFiles {
  readonly place: ScannedPartition;
  rowCount: number;
  /** Those that position delete files or equality deletes apply to. */
  readonly files: ScannedFile[];
  /** Those that have a vector, in partitions with position delete files: these are no business of theirs. */
  readonly vectorFiles: Pick<ScannedFile, 'filePath' | 'dataSequenceNumber'>[];
  /** Whether a path is listed twice, or a data file has two vectors: what is deleted cannot be told then. */
  isFlawed: boolean;
}

/** All live deletes of a snapshot, and the data files that they apply to. */
export class TableDeletes {
  readonly #deletes = new Map<string, ScannedDelete>();
  readonly #deletesByPartition = new Map<string, ScannedDelete[]>();
  readonly #partitions = new Map<string, PartitionFiles>();
  readonly #partitionsByPath = new Map<string, PartitionFiles>();
  /** How many data files a vector or position delete file applies to. */
  readonly #dependentCounts = new Map<string, number>();
  /** Least data sequence numbers of live data files. */
  readonly #minima = new Map<string, bigint>();
  readonly #flawedPartitions = new Set<string>();
  /** Those with position delete files. */
  readonly #scopedPartitions = new Set<string>();
  #globalMinimum: bigint | undefined;

  addDelete(deleteFile: ScannedDelete): void {
    const { deleteKey, partitionKey, kind } = deleteFile;
    if (this.#deletes.has(deleteKey)) {
      this.#flawedPartitions.add(partitionKey);
      return;
    }
    this.#deletes.set(deleteKey, deleteFile);
    if (isScoped(kind)) this.#scopedPartitions.add(partitionKey);
    const ofPartition = this.#deletesByPartition.get(partitionKey);
    if (ofPartition === undefined) this.#deletesByPartition.set(partitionKey, [deleteFile]);
    else ofPartition.push(deleteFile);
  }

  addFile(file: ScannedFile): void {
    const { partitionKey, dataSequenceNumber, filePath } = file;
    const minimum = this.#minima.get(partitionKey);
    this.#minima.set(partitionKey, lesser(minimum, dataSequenceNumber));
    this.#globalMinimum = lesser(this.#globalMinimum, dataSequenceNumber);
    const partition = this.#partitionOf(file);
    partition.rowCount += file.recordCount;
    const keys = [...file.vectorKeys, ...file.fileScopedKeys, ...file.partitionScopedKeys];
    for (const key of keys) {
      assert(this.#deletes.has(key), `${filePath}: delete ${key} was not added before`);
      this.#dependentCounts.set(key, (this.#dependentCounts.get(key) ?? 0) + 1);
    }
    const isListedTwice = file.vectorKeys.some((key) => (this.#dependentCounts.get(key) ?? 0) > 1);
    if (isListedTwice || file.vectorKeys.length > 1) partition.isFlawed = true;
    const isWaiting =
      file.fileScopedKeys.length + file.partitionScopedKeys.length + file.equalityDeleteCount > 0;
    if (file.vectorKeys.length > 0 && this.#scopedPartitions.has(partitionKey)) {
      partition.vectorFiles.push({ filePath, dataSequenceNumber });
    }
    if (!isWaiting) return;
    const other = this.#partitionsByPath.get(filePath);
    if (other !== undefined) other.isFlawed = partition.isFlawed = true;
    this.#partitionsByPath.set(filePath, partition);
    partition.files.push(file);
  }

  /** Whether a partition's files, or its deletes, cannot be told apart. */
  isFlawed({ partitionKey }: Pick<ScannedPartition, 'partitionKey'>): boolean {
    return (
      this.#flawedPartitions.has(partitionKey) ||
      this.#partitions.get(partitionKey)?.isFlawed === true
    );
  }

  /** Spec and partition of deletes and data files, sorted. */
  places(): readonly ScannedPartition[] {
    const places = new Map<string, ScannedPartition>();
    for (const { place } of this.#partitions.values()) places.set(place.partitionKey, place);
    for (const [partitionKey, [first]] of this.#deletesByPartition) {
      if (first !== undefined && !places.has(partitionKey)) places.set(partitionKey, first);
    }
    return [...places.values()].sort(comparePlaces);
  }

  /** Undefined where the partition has no live data file. The files are sorted by path. */
  filesOf(partitionKey: string): PartitionFiles | undefined {
    const partition = this.#partitions.get(partitionKey);
    partition?.files.sort(byPath);
    return partition;
  }

  /** Sorted by path; vectors of one Puffin file by data file. */
  deletesOf(partitionKey: string): readonly ScannedDelete[] {
    return (this.#deletesByPartition.get(partitionKey) ?? []).toSorted(byDeleteKey);
  }

  /** Equality deletes that apply to the data files of all partitions. */
  globalDeletes(): readonly ScannedDelete[] {
    return [...this.#deletes.values()].filter(({ isGlobal }) => isGlobal).sort(byDeleteKey);
  }

  vectors(): readonly ScannedDelete[] {
    return [...this.#deletes.values()].filter(({ kind }) => kind === 'vector').sort(byDeleteKey);
  }

  /**
   * Whether a live data file needs it. A position delete file is not needed where a vector says what is deleted, nor an
   * equality delete where all data files of its scope are at least as young: for a global one, those of all specs.
   */
  isNeeded({
    kind,
    deleteKey,
    isGlobal,
    partitionKey,
    dataSequenceNumber,
  }: ScannedDelete): boolean {
    if (kind !== 'equality') return this.#dependentCounts.has(deleteKey);
    const minimum = isGlobal ? this.#globalMinimum : this.#minima.get(partitionKey);
    return minimum !== undefined && minimum < dataSequenceNumber;
  }

  #partitionOf(file: ScannedFile): PartitionFiles {
    const { partitionKey, specId, partition, isSpecWritable, dueAtMs } = file;
    const known = this.#partitions.get(partitionKey);
    if (known !== undefined) return known;
    const place = {
      specId,
      partitionKey,
      partition,
      isSpecWritable,
      ...(dueAtMs === undefined ? {} : { dueAtMs }),
    };
    const created = { place, rowCount: 0, files: [], vectorFiles: [], isFlawed: false };
    this.#partitions.set(partitionKey, created);
    return created;
  }
}

/** Whether deletes are a position delete file. */
export function isScoped(kind: DeleteKind): boolean {
  return kind === 'file-scoped' || kind === 'partition-scoped';
}

function lesser(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other;
}

function byPath(a: ScannedFile, b: ScannedFile): number {
  return compareText(a.filePath, b.filePath);
}

function byDeleteKey(a: ScannedDelete, b: ScannedDelete): number {
  return compareText(a.filePath, b.filePath) || compareText(a.deleteKey, b.deleteKey);
}

function comparePlaces(a: ScannedPartition, b: ScannedPartition): number {
  return a.specId - b.specId || compareText(a.partitionKey, b.partitionKey);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
