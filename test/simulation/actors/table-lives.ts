import { TableWriter } from '../../../local/table-writer/index.ts';
import type { TableIdentifier } from '../../../shared/catalog/index.ts';
import { loadMetadata } from '../../../shared/table/index.ts';
import { BY_REGION, FIELDS } from '../table-rows.ts';
import { IDENTIFIER } from '../world.ts';
import { type ActorContext, commitTask } from './actor-context.ts';
import { append } from './row-writers.ts';

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

/**
 * The table goes and comes back with the same uuid: registered again from the metadata file that it had, or from the
 * one before, so that its history since is gone.
 */
export async function registerAgain({ world, actor, ports, chance }: ActorContext): Promise<void> {
  const { catalog } = ports;
  const { metadataLocation } = await catalog.loadTable(IDENTIFIER);
  const metadata = await loadMetadata(metadataLocation, ports);
  const previous = metadata.metadataLog.at(-1)?.metadataFile ?? metadataLocation;
  await world.scheduler.call(actor, 'dropTable', async () =>
    world.pointer.byActor(actor.name, () => world.catalog.dropTable(IDENTIFIER)),
  );
  await catalog.registerTable(IDENTIFIER, chance.is(0.5) ? previous : metadataLocation);
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
