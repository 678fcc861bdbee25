import type { ItemFault, ItemStore } from '../../shared/ledger/index.ts';
import type { ActorFaults } from './actor-faults.ts';
import type { Actor } from './scheduler.ts';
import type { World } from './world.ts';

/** The items of the ledger as one actor has them. */
export function simulatedItems(actor: Actor, world: World, faults: ActorFaults): ItemStore {
  const { items, scheduler } = world;
  const call = <Answer>(
    label: string,
    effect: () => Promise<Answer>,
    port?: 'run-record',
  ): Promise<Answer> =>
    scheduler.call(actor, label, async () => {
      const fault = faults.next('ledger') ?? (port === undefined ? undefined : faults.next(port));
      const isHeldUp = await world.holdUp(actor, fault);
      world.ledgerFault = isHeldUp ? undefined : (fault as ItemFault | undefined);
      const answer = effect();
      if (fault === 'late') {
        const deliver = (): void => items.deliverLateWrites();
        scheduler.later(`late ${label} of ${actor.name}`, world.latenessMs(), deliver);
      }
      return answer;
    });
  return {
    read: (key) => call(`ledger read ${key.sort}`, () => items.read(key)),
    query: (query) => call(`ledger query ${query.sortPrefix}`, () => items.query(query)),
    queryDue: (query) => call(`ledger query due ${query.sort}`, () => items.queryDue(query)),
    write: (item, base) => {
      const write = (): Promise<void> => {
        const { sort, body } = item;
        if (sort.startsWith('tombstone#')) world.tombstones.set(sort, String(body['location']));
        if (sort.startsWith('run#')) {
          world.noteRunRecord({ sort, actor: actor.name, status: body['status'] });
        }
        return items.write(item, base);
      };
      return call(
        `ledger write ${item.sort}`,
        write,
        item.sort.startsWith('run#') ? 'run-record' : undefined,
      );
    },
    remove: (key, base) =>
      call(`ledger remove ${key.sort}`, () => {
        world.tombstones.delete(key.sort);
        return items.remove(key, base);
      }),
  };
}
