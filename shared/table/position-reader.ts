import { isIcebergError, mapConcurrent } from '../base/index.ts';
import { createDeleteLoader, type DataFileDeletes, type DeleteLoader } from '../deletes/index.ts';
import {
  type AttachedDeletes,
  type ManifestEntry,
  partitionKey,
  type TableMetadata,
} from '../iceberg/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { plannedEntry } from './attached.ts';
import { attachedPositionDeletes, deleteKey, identityKey } from './delete-identity.ts';
import type { ReplaceInput } from './replace-group.ts';

/** Partitions whose new deletes are read at a time, and what those of one may take. */
const PARTITIONS_CONCURRENT = 4;
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;

/** Data files of a partition whose vectors or delete files are read at a time. */
const DATA_FILES_CONCURRENT = 16;

/** What the position deletes of a data file delete, or why that cannot be told. */
export type PositionsAtHead =
  | { readonly positions: RoaringBitmap }
  | { readonly unreadable: string };

/** A planned data file with the delete files that apply to it at head. */
export interface AttachedInput {
  readonly input: ReplaceInput;
  readonly attached: AttachedDeletes;
}

/**
 * Reads what position deletes delete. A delete file that was applied when the data file was read, or that an earlier
 * attempt has read, is not read again: its content never changes. Holds a bitmap for each data file that was asked for.
 */
export interface PositionReader {
  /**
   * By path of the data file. One read for each vector, some for each delete file.
   *
   * @throws unavailable, access-denied — when the store cannot be asked
   */
  read(
    inputs: readonly AttachedInput[],
    metadata: TableMetadata,
  ): Promise<ReadonlyMap<string, PositionsAtHead>>;
}

export function createPositionReader(store: ObjectStore): PositionReader {
  const known = new Map<string, KnownPositions>();
  const readOne = async (one: ReadingTask, loader: DeleteLoader): Promise<PositionsAtHead> => {
    const { filePath } = one.input;
    try {
      const positions = one.before.union(await loader.readPositionDeletes(filePath));
      known.set(filePath, { keys: keysOf(one.attached), positions });
      return { positions };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { unreadable: error.message };
    }
  };
  return {
    async read(inputs, metadata) {
      const found = new Map<string, PositionsAtHead>();
      const tasks: ReadingTask[] = [];
      for (const each of inputs) {
        const task = taskOf(each, known.get(each.input.filePath) ?? appliedPositions(each.input));
        if (task.file === undefined) found.set(each.input.filePath, { positions: task.before });
        else tasks.push({ ...each, before: task.before, file: task.file });
      }
      const partitions = Map.groupBy(tasks, ({ input }) =>
        partitionKey(input.specId, input.partition),
      );
      await mapConcurrent(
        [...partitions.values()],
        { concurrencyMax: PARTITIONS_CONCURRENT },
        async (ofPartition) => {
          const files = ofPartition.map(({ file }) => file);
          const options = { store, metadata, files, memoryBytesMax: MEMORY_BYTES_MAX };
          const loader = createDeleteLoader(options);
          const limit = { concurrencyMax: DATA_FILES_CONCURRENT };
          await mapConcurrent(ofPartition, limit, async (task) => {
            found.set(task.input.filePath, await readOne(task, loader));
          });
        },
      );
      return found;
    },
  };
}

/** What some position deletes of a data file delete together. */
interface KnownPositions {
  readonly keys: ReadonlySet<string>;
  readonly positions: RoaringBitmap;
}

function appliedPositions({ deletes }: ReplaceInput): KnownPositions {
  if (deletes === undefined) return { keys: new Set(), positions: RoaringBitmap.EMPTY };
  const byPosition = deletes.applied.filter(({ kind }) => kind !== 'equality-deletes');
  return { keys: new Set(byPosition.map(identityKey)), positions: deletes.byPosition };
}

interface ReadingTask extends AttachedInput {
  /** What needs no reading. */
  readonly before: RoaringBitmap;
  /** With the delete files that do. */
  readonly file: DataFileDeletes;
}

/** Only new delete files are read where all known ones still apply, otherwise all that apply. */
function taskOf(
  { input, attached }: AttachedInput,
  known: KnownPositions,
): { readonly before: RoaringBitmap; readonly file?: DataFileDeletes } {
  const keys = keysOf(attached);
  const isGrown = [...known.keys].every((key) => keys.has(key));
  if (isGrown && keys.size === known.keys.size) return { before: known.positions };
  const isWanted = (entry: ManifestEntry) => !isGrown || !known.keys.has(deleteKey(entry));
  const deletes = {
    deletionVectors: attached.deletionVectors.filter(isWanted),
    fileScopedPositionDeleteFiles: attached.fileScopedPositionDeleteFiles.filter(isWanted),
    partitionScopedPositionDeleteFiles:
      attached.partitionScopedPositionDeleteFiles.filter(isWanted),
    equalityDeleteFiles: [],
  };
  return {
    before: isGrown ? known.positions : RoaringBitmap.EMPTY,
    file: { entry: plannedEntry(input), deletes },
  };
}

function keysOf(attached: AttachedDeletes): ReadonlySet<string> {
  return new Set(attachedPositionDeletes(attached).map(deleteKey));
}

/** Of a delete file that somebody else has written. */
function isUnreadable(error: unknown): error is Error {
  return (
    isIcebergError(error, 'invalid-data') ||
    isIcebergError(error, 'unsupported') ||
    isIcebergError(error, 'not-found')
  );
}
