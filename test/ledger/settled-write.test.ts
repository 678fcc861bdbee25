import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IcebergError, ManualClock, seededRandom } from '../../shared/base/index.ts';
import { type ItemFault, MemoryItemStore } from '../../shared/ledger/index.ts';
import { removeSettled, writeSettled } from '../../shared/ledger/settled-write.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const KEY = { partition: 'db.orders', sort: 'lease#rewrite' };

/** @param faults of the calls to come, in order; `deliver` lets late writes arrive before that call */
function open(faults: (ItemFault | 'deliver' | undefined)[] = []) {
  const operations: string[] = [];
  const items: MemoryItemStore = new MemoryItemStore({
    next: async ({ operation }) => {
      operations.push(operation);
      const fault = faults.shift();
      if (fault !== 'deliver') return fault;
      items.deliverLateWrites();
      return undefined;
    },
  });
  const clock = new ManualClock(0);
  const ports = { items, clock, random: seededRandom(1) };
  const write = (n: number, baseRevision: string | undefined) =>
    writeSettled({ ...KEY, body: { n }, baseRevision }, ports);
  const stored = () => items.snapshot(KEY.partition)[0];
  return { items, operations, clock, ports, write, stored };
}

describe('writeSettled', () => {
  test('is one write when all goes well, with a revision of its own each time', async () => {
    const { operations, write, stored } = open();

    const first = await write(1, undefined);
    assert.ok(first.outcome === 'written');
    const second = await write(2, first.item.revision);

    assert.ok(second.outcome === 'written');
    assert.notEqual(second.item.revision, first.item.revision);
    assert.deepEqual(stored(), second.item);
    assert.deepEqual(operations, ['write', 'write']);
  });

  test('tells what is there when the base has been passed', async () => {
    const { operations, write, stored } = open();
    await write(1, undefined);

    const outcome = await write(2, undefined);

    assert.deepEqual(outcome, { outcome: 'conflict', current: stored() });
    assert.equal(stored()?.body['n'], 1);
    assert.deepEqual(operations, ['write', 'write', 'read']);
  });

  const settled: [ItemFault | 'deliver', (ItemFault | 'deliver' | undefined)[], string[]][] = [
    ['conflict', [], ['write', 'read', 'write']],
    ['throttled', [], ['write', 'read', 'write']],
    ['lost-before', [], ['write', 'read', 'write']],
    ['lost-after', [], ['write', 'read']],
    ['late', [], ['write', 'read', 'write']],
    ['late', ['deliver'], ['write', 'read']],
    ['late', [undefined, 'deliver'], ['write', 'read', 'write', 'read']],
  ];
  for (const [fault, later, expected] of settled) {
    test(`${fault}${later.length === 0 ? '' : `, arriving ${later.length} calls later`}: applied once`, async () => {
      const { items, operations, write, stored } = open([fault as ItemFault, ...later]);

      const outcome = await write(1, undefined);
      items.deliverLateWrites();

      assert.ok(outcome.outcome === 'written');
      assert.deepEqual(stored(), outcome.item);
      assert.deepEqual(operations, expected);
    });
  }

  test('gives up after six attempts, having waited between them', async () => {
    const faults = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? ('lost-before' as const) : undefined,
    );
    const { operations, clock, write } = open(faults);

    await assert.rejects(
      write(1, undefined),
      errorOfKind('unavailable', /^ledger item lease#rewrite of db.orders: not written after 6/),
    );

    assert.equal(operations.filter((operation) => operation === 'write').length, 6);
    assert.ok(clock.nowMs() > 0 && clock.nowMs() < 3100, `${clock.nowMs()} ms`);
  });

  test('an unavailable read leaves the write open', async () => {
    const { write } = open(['lost-after', 'unavailable']);

    await assert.rejects(write(1, undefined), errorOfKind('unavailable'));
  });

  test('what will not succeed later is not repeated', async () => {
    let callCount = 0;
    const denied = new IcebergError('access-denied', 'no right');
    const items = new MemoryItemStore({
      next: () => {
        callCount++;
        return Promise.reject(denied);
      },
    });
    const ports = { ...open().ports, items };

    await assert.rejects(
      writeSettled({ ...KEY, body: {}, baseRevision: undefined }, ports),
      errorOfKind('access-denied'),
    );

    assert.equal(callCount, 1);
  });

  test('takes a body of 384 KiB, and not a byte more', async () => {
    const { operations, ports } = open();
    const write = (chars: number) =>
      writeSettled({ ...KEY, body: { n: 'x'.repeat(chars) }, baseRevision: undefined }, ports);
    const overheadChars = '{"n":""}'.length;

    await write(384 * 1024 - overheadChars);
    await assert.rejects(
      write(384 * 1024 - overheadChars + 1),
      errorOfKind('unsupported', /393217 bytes exceed the limit of 393216/),
    );

    assert.deepEqual(operations, ['write']);
  });
});

describe('removeSettled', () => {
  for (const fault of ['conflict', 'throttled', 'lost-before', 'lost-after', 'late'] as const) {
    test(`${fault}: removed`, async () => {
      const { items, ports, write, stored } = open([undefined, fault]);
      const written = await write(1, undefined);
      assert.ok(written.outcome === 'written');

      await removeSettled(written.item, ports);
      items.deliverLateWrites();

      assert.equal(stored(), undefined);
    });
  }

  test('leaves an item that has been changed since', async () => {
    const { ports, write, stored } = open();
    const first = await write(1, undefined);
    assert.ok(first.outcome === 'written');
    await write(2, first.item.revision);

    await removeSettled(first.item, ports);

    assert.equal(stored()?.body['n'], 2);
  });

  test('gives up after six attempts', async () => {
    const faults = Array.from({ length: 13 }, (_, index) =>
      index % 2 === 1 ? ('throttled' as const) : undefined,
    );
    const { ports, write } = open(faults);
    const written = await write(1, undefined);
    assert.ok(written.outcome === 'written');

    await assert.rejects(removeSettled(written.item, ports), errorOfKind('unavailable'));
  });
});
