import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { createLedger, MemoryItemStore, type Run } from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { readAll } from './ledger-values.ts';

const TABLE = 'db.orders';

async function open(beforeWrite: (sort: string) => Promise<void> = async () => {}) {
  const items = new MemoryItemStore({
    next: async ({ operation, sort }) => {
      if (operation === 'write') await beforeWrite(sort);
      return undefined;
    },
  });
  const state = { store: new MemoryObjectStore(), prefix: 's3://state/ledger/' };
  const ports = { items, state, clock: new ManualClock(0), random: seededRandom(1) };
  const ledger = createLedger(ports);
  const request = { table: TABLE, scope: 'rewrite', owner: 'run-1', durationMs: 1000 };
  const outcome = await ledger.leases.acquire(request);
  assert.ok(outcome.outcome === 'acquired');
  const run = await ledger.runs.open(outcome.lease, 'rewrite-data-files');
  return { ledger, items, state, run };
}

/** Puts the run's item in place with other fields, as if others had written it. */
async function overwrite(items: MemoryItemStore, fields: object): Promise<void> {
  const item = await items.read({ partition: TABLE, sort: 'run#run-1' });
  assert.ok(item !== undefined);
  await items.write(
    { ...item, revision: `${item.revision}x`, body: { ...item.body, ...fields } },
    item.revision,
  );
}

describe('Run', () => {
  test('has no more than 1,000 lists of objects', async () => {
    const { items, run } = await open();
    const lists = Array.from({ length: 1000 }, (_, index) => `s3://state/${index}`);
    await overwrite(items, { 'object-lists': lists });

    await assert.rejects(
      run.nameObjects(Array.from({ length: 10_000 }, (_, index) => `s3://w/${index}`)),
      errorOfKind('unsupported', /1001 lists of objects exceed the limit of 1000/),
    );
  });

  test('gives up against others who change it without end', async () => {
    let count = 0;
    let isContended = false;
    const { items, run } = await open(async (sort) => {
      if (!isContended || sort !== 'run#run-1') return;
      isContended = false;
      await overwrite(items, { operation: `other-${++count}` });
      isContended = true;
    });
    isContended = true;

    await assert.rejects(
      run.nameObjects(['s3://w/a']),
      errorOfKind('unavailable', /changed by others 20 times in a row/),
    );

    assert.equal(count, 20);
  });

  test('an item that is gone is not made anew', async () => {
    const { items, run } = await open();
    const item = await items.read({ partition: TABLE, sort: 'run#run-1' });
    await items.remove(item!, item!.revision);

    await assert.rejects(
      run.nameObjects(['s3://w/a']),
      errorOfKind('invalid-data', /its item is gone/),
    );
  });

  test('a list of objects that cannot be read is invalid, and one that is gone not found', async () => {
    const { ledger, items, state } = await open();
    const location = 's3://state/ledger/list.json';
    await overwrite(items, { 'object-lists': [location] });
    const run = (await ledger.runs.read(TABLE, 'run-1')) as Run;

    await assert.rejects(readAll(run.objects()), errorOfKind('not-found'));
    for (const text of [
      '{"half":',
      '[]',
      '{"format-version":1}',
      '{"format-version":1,"locations":[1]}',
    ]) {
      await state.store.write(location, new TextEncoder().encode(text));
      await assert.rejects(readAll(run.objects()), errorOfKind('invalid-data'));
    }
    await state.store.write(location, new TextEncoder().encode('{"format-version":2}'));
    await assert.rejects(readAll(run.objects()), errorOfKind('unsupported'));
  });

  test('steps of one run that overlap take effect in turn, also after one that failed', async () => {
    const { run } = await open();

    const outcomes = await Promise.allSettled([
      run.nameObjects(['s3://w/a']),
      run.closeIntent('none', 'applied'),
      run.nameObjects(['s3://w/b']),
      run.close('abandoned'),
      run.nameObjects(['s3://w/c']),
    ]);

    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(await readAll(run.objects()), ['s3://w/a', 's3://w/b']);
  });
});
