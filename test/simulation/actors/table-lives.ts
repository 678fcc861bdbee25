import { TableWriter } from '../../../local/table-writer/index.ts';
import type { TableIdentifier } from '../../../shared/catalog/index.ts';
import { loadMetadata } from '../../../shared/table/index.ts';
import { BY_REGION, FIELDS } from '../table-rows.ts';
import { type ActorContext, commitTask } from './actor-context.ts';
import { append } from './row-writers.ts';

/** The table goes, and another one of its name comes, half of the time in the same place. */
export async function dropAndRecreate(context: ActorContext): Promise<void> {
  const { actor, identifier, ports, chance, writer } = context;
  const { metadata } = await writer.load();
  await dropTable(context);
  const location = chance.is(0.5) ? metadata.location : `${metadata.location}-${actor.name}`;
  const { formatVersion } = metadata;
  const partitionFields = chance.pick([[], BY_REGION]);
  await commitTask(context, async () => {
    const table = { identifier, location, formatVersion, fields: FIELDS };
    await TableWriter.create({ ...table, partitionFields }, ports);
  });
  await append(context);
}

/**
 * The table goes and comes back with the same uuid: registered again from the metadata file that it had, or from the
 * one before, so that its history since is gone.
 */
export async function registerAgain(context: ActorContext): Promise<void> {
  const { identifier, ports, chance } = context;
  const { catalog } = ports;
  const { metadataLocation } = await catalog.loadTable(identifier);
  const metadata = await loadMetadata(metadataLocation, ports);
  const previous = metadata.metadataLog.at(-1)?.metadataFile ?? metadataLocation;
  await dropTable(context);
  await catalog.registerTable(identifier, chance.is(0.5) ? previous : metadataLocation);
}

function dropTable({ world, actor, identifier }: ActorContext): Promise<void> {
  return world.scheduler.call(actor, 'dropTable', async () =>
    world.pointerOf(identifier).byActor(actor.name, () => world.catalog.dropTable(identifier)),
  );
}

const AWAY: TableIdentifier = { namespace: ['db'], name: 'away' };

/** The table is gone for a while, and then the same as before. */
export async function renameAndBack(context: ActorContext): Promise<void> {
  const { world, actor, identifier, ports } = context;
  const { catalog, scheduler } = world;
  const pointer = world.pointerOf(identifier);
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
  await rename(identifier, AWAY);
  await ports.clock.sleepMs(1000);
  await rename(AWAY, identifier);
}
