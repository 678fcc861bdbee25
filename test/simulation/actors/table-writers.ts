import { currentSchema, type NestedField } from '../../../shared/iceberg/index.ts';
import { BY_REGION } from '../table-rows.ts';
import type { ActorContext } from './actor-context.ts';
import { ancestorsOf } from './json-parts.ts';

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

/** What decides whether Firn may, and when it is due. */
const SWITCHES: typeof PROPERTIES = [
  ['firn.enabled', ['true', 'true', 'false']],
  ['firn.min-file-age-ms', ['0', '1200000', '5400000']],
  ['firn.routing.min-interval-ms', ['0', '300000']],
  ['firn.rewrite-data-files.trigger.commit-count', ['1', '3', '10']],
  ['firn.rewrite-data-files.trigger.interval-ms', ['600000', '7200000']],
];

export async function setSwitch({ writer, chance }: ActorContext): Promise<void> {
  const [key, values] = chance.pick(SWITCHES);
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
export async function expireSnapshots(
  { writer, chance }: ActorContext,
  keptCount = 1 + chance.below(3),
): Promise<void> {
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
