import type { AttachedDeletes, DataFile, TableMetadata } from '../iceberg/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import { deleteKey, identityKey } from './delete-identity.ts';
import type { AttachedInput, PositionReader, PositionsAtHead } from './position-reader.ts';
import {
  deletedWhenRead,
  type InputDeletes,
  type ReplaceGroup,
  type ReplaceInput,
} from './replace-group.ts';
import { type Drop, type Revalidation, sortOut } from './revalidate.ts';

/** Rows of a data file that a delete file has to be written for. */
export interface RowsToDelete {
  readonly specId: number;
  readonly dataFile: DataFile;
  /** At least one. */
  readonly positions: RoaringBitmap;
}

export interface CarriedOver extends Revalidation<ReplaceGroup> {
  /** For each output of a kept group that has deleted rows: those that the rewrite carried along, and new ones. */
  readonly outputDeletes: readonly RowsToDelete[];
  /** By path of an input, what its position deletes delete at head; absent where it has none, nor had. */
  readonly positionsAtHead: ReadonlyMap<string, RoaringBitmap>;
  /** Rows of inputs that were deleted since they were read. */
  readonly carriedOverCount: number;
}

export interface CarryOverOptions {
  readonly groups: readonly ReplaceGroup[];
  readonly startingSequenceNumber: bigint;
  readonly metadata: TableMetadata;
  /** The delete files that apply to an input at head. */
  readonly attachedTo: (input: ReplaceInput) => AttachedDeletes;
  readonly reader: PositionReader;
}

/**
 * Compares the deletes of each input at head with those that were applied when it was read, and translates what is new
 * to positions in the outputs. A group is dropped where rows of an input are live again, where an equality delete was
 * missed, or where a new delete cannot be read.
 *
 * @throws unavailable, access-denied — when the store cannot be asked
 */
export async function carryOver(options: CarryOverOptions): Promise<CarriedOver> {
  const attached = attachAll(options);
  const sequenceNumber = options.startingSequenceNumber;
  const inReach = sortOut(options.groups, (group) =>
    dropOfFirst(group, attached, (one) => missedEqualityDelete(one, sequenceNumber)),
  );
  const inputs = inReach.kept.flatMap((group) =>
    group.inputs.flatMap(({ filePath }) => attached.get(filePath) ?? []),
  );
  const found = await options.reader.read(inputs, options.metadata);
  const covered = sortOut(inReach.kept, (group) =>
    dropOfFirst(group, attached, (one) => fewerDeletes(one, found.get(one.input.filePath))),
  );
  const dropped = [...inReach.dropped, ...covered.dropped];
  return { kept: covered.kept, dropped, ...translateAll(covered.kept, found) };
}

type AttachedInputs = ReadonlyMap<string, AttachedInput>;

/** Inputs that have deletes, or had some. */
function attachAll({ groups, attachedTo }: CarryOverOptions): AttachedInputs {
  const all = new Map<string, AttachedInput>();
  for (const input of groups.flatMap((group) => group.inputs)) {
    const attached = attachedTo(input);
    const hasDeletes = Object.values(attached).some((entries) => entries.length > 0);
    if (hasDeletes || input.deletes !== undefined) all.set(input.filePath, { input, attached });
  }
  return all;
}

function dropOfFirst(
  group: ReplaceGroup,
  attached: AttachedInputs,
  dropOf: (one: AttachedInput) => Drop | undefined,
): Drop | undefined {
  for (const { filePath } of group.inputs) {
    const one = attached.get(filePath);
    const drop = one && dropOf(one);
    if (drop !== undefined) return drop;
  }
  return undefined;
}

/**
 * Outputs carry the starting sequence number: deletes above it apply to them as to the inputs, which have the same spec
 * and partition. Those up to it do not any more, and must have been applied.
 */
function missedEqualityDelete(
  { input: { filePath, deletes }, attached }: AttachedInput,
  startingSequenceNumber: bigint,
): Drop | undefined {
  const applied = new Set(deletes?.applied.map(identityKey));
  const missed = attached.equalityDeleteFiles.find(
    (entry) => entry.dataSequenceNumber <= startingSequenceNumber && !applied.has(deleteKey(entry)),
  );
  if (missed === undefined) return undefined;
  const detail = `${filePath}: deleted from by ${missed.dataFile.filePath}`;
  return { reason: 'new-deletes', detail };
}

/** The superset rule: rows that were deleted when the file was read must be deleted at head. */
function fewerDeletes(
  { input: { filePath, deletes }, attached }: AttachedInput,
  atHead: PositionsAtHead | undefined,
): Drop | undefined {
  if (atHead === undefined || 'unreadable' in atHead) {
    return { reason: 'unreadable-deletes', detail: `${filePath}: ${atHead?.unreadable ?? ''}` };
  }
  if (deletes === undefined) return undefined;
  const deleted = stillMatched(deletes, attached)
    ? atHead.positions.union(deletes.byEquality)
    : atHead.positions;
  const missing = deletedWhenRead(deletes).difference(deleted);
  if (missing.isEmpty) return undefined;
  return {
    reason: 'fewer-deletes',
    detail: `${filePath}: ${missing.cardinality} deleted rows are live again`,
  };
}

/** Whether every equality delete that was applied still is; else position deletes must have taken its place. */
function stillMatched(
  { applied }: InputDeletes,
  { equalityDeleteFiles }: AttachedDeletes,
): boolean {
  const keys = new Set(equalityDeleteFiles.map(deleteKey));
  return applied.every((one) => one.kind !== 'equality-deletes' || keys.has(identityKey(one)));
}

function translateAll(
  groups: readonly ReplaceGroup[],
  found: ReadonlyMap<string, PositionsAtHead>,
): Omit<CarriedOver, 'kept' | 'dropped'> {
  const outputDeletes: RowsToDelete[] = [];
  const positionsAtHead = new Map<string, RoaringBitmap>();
  let carriedOverCount = 0;
  for (const group of groups) {
    const carried = group.outputs.map(({ deletedPositions }) => [deletedPositions]);
    for (const [index, input] of group.inputs.entries()) {
      const atHead = found.get(input.filePath);
      if (atHead === undefined || 'unreadable' in atHead) continue;
      positionsAtHead.set(input.filePath, atHead.positions);
      const fresh = atHead.positions.difference(deletedWhenRead(input.deletes));
      if (fresh.isEmpty) continue;
      carriedOverCount += fresh.cardinality;
      const { outputs } = group.positionMap.translate(index, fresh);
      for (const [output, positions] of outputs.entries()) carried[output]?.push(positions);
    }
    outputDeletes.push(...rowsToDelete(group, carried));
  }
  return { outputDeletes, positionsAtHead, carriedOverCount };
}

function rowsToDelete(
  { inputs, outputs }: ReplaceGroup,
  carried: readonly (readonly RoaringBitmap[])[],
): readonly RowsToDelete[] {
  return outputs.flatMap(({ dataFile }, index) => {
    const positions = RoaringBitmap.unionOf(carried[index] ?? []);
    const specId = inputs[0]?.specId;
    return positions.isEmpty || specId === undefined ? [] : [{ specId, dataFile, positions }];
  });
}
