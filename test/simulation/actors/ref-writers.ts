import type { JsonObject } from '../../../shared/base/index.ts';
import type { TableMetadata } from '../../../shared/iceberg/index.ts';
import type { ActorContext } from './actor-context.ts';
import { ancestorsOf, requireArray, requireObject, without } from './json-parts.ts';
import { append, deleteByEquality } from './row-writers.ts';

/** A branch or a tag comes or goes, or a branch grows. */
export async function changeRefs(context: ActorContext): Promise<void> {
  const { writer, chance, actor } = context;
  const { metadata } = await writer.load();
  const branches = [...metadata.refs].filter(
    ([name, { type }]) => name !== 'main' && type === 'branch',
  );
  const others = [...metadata.refs.keys()].filter((name) => name !== 'main');
  if (branches.length > 0 && chance.is(0.4)) {
    await append(context, chance.pick(branches)[0]);
  } else if (others.length > 0 && chance.is(0.3)) {
    const gone = chance.pick(others);
    await writer.edit((json) => ({ ...json, refs: without(requireObject(json['refs']), gone) }));
  } else if (metadata.snapshots.length > 0) {
    const type = chance.pick(['branch', 'tag'] as const);
    const { snapshotId } = chance.pick(metadata.snapshots);
    // The snapshot may be gone when the ref is added: then it points to main's head.
    await writer.edit((json, now) => ({
      ...json,
      refs: {
        ...requireObject(json['refs']),
        ...newRef(now, { name: `${type}-${actor.turnCount}`, type, snapshotId }),
      },
    }));
  }
}

function newRef(
  metadata: TableMetadata,
  ref: { readonly name: string; readonly type: string; readonly snapshotId: bigint },
): JsonObject {
  const isThere = metadata.snapshots.some(({ snapshotId }) => snapshotId === ref.snapshotId);
  const snapshotId = isThere ? ref.snapshotId : metadata.currentSnapshotId;
  if (snapshotId === undefined) return {};
  return { [ref.name]: { type: ref.type, 'snapshot-id': snapshotId } };
}

/** Main goes back to one of its last snapshots. */
export async function rollBack({ writer, chance, ports }: ActorContext): Promise<void> {
  await writer.edit((json, metadata) => {
    const ancestors = ancestorsOf(metadata, metadata.currentSnapshotId).slice(1, 4);
    if (ancestors.length === 0) return json;
    return mainMovedTo(chance.pick(ancestors), { json, metadata, ports });
  });
}

const AUDIT_BRANCH = 'audit';

/**
 * Write, audit, publish: a branch is made of main's head, grows, loses rows, and main moves to its head; half of the
 * time even where main has gone on meanwhile, so that what was committed to it is no longer in its history.
 */
export async function publishBranch(context: ActorContext): Promise<void> {
  const { writer, chance, ports } = context;
  const { metadata } = await writer.load();
  if (!metadata.refs.has(AUDIT_BRANCH)) {
    await writer.edit((json, now) => ({
      ...json,
      refs: { ...requireObject(json['refs']), ...newRef(now, auditRef(now)) },
    }));
  }
  await append(context, AUDIT_BRANCH);
  if (metadata.formatVersion > 1 && chance.is(0.5)) await deleteByEquality(context, AUDIT_BRANCH);
  const isForced = chance.is(0.5);
  await writer.edit((json, now) => {
    const { snapshotId } = auditRef(now);
    const isForward = ancestorsOf(now, snapshotId).includes(now.currentSnapshotId ?? 0n);
    if (!isForward && !isForced) return json;
    const moved = mainMovedTo(snapshotId, { json, metadata: now, ports });
    return { ...moved, refs: without(requireObject(moved['refs']), AUDIT_BRANCH) };
  });
}

/** The audit branch as it is, or as it would be made of main's head. */
function auditRef({ refs, currentSnapshotId }: TableMetadata) {
  const snapshotId = refs.get(AUDIT_BRANCH)?.snapshotId ?? currentSnapshotId ?? 0n;
  return { name: AUDIT_BRANCH, type: 'branch', snapshotId };
}

function mainMovedTo(
  snapshotId: bigint,
  {
    json,
    metadata,
    ports,
  }: {
    readonly json: JsonObject;
    readonly metadata: TableMetadata;
    readonly ports: Pick<ActorContext['ports'], 'clock'>;
  },
): JsonObject {
  if (!metadata.snapshots.some((snapshot) => snapshot.snapshotId === snapshotId)) return json;
  const timestampMs = Math.max(ports.clock.nowMs(), metadata.lastUpdatedMs);
  const refs = requireObject(json['refs']);
  return {
    ...json,
    'last-updated-ms': timestampMs,
    'current-snapshot-id': snapshotId,
    'snapshot-log': [
      ...requireArray(json['snapshot-log']),
      { 'timestamp-ms': timestampMs, 'snapshot-id': snapshotId },
    ],
    refs: {
      ...refs,
      main: { type: 'branch', ...requireObject(refs['main']), 'snapshot-id': snapshotId },
    },
  };
}
