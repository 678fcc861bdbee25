import { TableWriter } from '../../../local/table-writer/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/base/index.ts';
import type { TableIdentifier } from '../../../shared/catalog/index.ts';
import {
  currentSchema,
  type NestedField,
  type TableMetadata,
} from '../../../shared/iceberg/index.ts';
import { BY_REGION, FIELDS } from '../table-rows.ts';
import { IDENTIFIER } from '../world.ts';
import { type ActorContext, commitTask } from './actor-context.ts';
import { append } from './row-writers.ts';

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
    const snapshotId = chance.pick(ancestors);
    const timestampMs = Math.max(ports.clock.nowMs(), metadata.lastUpdatedMs);
    return {
      ...json,
      'last-updated-ms': timestampMs,
      'current-snapshot-id': snapshotId,
      'snapshot-log': [
        ...requireArray(json['snapshot-log']),
        { 'timestamp-ms': timestampMs, 'snapshot-id': snapshotId },
      ],
      refs: {
        ...requireObject(json['refs']),
        main: { ...requireObject(requireObject(json['refs'])['main']), 'snapshot-id': snapshotId },
      },
    };
  });
}

const PROPERTIES: readonly (readonly [string, readonly string[]])[] = [
  ['write.metadata.previous-versions-max', ['1', '2', '5']],
  ['commit.retry.num-retries', ['2', '8']],
  ['commit.manifest-merge.enabled', ['true', 'false']],
  ['write.object-storage.enabled', ['true', 'false']],
  ['write.metadata.compression-codec', ['none', 'gzip']],
  ['comment', ['one', 'other']],
];

export async function setProperty({ writer, chance }: ActorContext): Promise<void> {
  const [key, values] = chance.pick(PROPERTIES);
  await writer.setProperties({ [key]: chance.pick(values) });
}

/** Columns are added, renamed, promoted or dropped; from v2 on, partitioning may change too. */
export async function evolve({ writer, chance }: ActorContext): Promise<void> {
  const { metadata } = await writer.load();
  if (metadata.formatVersion > 1 && chance.is(0.2)) {
    await writer.evolveSpec(chance.pick([[], BY_REGION]));
    return;
  }
  const evolution = chance.pick(EVOLUTIONS);
  await writer.evolveSchema((now) => evolution(currentSchema(now).fields, now.lastColumnId + 1));
}

type Evolution = (fields: readonly NestedField[], nextId: number) => readonly NestedField[];

const EVOLUTIONS: readonly Evolution[] = [
  (fields, nextId) => [
    ...fields,
    { fieldId: nextId, name: `c${nextId}`, isRequired: false, type: { kind: 'string' } },
  ],
  (fields, nextId) =>
    fields.map((field) => (field.fieldId === 3 ? { ...field, name: `n${nextId}` } : field)),
  (fields) =>
    fields.map((field) => (field.fieldId === 3 ? { ...field, type: { kind: 'long' } } : field)),
  // The partition's source stays.
  (fields) => (fields.length > 2 ? fields.slice(0, -1) : fields),
];

/** What another engine's expiry of snapshots does to metadata; it deletes nothing here. */
export async function expireSnapshots({ writer, chance }: ActorContext): Promise<void> {
  const keptCount = 1 + chance.below(3);
  await writer.edit((json, metadata) => {
    const kept = new Set([
      ...ancestorsOf(metadata, metadata.currentSnapshotId).slice(0, keptCount),
      ...[...metadata.refs.values()].map(({ snapshotId }) => snapshotId),
    ]);
    const log = metadata.snapshotLog;
    const lastGap = log.findLastIndex(({ snapshotId }) => !kept.has(snapshotId));
    return {
      ...json,
      snapshots: metadata.snapshots
        .filter(({ snapshotId }) => kept.has(snapshotId))
        .map(({ source }) => source),
      'snapshot-log': log.slice(lastGap + 1).map(({ source }) => source),
    };
  });
}

/** The table goes, and another one of its name comes, half of the time in the same place. */
export async function dropAndRecreate(context: ActorContext): Promise<void> {
  const { world, actor, ports, chance, writer } = context;
  const { metadata } = await writer.load();
  await world.scheduler.call(actor, 'dropTable', async () =>
    world.pointer.byActor(actor.name, () => world.catalog.dropTable(IDENTIFIER)),
  );
  const location = chance.is(0.5) ? metadata.location : `${metadata.location}-${actor.name}`;
  const { formatVersion } = metadata;
  const partitionFields = chance.pick([[], BY_REGION]);
  await commitTask(context, async () => {
    const table = { identifier: IDENTIFIER, location, formatVersion, fields: FIELDS };
    await TableWriter.create({ ...table, partitionFields }, ports);
  });
  await append(context);
}

const AWAY: TableIdentifier = { namespace: ['db'], name: 'away' };

/** The table is gone for a while, and then the same as before. */
export async function renameAndBack({ world, actor, ports }: ActorContext): Promise<void> {
  const { pointer, catalog, scheduler } = world;
  const rename = (source: TableIdentifier, target: TableIdentifier): Promise<void> =>
    scheduler.call(actor, `rename to ${target.name}`, async () => {
      const isTaken = hasTable(target);
      if (isTaken || !hasTable(source)) return;
      pointer.byActor(actor.name, () => catalog.renameTable(source, target));
    });
  const hasTable = (identifier: TableIdentifier): boolean => {
    try {
      return catalog.readRecord(identifier) !== undefined;
    } catch {
      // That there is none is the answer.
      return false;
    }
  };
  await rename(IDENTIFIER, AWAY);
  await ports.clock.sleepMs(1000);
  await rename(AWAY, IDENTIFIER);
}

/** From a snapshot back through its parents, as far as they are there. */
function ancestorsOf(metadata: TableMetadata, snapshotId: bigint | undefined): readonly bigint[] {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
  const ancestors: bigint[] = [];
  for (let next = snapshotId; next !== undefined && byId.has(next); ) {
    ancestors.push(next);
    next = byId.get(next)?.parentSnapshotId;
  }
  return ancestors;
}

function requireObject(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function requireArray(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== key));
}
