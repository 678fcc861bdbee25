import { assert, mapConcurrent } from '../../base/index.ts';
import type { DeleteTreatment, TreatmentEstimate } from '../../datafile/index.ts';
import { createDeleteLoader, type DeleteLoader } from '../../deletes/index.ts';
import type { AttachedDeletes, DeleteIndex, ManifestEntry } from '../../iceberg/index.ts';
import { RoaringBitmap } from '../../roaring/index.ts';
import type { ObjectStore } from '../../storage/index.ts';
import { attachedIdentities, type InputDeletes, type Table } from '../../table/index.ts';
import { chooseTreatment, deletedShare } from './deletes-treatment.ts';
import type { PlannedFile, PlannedGroup } from './group-files.ts';
import type { RewriteDataFilesPlan } from './plan.ts';

/** Data files whose vectors or delete files are read, or whose key columns are evaluated, at a time. */
const DATA_FILES_CONCURRENT = 8;

/** A data file of a group, with what is deleted of it. */
export interface GroupInput {
  readonly entry: ManifestEntry;
  /** Absent where no delete file applies to it. */
  readonly deletes?: GroupInputDeletes;
  /** What moving it takes. */
  readonly work: TreatmentEstimate;
}

export interface GroupInputDeletes extends InputDeletes {
  /** All of its rows that are deleted. */
  readonly positions: RoaringBitmap;
  readonly treatment: DeleteTreatment;
}

export interface GroupToRead {
  readonly table: Table;
  readonly plan: RewriteDataFilesPlan;
  readonly group: PlannedGroup;
  /** Entries of the group's files, with metrics, by path. */
  readonly entries: ReadonlyMap<string, ManifestEntry>;
  /** The deletes of the planned snapshot; absent where no group has any. */
  readonly deleteIndex?: DeleteIndex;
}

/**
 * Finds out which rows of a group's files are deleted: reads its delete files, and the key columns of data files that
 * equality deletes apply to. Memory: what a `DeleteLoader` may hold, which is given back; and the bitmaps.
 *
 * @throws as a `DeleteLoader`
 */
export async function readGroupInputs(
  toRead: GroupToRead,
  store: ObjectStore,
): Promise<readonly GroupInput[]> {
  const inputs = toRead.group.files.map((file) => attachDeletes(file, toRead));
  const files = inputs.filter(hasDeletes);
  const { metadata } = toRead.table;
  const loader = createDeleteLoader({ store, metadata, files });
  return mapConcurrent(inputs, { concurrencyMax: DATA_FILES_CONCURRENT }, async (input) => {
    const deletes = hasDeletes(input) ? await readDeletes(input, loader) : undefined;
    return toGroupInput(input, deletes, toRead);
  });
}

interface AttachedInput {
  readonly file: PlannedFile;
  readonly entry: ManifestEntry;
  readonly deletes: AttachedDeletes;
}

const NOTHING_ATTACHED: AttachedDeletes = {
  deletionVectors: [],
  fileScopedPositionDeleteFiles: [],
  partitionScopedPositionDeleteFiles: [],
  equalityDeleteFiles: [],
};

function attachDeletes(file: PlannedFile, { entries, deleteIndex }: GroupToRead): AttachedInput {
  const entry = entries.get(file.filePath);
  assert(entry !== undefined, `${file.filePath}: entry was not read`);
  return { file, entry, deletes: deleteIndex?.attachedTo(entry) ?? NOTHING_ATTACHED };
}

function hasDeletes({ deletes }: AttachedInput): boolean {
  return Object.values(deletes).some((entries) => entries.length > 0);
}

async function readDeletes(
  { entry, deletes }: AttachedInput,
  loader: DeleteLoader,
): Promise<InputDeletes> {
  const { filePath } = entry.dataFile;
  return {
    applied: attachedIdentities(deletes),
    byPosition: await loader.readPositionDeletes(filePath),
    byEquality: await loader.readEqualityDeletes(filePath),
  };
}

function toGroupInput(
  { file, entry }: AttachedInput,
  deletes: InputDeletes | undefined,
  { group, plan }: GroupToRead,
): GroupInput {
  const positions = deletes?.byPosition.union(deletes.byEquality) ?? RoaringBitmap.EMPTY;
  const share = deletedShare(entry.dataFile, positions, group);
  const by = { asked: plan.base.deletesTreatment, options: plan.options };
  const treatment = positions.isEmpty ? 'carry' : chooseTreatment(file, share, by);
  return {
    entry,
    work: share.estimate[treatment],
    ...(deletes === undefined ? {} : { deletes: { ...deletes, positions, treatment } }),
  };
}
