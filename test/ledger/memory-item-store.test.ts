import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../../shared/base/index.ts';
import { createLedger, type ItemFault, MemoryItemStore } from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testLedgerConformance } from './ledger.conformance.ts';

testLedgerConformance('memory', async (clock) => {
  const items = new MemoryItemStore();
  const state = { store: new MemoryObjectStore(), prefix: 's3://state/ledger/' };
  return {
    ledger: createLedger({ items, state, clock, random: seededRandom(1) }),
    other: createLedger({ items, state, clock, random: seededRandom(2) }),
    items,
    close: async () => {},
  };
});

describe('MemoryItemStore faults', () => {
  const key = { partition: 'db.orders', sort: 'lease#rewrite' };
  const base = { ...key, revision: 'v0', body: { n: 0 } };
  const next = { ...key, revision: 'v1', body: { n: 1 } };

  async function open(fault: ItemFault) {
    const faults: (ItemFault | undefined)[] = [undefined, fault];
    const calls: string[] = [];
    const items = new MemoryItemStore({
      next: async ({ operation, sort }) => {
        calls.push(`${operation} ${sort}`);
        return faults.shift();
      },
    });
    await items.write(base, undefined);
    const revision = async () => (await items.read(key))?.revision;
    return { items, calls, revision };
  }

  const closed: [ItemFault, 'commit-conflict' | 'unavailable'][] = [
    ['conflict', 'commit-conflict'],
    ['throttled', 'unavailable'],
  ];
  for (const [fault, kind] of closed) {
    test(`${fault}: not applied, and the same write succeeds later`, async () => {
      const { items, revision } = await open(fault);

      await assert.rejects(items.write(next, 'v0'), errorOfKind(kind));
      assert.equal(await revision(), 'v0');

      await items.write(next, 'v0');
      assert.equal(await revision(), 'v1');
    });
  }

  test('lost-before: unknown, and never applied', async () => {
    const { items, revision } = await open('lost-before');

    await assert.rejects(items.write(next, 'v0'), errorOfKind('commit-state-unknown'));
    items.deliverLateWrites();

    assert.equal(await revision(), 'v0');
  });

  test('lost-after: unknown, and applied', async () => {
    const { items, revision } = await open('lost-after');

    await assert.rejects(items.remove(key, 'v0'), errorOfKind('commit-state-unknown'));

    assert.equal(await revision(), undefined);
  });

  test('late: applied when it arrives, on its condition', async () => {
    const { items, revision } = await open('late');
    await assert.rejects(items.write(next, 'v0'), errorOfKind('commit-state-unknown'));
    assert.equal(await revision(), 'v0');

    items.deliverLateWrites();
    assert.equal(await revision(), 'v1');

    items.deliverLateWrites();
    assert.equal(await revision(), 'v1');
  });

  test('late: turned away on arrival once another write came first', async () => {
    const { items, revision } = await open('late');
    await assert.rejects(items.write(next, 'v0'), errorOfKind('commit-state-unknown'));
    await items.write({ ...next, revision: 'v2' }, 'v0');

    items.deliverLateWrites();

    assert.equal(await revision(), 'v2');
  });

  test('a read and a query can be unavailable, and every call is announced', async () => {
    const { items, calls } = await open('unavailable');
    await assert.rejects(items.read(key), errorOfKind('unavailable'));
    await items.query({ ...key, sortPrefix: 'lease', order: 'ascending', itemCountMax: 1 });
    await items.remove(key, 'v0');

    assert.deepEqual(calls, [
      'write lease#rewrite',
      'read lease#rewrite',
      'query lease',
      'remove lease#rewrite',
    ]);
  });

  test('what the faults throw, the call throws, and nothing happens', async () => {
    const { items, revision } = await open('throttled');
    const crash = new MemoryItemStore({ next: () => Promise.reject(new Error('crash')) });

    await assert.rejects(crash.write(base, undefined), /crash/);

    assert.deepEqual(crash.snapshot('db.orders'), []);
    assert.deepEqual(items.snapshot('db.orders'), [base]);
    await assert.rejects(items.write(next, 'v0'));
    assert.equal(await revision(), 'v0');
  });
});
