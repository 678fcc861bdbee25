import {
  type AttachedDeletes,
  type FormatVersion,
  isDeletionVector,
  type ManifestEntry,
} from '../iceberg/index.ts';
import { attachedPositionDeletes, deleteKey, identityKey } from './delete-identity.ts';
import { type NeededOptions, neededAfter } from './needed-deletes.ts';
import type { DroppedGroup, ReplaceInput } from './replace-group.ts';
import { type Drop, type Revalidation, sortOut } from './revalidate.ts';
import type { CoveredDataFile, RewriteDeletesGroup } from './rewrite-deletes-group.ts';

export interface RewriteDeletesHead extends Omit<NeededOptions, 'groups' | 'deleteGroups'> {
  /** The delete files that apply to a data file at head. */
  readonly attachedTo: (input: ReplaceInput) => AttachedDeletes;
  readonly formatVersion: FormatVersion;
}

/**
 * Sorts out groups whose deletes are not as they were read: states are compared. A group stands while the deletes that
 * it removes are live, what it read of each data file still applies, in v3 nothing else does by position, and no live
 * data file needs what it removes without being covered.
 */
export function revalidateDeletes(
  groups: readonly RewriteDeletesGroup[],
  head: RewriteDeletesHead,
): Revalidation<RewriteDeletesGroup> {
  const asRead = sortOut(groups, createDropOf(groups, head));
  const dropped: DroppedGroup[] = [...asRead.dropped];
  // A group that is dropped covers its data files no longer, which another one may have relied on.
  for (let { kept } = asRead; ; ) {
    const isNeeded = neededAfter({ ...head, groups: [], deleteGroups: kept });
    const next = sortOut(kept, ({ removedDeletes }) => neededDrop(removedDeletes.find(isNeeded)));
    dropped.push(...next.dropped);
    if (next.kept.length === kept.length) return { kept, dropped };
    kept = next.kept;
  }
}

function createDropOf(
  groups: readonly RewriteDeletesGroup[],
  head: RewriteDeletesHead,
): (group: RewriteDeletesGroup) => Drop | undefined {
  const live = Map.groupBy(head.facts.deletes, ({ entry }) => deleteKey(entry));
  const unread = unreadKeys(groups, head);
  return ({ removedDeletes, dataFiles }) => {
    const removedKeys = new Set(removedDeletes.map(deleteKey));
    for (const entry of removedDeletes) {
      const count = live.get(deleteKey(entry))?.length ?? 0;
      const { filePath } = entry.dataFile;
      if (count === 0) return { reason: 'input-gone', detail: filePath };
      if (count > 1) {
        return { reason: 'input-changed', detail: `${filePath}: referenced ${count} times` };
      }
    }
    for (const covered of dataFiles) {
      const drop = dataFileDrop(covered, removedKeys, head);
      if (drop !== undefined) return drop;
    }
    return neededDrop(removedDeletes.find((entry) => unread.has(deleteKey(entry))));
  };
}

/** Deletes that apply to a covered data file and are not in what takes their place there. */
function unreadKeys(
  groups: readonly RewriteDeletesGroup[],
  { attachedTo }: RewriteDeletesHead,
): ReadonlySet<string> {
  const unread = new Set<string>();
  for (const { input } of groups.flatMap(({ dataFiles }) => dataFiles)) {
    const applied = new Set(input.deletes?.applied.map(identityKey));
    for (const key of attachedKeys(attachedTo(input))) if (!applied.has(key)) unread.add(key);
  }
  return unread;
}

function attachedKeys(attached: AttachedDeletes): readonly string[] {
  return [...attachedPositionDeletes(attached), ...attached.equalityDeleteFiles].map(deleteKey);
}

function neededDrop(entry: ManifestEntry | undefined): Drop | undefined {
  if (entry === undefined) return undefined;
  const detail = `${entry.dataFile.filePath}: applies to a data file that is not covered`;
  return { reason: 'deletes-needed', detail };
}

function dataFileDrop(
  { input, addedDelete }: CoveredDataFile,
  removedKeys: ReadonlySet<string>,
  { attachedTo, formatVersion }: RewriteDeletesHead,
): Drop | undefined {
  const { filePath } = input;
  const attached = attachedTo(input);
  const keys = new Set(attachedKeys(attached));
  const gone = input.deletes?.applied.find((one) => !keys.has(identityKey(one)));
  if (gone !== undefined) {
    return { reason: 'fewer-deletes', detail: `${filePath}: ${gone.filePath} applies no more` };
  }
  if (addedDelete === undefined) return undefined;
  const isVector = isDeletionVector(addedDelete.dataFile);
  if (isVector !== formatVersion >= 3) {
    return { reason: 'input-changed', detail: `${filePath}: the table has v${formatVersion} now` };
  }
  // Readers of a vector look at no other position deletes, and there may be one vector only.
  const applied = new Set(input.deletes?.applied.map(identityKey));
  const missed =
    attachedPositionDeletes(attached).find((one) => isVector && !applied.has(deleteKey(one))) ??
    attached.deletionVectors.find((one) => !removedKeys.has(deleteKey(one)));
  if (missed === undefined) return undefined;
  const detail = `${filePath}: deleted from by ${missed.dataFile.filePath}`;
  return { reason: 'new-deletes', detail };
}
