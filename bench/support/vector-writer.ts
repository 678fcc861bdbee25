import { type SnapshotChange, TableWriter } from '../../local/table-writer/index.ts';
import {
  isIcebergError,
  type Random,
  randomFraction,
  randomUuid,
} from '../../shared/base/index.ts';
import type { TableIdentifier } from '../../shared/catalog/index.ts';
import { DeletionVectorWriter } from '../../shared/deletes/index.ts';
import { type DataFile, type FileOfSpec, readDeletionVector } from '../../shared/iceberg/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import type { SlowWorld } from './measured-compaction.ts';
import { slowCatalog, slowStore } from './slow-ports.ts';

/** A data file, and what other writers have deleted of it by commits that landed. */
export interface TargetFile {
  readonly file: FileOfSpec;
  readonly deleted: Set<number>;
  /** The newest vector's entry. */
  vector?: DataFile;
}

/** What other writers did, all of them together. */
export interface VectorWriters {
  /** Set by whoever wants them to stop. */
  isOver: boolean;
  landedCount: number;
  /** Vectors of the landed commits that took the place of smaller ones. */
  replacedVectorCount: number;
  /** Attempts that came too late, by whomever they were overtaken. */
  overtakenCount: number;
  /** Commits that gave up after all their retries. */
  lostCount: number;
  /** Commits that were refused, since their data files were compacted meanwhile. */
  refusedCount: number;
}

export interface VectorWriting {
  /** Data files that nobody else deletes from. */
  readonly targets: readonly TargetFile[];
  /** What a query takes until it knows which rows to delete. */
  readonly queryMs: number;
  readonly writers: VectorWriters;
}

const FILES_PER_COMMIT = 2;
const ROWS_PER_FILE = 2;

/** Iceberg's defaults of `commit.retry.*`, which the other writers follow. */
const RETRIES_MAX = 4;
const WAIT_MS_FIRST = 100;

/**
 * Deletes some rows of some of its data files with larger and larger vectors, each commit as soon as the last has ended,
 * as Iceberg Java's row delta does it: reads pointer, metadata, list and manifests, and the old vectors; writes a Puffin
 * file, manifests, list and metadata, and the pointer; after a lost race once more, with the Puffin file that is there.
 */
export async function keepDeleting(
  identifier: TableIdentifier,
  { targets, queryMs, writers }: VectorWriting,
  world: SlowWorld,
): Promise<void> {
  const { catalog, clock, random, latencies } = world;
  const store = manifestsSideBySide(slowStore(world.store, clock, latencies), world.store);
  const writer = new TableWriter(identifier, {
    catalog: slowCatalog(catalog, clock, latencies),
    store,
    clock,
    random,
  });
  await clock.sleepMs(Math.floor(randomFraction(random) * 200));
  while (!writers.isOver) {
    const chosen = chooseRows(targets, random);
    if (queryMs > 0) await clock.sleepMs(queryMs);
    const vectors = await writeVectors(chosen, store, random);
    const replaced = chosen.flatMap(({ target }) => target.vector ?? []);
    const ending = await commitWithRetries(writer, world, {
      operation: 'delete',
      addedManifests: [vectors],
      removedVectors: replaced,
      requiredPaths: chosen.map(({ target }) => target.file.dataFile.filePath),
    });
    writers.overtakenCount += ending.overtakenCount;
    if (ending.isRefused) writers.refusedCount++;
    else if (!ending.isLanded) writers.lostCount++;
    if (!ending.isLanded) continue;
    writers.landedCount++;
    writers.replacedVectorCount += replaced.length;
    for (const [index, { target, fresh }] of chosen.entries()) {
      for (const position of fresh) target.deleted.add(position);
      target.vector = vectors[index]!.dataFile;
    }
  }
}

interface RowsOfTarget {
  readonly target: TargetFile;
  readonly fresh: readonly number[];
}

/** A few data files are met again and again. */
function chooseRows(targets: readonly TargetFile[], random: Random): readonly RowsOfTarget[] {
  const chosen = new Map<TargetFile, readonly number[]>();
  while (chosen.size < Math.min(FILES_PER_COMMIT, targets.length)) {
    const target = targets[Math.floor(targets.length * randomFraction(random) ** 3)]!;
    const { recordCount } = target.file.dataFile;
    const fresh = Array.from({ length: ROWS_PER_FILE }, () => below(recordCount, random));
    chosen.set(target, fresh);
  }
  return [...chosen].map(([target, fresh]) => ({ target, fresh }));
}

function below(count: number, random: Random): number {
  return Math.floor(randomFraction(random) * count);
}

/** Each holds what the vector before it holds, which is read. */
async function writeVectors(
  chosen: readonly RowsOfTarget[],
  store: ObjectStore,
  random: Random,
): Promise<readonly FileOfSpec[]> {
  const location = `s3://bench/deleted-from/data/${randomUuid(random)}.puffin`;
  const writer = new DeletionVectorWriter(async () => ({
    location,
    writer: store.openWriter(location),
  }));
  const before = await Promise.all(
    chosen.map(({ target: { vector } }) =>
      vector === undefined
        ? RoaringBitmap.EMPTY
        : readDeletionVector(vector, store.openRanged(vector.filePath, vector.fileSizeBytes)),
    ),
  );
  for (const [index, { target, fresh }] of chosen.entries()) {
    const positions = before[index]!.union(RoaringBitmap.fromPositions(fresh, location));
    await writer.add({ ...target.file, positions });
  }
  return writer.close();
}

interface Ending {
  readonly isLanded: boolean;
  readonly isRefused: boolean;
  readonly overtakenCount: number;
}

async function commitWithRetries(
  writer: TableWriter,
  { clock, random }: SlowWorld,
  change: SnapshotChange,
): Promise<Ending> {
  for (let overtakenCount = 0; ; overtakenCount++) {
    try {
      await writer.commit(change);
      return { isLanded: true, isRefused: false, overtakenCount };
    } catch (error) {
      const isRefused = isIcebergError(error, 'commit-rejected');
      if (!isRefused && !isIcebergError(error, 'commit-conflict')) throw error;
      if (isRefused || overtakenCount === RETRIES_MAX) {
        return { isLanded: false, isRefused, overtakenCount: overtakenCount + (isRefused ? 0 : 1) };
      }
      const waitMs = WAIT_MS_FIRST * 2 ** overtakenCount;
      await clock.sleepMs(Math.floor(waitMs * (1 + 0.1 * randomFraction(random))));
    }
  }
}

/**
 * Manifests of one attempt are read side by side, and written so: the first of either takes its time, the others none.
 * A list is read before the manifests of an attempt.
 */
function manifestsSideBySide(slow: ObjectStore, fast: ObjectStore): ObjectStore {
  const known = new Set<string>();
  let isFirstRead = true;
  let isFirstWrite = true;
  const isManifest = (location: string): boolean => /-m\d+\.avro$/.test(location);
  return {
    ...slow,
    read: async (location, bytesMax) => {
      if (!isManifest(location)) {
        isFirstRead = isFirstWrite = true;
        return slow.read(location, bytesMax);
      }
      const isWaitedFor = isFirstRead && !known.has(location);
      known.add(location);
      if (!isWaitedFor) return fast.read(location, bytesMax);
      isFirstRead = false;
      return slow.read(location, bytesMax);
    },
    write: async (location, bytes, options) => {
      if (!isManifest(location)) return slow.write(location, bytes, options);
      known.add(location);
      if (!isFirstWrite) return fast.write(location, bytes, options);
      isFirstWrite = false;
      return slow.write(location, bytes, options);
    },
  };
}
