import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHandler, handler } from '../../../functions/sweep-tables/handler.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { createFleet } from '../fleet-fixture.ts';

function deployed(options: Parameters<typeof createFleet>[0] = {}) {
  const fleet = createFleet(options);
  const sweep = createHandler(fleet.deployment);
  return {
    ...fleet,
    sweep: (name: string, remainingMs?: () => number) =>
      fleet.invoke(sweep, { version: 1, sweep: name }, remainingMs),
    send: (event: unknown) => fleet.invoke(sweep, event),
  };
}

describe('the sweep of the catalog', () => {
  it('finds what no record told of, and leaves idle tables alone at two reads each', async () => {
    const fleet = deployed();
    for (const name of ['db.a', 'db.b', 'db.c']) await fleet.createTable(name);
    await fleet.sweep('catalog');
    assert.deepEqual([...fleet.rung()].sort(), ['db.a', 'db.b', 'db.c']);
    const before = { ...fleet.ledger.requestCounts };

    await fleet.sweep('catalog');

    assert.deepEqual(fleet.rung(), []);
    assert.equal(fleet.ledger.requestCounts.readCount - before.readCount, 3);
    assert.equal(fleet.ledger.requestCounts.writeCount, before.writeCount);
    const line = fleet.lines.at(-1);
    assert.deepEqual(
      [line?.['event'], line?.['sweep'], line?.['tableCount'], line?.['unchanged']],
      ['sweep.finished', 'catalog', 3, 3],
    );
  });

  it('says that it did not get to all tables when its time is over', async () => {
    const fleet = deployed();
    for (const name of ['db.a', 'db.b']) await fleet.createTable(name);

    await fleet.sweep('catalog', () => 1_000);

    assert.deepEqual(fleet.rung(), []);
    assert.deepEqual(
      [fleet.lines.at(-1)?.['event'], fleet.lines.at(-1)?.['level']],
      ['sweep.unfinished', 'warn'],
    );
  });

  it('goes on where one table fails', async () => {
    const fleet = deployed({ unavailable: new Set(['db.a']) });
    await fleet.createTable('db.b');
    const { catalog } = fleet;
    catalog.writeRecord({ namespace: ['db'], name: 'a' }, {});

    await fleet.sweep('catalog');

    assert.deepEqual(fleet.rung(), ['db.b']);
    assert.equal(fleet.lines.at(-1)?.['failed'], 1);
  });
});

describe('the sweep of what is due', () => {
  it('looks at tables whose time has come, and at no others', async () => {
    const fleet = deployed();
    for (const [name, atMs] of [
      ['db.now', 0],
      ['db.later', 1],
      ['db.gone', -5],
    ] as const) {
      if (name !== 'db.gone') await fleet.createTable(name);
      await fleet.ledger.states.change(name, (state) => ({
        ...state,
        look: { atMs: fleet.clock.nowMs() + atMs, reason: 'interval', failureCount: 0 },
      }));
    }

    await fleet.sweep('due');

    assert.deepEqual(fleet.rung(), ['db.now']);
    const line = fleet.lines.at(-1);
    assert.deepEqual([line?.['looked'], line?.['dropped'], line?.['tableCount']], [1, 1, 2]);
  });

  it('goes through all pages, and finds nothing once all are marked', async () => {
    const fleet = deployed();
    const names = Array.from({ length: 450 }, (_, index) => `db.t${index}`);
    for (const name of names) {
      await fleet.ledger.states.change(name, (state) => ({
        ...state,
        look: { atMs: 1, reason: 'interval', failureCount: 0 },
      }));
    }

    await fleet.sweep('due');
    await fleet.sweep('due');

    assert.deepEqual(
      fleet.lines.map((line) => line['dropped']),
      [450, 0],
    );
  });

  it('sends another message for work that nobody answered', async () => {
    const fleet = deployed();
    await fleet.createTable('db.a');
    await fleet.sweep('catalog');
    assert.deepEqual(fleet.rung(), ['db.a']);
    await fleet.sweep('due');
    assert.deepEqual(fleet.rung(), []);

    fleet.clock.advanceMs(30 * 60_000);
    await fleet.sweep('due');

    assert.ok(fleet.rung().includes('db.a'));
  });
});

describe('an event', () => {
  it('that is no request to sweep becomes a dead letter', async () => {
    const fleet = deployed();

    for (const event of [{}, undefined, { version: 1, sweep: 'all' }]) await fleet.send(event);

    assert.equal(fleet.letters().length, 3);
    assert.match(fleet.letters()[0]?.reason ?? '', /^sweep request: ./);
  });
});

describe('what Lambda calls', () => {
  it('refuses to begin without a configuration', async () => {
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 1 };

    await assert.rejects(handler({}, context), errorOfKind('invalid-config'));
  });
});
