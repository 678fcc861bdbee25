import { TableWriter } from '../../../local/table-writer/index.ts';
import { isIcebergError } from '../../../shared/base/index.ts';
import type { TableIdentifier } from '../../../shared/catalog/index.ts';
import {
  type ManifestEntry,
  readManifest,
  readManifestList,
  snapshotOfRef,
} from '../../../shared/iceberg/index.ts';
import type { Table } from '../../../shared/table/index.ts';
import { type Chance, chanceOf } from '../chance.ts';
import { type ActorPorts, actorPorts } from '../ports.ts';
import type { Actor } from '../scheduler.ts';
import type { ActorScript } from '../script.ts';
import { identifierOf, type World } from '../world.ts';

/** What every actor works with. */
export interface ActorContext {
  readonly script: ActorScript;
  readonly actor: Actor;
  readonly world: World;
  /** The table that it works on. */
  readonly identifier: TableIdentifier;
  readonly ports: ActorPorts;
  readonly writer: TableWriter;
  readonly chance: Chance;
}

export function actorContext(script: ActorScript, actor: Actor, world: World): ActorContext {
  const ports = actorPorts(actor, world, script.skewMs);
  const identifier = identifierOf(script.table);
  return {
    script,
    actor,
    world,
    identifier,
    ports,
    writer: new TableWriter(identifier, ports),
    chance: chanceOf(world.script.seed, script.name),
  };
}

const ATTEMPTS_MAX = 6;
const RETRY_WAIT_MS = 100;
const OBJECT_BYTES_MAX = 1024 ** 2;

/** One commit of a writer: tries again, on the table as it is then, until it is acknowledged or makes no sense. */
export async function commitTask(
  { script, world, ports }: ActorContext,
  attempt: () => Promise<void>,
): Promise<void> {
  for (let count = 1; count <= ATTEMPTS_MAX; count++) {
    try {
      await attempt();
      world.count(`commits by ${script.kind}`);
      return;
    } catch (error) {
      // A writer that cannot know gives up here; whatever its write does later, it is one whole commit.
      if (isIcebergError(error, 'commit-state-unknown')) return;
      const isTableGone = isIcebergError(error, 'not-found') && 'table' in error.context;
      const isRetried =
        isIcebergError(error, 'commit-conflict') ||
        isIcebergError(error, 'commit-rejected') ||
        isIcebergError(error, 'unavailable');
      if (!isRetried && !isTableGone) throw error;
    }
    await ports.clock.sleepMs(RETRY_WAIT_MS * count);
  }
}

/** Live data files of a branch's head. */
export async function liveEntries(
  { metadata }: Table,
  { store }: ActorPorts,
  branch = 'main',
): Promise<readonly ManifestEntry[]> {
  const head = snapshotOfRef(metadata, branch);
  if (head?.manifestList === undefined) return [];
  const list = await store.read(head.manifestList, OBJECT_BYTES_MAX);
  const live: ManifestEntry[] = [];
  for (const manifest of readManifestList(list, head.manifestList, metadata.formatVersion)) {
    if (manifest.content !== 'data') continue;
    const bytes = await store.read(manifest.manifestPath, OBJECT_BYTES_MAX);
    const context = { specs: metadata.partitionSpecs, schemas: metadata.schemas };
    for (const entry of readManifest(bytes, manifest, context)) {
      if (entry.status !== 'deleted') live.push(entry);
    }
  }
  return live;
}
