import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMaintenanceRequest } from '../../events/index.ts';
import { MINUTE_MS } from '../guards/guard-fixture.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { createFleet, smallFiles } from './look-fixture.ts';

const HOUR_MS = 60 * MINUTE_MS;

describe('a look', () => {
  it('at a new table plans it: one message, and a mark for the case that it is lost', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');

    const outcome = await fleet.look('db.t');

    assert.deepEqual(outcome, {
      outcome: 'looked',
      sent: [{ operation: 'rewrite-data-files', reason: 'never-planned' }],
    });
    assert.deepEqual(fleet.bodies().map(parseMaintenanceRequest), [
      {
        isValid: true,
        value: {
          operation: 'rewrite-data-files',
          table: 'db.t',
          reason: 'the table has not been planned yet',
          correlationId: 'c-1',
          round: 0,
        },
      },
    ]);
    const state = await fleet.compaction('db.t');
    const nowMs = fleet.clock.nowMs();
    assert.deepEqual(state, {
      dueAtMs: nowMs + 30 * MINUTE_MS,
      dueReason: 'never-planned',
      queuedAtMs: nowMs,
      firstDueAtMs: nowMs,
      roundCount: 0,
      failureCount: 0,
    });
  });

  it('at a table that nothing happened to costs a read of its pointer and one of its state', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    await fleet.look('db.t');
    const before = fleet.requests();

    assert.equal((await fleet.look('db.t')).outcome, 'unchanged');

    assert.deepEqual(fleet.requestsSince(before), {
      catalogReads: 1,
      ledgerReads: 1,
      ledgerWrites: 0,
      objectReads: 0,
    });
    assert.equal(fleet.bodies().length, 1);
  });

  it('reads metadata once in an interval, however often the table is committed to', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    await fleet.look('db.t');
    const before = fleet.requests();
    const outcomes: string[] = [];
    for (let second = 0; second < 59; second++) {
      fleet.clock.advanceMs(1000);
      if (second % 10 === 0) await writer.append(smallFiles(1));
      outcomes.push((await fleet.look('db.t')).outcome);
    }

    assert.deepEqual([...new Set(outcomes)], ['rate-limited']);
    const { objectReads, ledgerWrites } = fleet.requestsSince(before);
    // The writer's own reads are not counted; one mark is enough.
    assert.deepEqual([objectReads, ledgerWrites], [0, 1]);
    const { look } = (await fleet.state('db.t')) ?? {};
    assert.deepEqual(look, {
      atMs: fleet.clock.nowMs() + 1000,
      reason: 'interval',
      failureCount: 0,
    });

    fleet.clock.advanceMs(1000);
    assert.equal((await fleet.look('db.t', 'due')).outcome, 'looked');
    assert.equal((await fleet.state('db.t'))?.look, undefined);
  });

  it('lets a table ask for longer intervals, not for shorter ones', async () => {
    const fleet = createFleet();
    const of = async (name: string, intervalMs: number) => {
      const properties = { 'firn.routing.min-interval-ms': String(intervalMs) };
      const writer = await fleet.createTable(name, properties);
      await fleet.look(name);
      await writer.append(smallFiles(1));
      fleet.clock.advanceMs(59_999);
      const early = (await fleet.look(name)).outcome;
      fleet.clock.advanceMs(1);
      return [early, (await fleet.look(name)).outcome];
    };

    assert.deepEqual(await of('db.long', HOUR_MS), ['rate-limited', 'rate-limited']);
    assert.deepEqual(await of('db.short', 0), ['rate-limited', 'looked']);
  });

  it('after a run does not wait for the interval', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    await fleet.look('db.t');
    await writer.append(smallFiles(1));

    assert.equal((await fleet.look('db.t', 'run-ended')).outcome, 'looked');
  });

  it('sends another message when nobody has answered the first', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    await fleet.look('db.t');
    fleet.clock.advanceMs(30 * MINUTE_MS - 1);
    assert.equal((await fleet.look('db.t', 'due')).outcome, 'unchanged');

    fleet.clock.advanceMs(1);
    const outcome = await fleet.look('db.t', 'due');

    assert.equal(outcome.outcome, 'looked');
    assert.equal(fleet.bodies().length, 2);
  });

  it('marks what will be due later, and finds it idle when nothing was added', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    await fleet.look('db.t');
    await fleet.planned('db.t');
    await fleet.look('db.t', 'run-ended');
    assert.deepEqual(await fleet.compaction('db.t'), {
      plan: (await fleet.compaction('db.t'))?.plan,
      roundCount: 0,
      failureCount: 0,
    });
    assert.deepEqual(await fleet.due(), []);

    fleet.clock.advanceMs(MINUTE_MS);
    await writer.append(smallFiles(1));
    const outcome = await fleet.look('db.t');

    assert.deepEqual(outcome, { outcome: 'looked', sent: [] });
    const { plan, dueAtMs, dueReason } = (await fleet.compaction('db.t')) ?? {};
    assert.equal(dueReason, 'interval');
    assert.equal(dueAtMs, (plan?.atMs ?? 0) + 6 * HOUR_MS);
    fleet.clock.advanceMs(6 * HOUR_MS);
    assert.deepEqual(await fleet.due(), ['db.t']);
  });

  it('does nothing for a table that was turned off, and forgets what was due', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    await fleet.look('db.t');
    await writer.setProperties({ 'firn.enabled': 'false' });
    fleet.clock.advanceMs(HOUR_MS);

    assert.deepEqual(await fleet.look('db.t'), { outcome: 'looked', sent: [] });
    assert.deepEqual(await fleet.due(), []);
  });
});

describe('a table that was only observed', () => {
  it('is due when the deployment names it, though its pointer has not moved', async () => {
    const fleet = createFleet({ enabledTables: [] });
    await fleet.createTable('db.t');
    await fleet.look('db.t');
    await fleet.planned('db.t', 'observe');
    await fleet.look('db.t', 'run-ended');
    fleet.clock.advanceMs(HOUR_MS);
    assert.equal((await fleet.look('db.t', 'catalog')).outcome, 'unchanged');

    const enabled = fleet.deployedAgain({ enabledTables: ['db.t'] });
    const outcome = await enabled.look('db.t', 'catalog');

    assert.deepEqual(outcome, {
      outcome: 'looked',
      sent: [{ operation: 'rewrite-data-files', reason: 'allowed-since' }],
    });
  });

  it('stays as it is where the table itself says no', async () => {
    const fleet = createFleet({ enabledTables: [] });
    await fleet.createTable('db.t', { 'firn.enabled': 'false' });
    await fleet.look('db.t');
    await fleet.planned('db.t', 'observe');
    await fleet.look('db.t', 'run-ended');

    const enabled = fleet.deployedAgain({ enabledTables: ['db.t'] });

    assert.equal((await enabled.look('db.t', 'catalog')).outcome, 'unchanged');
  });
});

describe('a crash', () => {
  it('between the message and the mark sends the message again', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    fleet.crashNextWrite();
    await assert.rejects(fleet.look('db.t'), /crash/);
    assert.equal(fleet.bodies().length, 1);

    const outcome = await fleet.look('db.t');

    assert.equal(outcome.outcome, 'looked');
    assert.equal(fleet.bodies().length, 2);
    assert.deepEqual(await fleet.due(30 * MINUTE_MS), ['db.t']);
  });

  it('of the queue leaves no mark that says the message is on its way', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    fleet.queueFault('throttled');

    await assert.rejects(fleet.look('db.t'), errorOfKind('unavailable'));

    assert.equal(await fleet.state('db.t'), undefined);
    assert.equal((await fleet.look('db.t')).outcome, 'looked');
  });
});

describe('two looks at once', () => {
  it('send two messages at most, and leave one mark', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');

    await Promise.all([fleet.look('db.t'), fleet.look('db.t')]);

    assert.equal(fleet.bodies().length, 2);
    assert.deepEqual(await fleet.due(), []);
    assert.deepEqual(await fleet.due(30 * MINUTE_MS), ['db.t']);
  });

  it('do not let older metadata replace what was seen: the table is looked at once more', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    await fleet.look('db.t');
    await fleet.planned('db.t');
    fleet.clock.advanceMs(HOUR_MS);
    await writer.append(smallFiles(1));
    // The first look reads the metadata, and is overtaken before it can write.
    fleet.beforeNextWrite(async () => {
      await writer.append(smallFiles(1));
      assert.equal((await fleet.look('db.t', 'run-ended')).outcome, 'looked');
    });

    await fleet.look('db.t');

    const state = await fleet.state('db.t');
    assert.equal(state?.seen?.metadataLocation, (await writer.load()).metadataLocation);
    assert.equal(state?.look?.reason, 'overtaken');
    assert.equal(state.look.atMs, state.seen?.nextReadAtMs);
  });

  it('and a run that ended meanwhile: what it planned is not due again', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    await fleet.look('db.t');
    fleet.clock.advanceMs(30 * MINUTE_MS);
    fleet.beforeNextWrite(() => fleet.planned('db.t'));

    const outcome = await fleet.look('db.t', 'due');

    // Its message was sent before: the mark says so, and the run that gets it finds nothing.
    assert.equal(outcome.outcome, 'looked');
    const state = await fleet.compaction('db.t');
    assert.equal(state?.queuedAtMs, fleet.clock.nowMs());
    assert.notEqual(state.plan, undefined);
  });
});

describe('a table that is gone', () => {
  it('is not due any more, and another one of its name begins anew', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    await fleet.look('db.t');
    await fleet.planned('db.t');
    await fleet.drop('db.t');

    assert.equal((await fleet.look('db.t', 'due')).outcome, 'dropped');
    assert.deepEqual(await fleet.state('db.t'), { table: 'db.t', operations: {} });
    assert.deepEqual(await fleet.due(HOUR_MS), []);
    const before = fleet.requests();
    assert.equal((await fleet.look('db.t', 'due')).outcome, 'dropped');
    assert.equal(fleet.requestsSince(before).ledgerWrites, 0);
  });

  it('and there was never anything known of it leaves nothing behind', async () => {
    const fleet = createFleet();

    assert.equal((await fleet.look('db.none')).outcome, 'dropped');
    assert.equal(await fleet.state('db.none'), undefined);
  });

  it('and replaced by another one is not taken for it', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    await fleet.look('db.t');
    await fleet.planned('db.t');
    await fleet.look('db.t', 'run-ended');
    await fleet.drop('db.t');
    fleet.clock.advanceMs(HOUR_MS);
    await fleet.createTable('db.t');

    const outcome = await fleet.look('db.t');

    assert.deepEqual(outcome, {
      outcome: 'looked',
      sent: [{ operation: 'rewrite-data-files', reason: 'never-planned' }],
    });
  });
});

describe('metadata that cannot be read', () => {
  it('is asked for again later and later, and reported once', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    const { metadataLocation } = await writer.load();
    const text = await fleet.store.read(metadataLocation, 1e6);
    await fleet.store.write(metadataLocation, new TextEncoder().encode('{"format'));

    const waitsMs: number[] = [];
    const news: boolean[] = [];
    for (let attempt = 0; attempt < 13; attempt++) {
      const outcome = await fleet.lookFully('db.t', 'due');
      assert.ok(outcome.outcome === 'unreadable');
      assert.equal(outcome.error.kind, 'invalid-data');
      waitsMs.push(outcome.retryAtMs - fleet.clock.nowMs());
      news.push(outcome.isNews);
      fleet.clock.advanceMs(waitsMs.at(-1)! - 1);
      assert.deepEqual(await fleet.due(), []);
      fleet.clock.advanceMs(1);
      assert.deepEqual(await fleet.due(), ['db.t']);
    }

    assert.deepEqual(
      waitsMs.slice(0, 5),
      [1, 2, 4, 8, 16].map((each) => each * MINUTE_MS),
    );
    assert.equal(waitsMs.at(-1), 24 * HOUR_MS);
    assert.deepEqual(news, [true, ...Array.from({ length: 12 }, () => false)]);

    await fleet.store.write(metadataLocation, text);
    assert.equal((await fleet.look('db.t', 'due')).outcome, 'looked');
    assert.deepEqual(await fleet.reportReasons('db.t'), ['readable-again', 'invalid-data']);
    assert.equal((await fleet.state('db.t'))?.look, undefined);
  });

  it('is read again, in its interval, when the pointer moves', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t', { 'firn.enabled': 'maybe' });
    const first = await fleet.lookFully('db.t');
    assert.ok(first.outcome === 'unreadable');
    assert.match(first.error.message, /firn\.enabled: value maybe/);
    fleet.clock.advanceMs(MINUTE_MS);
    await writer.setProperties({ 'firn.enabled': 'true' });

    assert.equal((await fleet.look('db.t')).outcome, 'looked');
  });

  it('does not make what was due before due more often than the metadata is tried', async () => {
    const fleet = createFleet();
    const writer = await fleet.createTable('db.t');
    await fleet.look('db.t');
    await fleet.store.delete([(await writer.load()).metadataLocation]);
    fleet.clock.advanceMs(30 * MINUTE_MS);

    const outcome = await fleet.lookFully('db.t', 'due');

    assert.ok(outcome.outcome === 'unreadable');
    assert.equal(outcome.error.kind, 'not-found');
    assert.deepEqual(await fleet.due(), []);
    assert.equal((await fleet.compaction('db.t'))?.dueAtMs, outcome.retryAtMs);
  });
});

describe('a catalog or ledger that does not answer', () => {
  it('is no outcome of the table', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    fleet.catalogFault('unavailable');

    await assert.rejects(fleet.look('db.t'), errorOfKind('unavailable'));
  });
});

describe('a request', () => {
  it('has its operation run whatever the triggers say', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');

    assert.deepEqual(await fleet.request('db.t'), { table: 'db.t', outcome: 'queued' });

    const [body = ''] = fleet.bodies();
    const parsed = parseMaintenanceRequest(body);
    assert.equal(parsed.isValid && parsed.value.reason, 'because');
    assert.equal(fleet.requests().objectReads, 0);
    const state = await fleet.compaction('db.t');
    assert.equal(state?.owed?.reason, 'request');
    assert.equal(state.dueAtMs, fleet.clock.nowMs() + 30 * MINUTE_MS);
  });

  it('beside others of the same minute sends no further message, and is done by the run after at the latest', async () => {
    const fleet = createFleet();
    await fleet.createTable('db.t');
    await fleet.request('db.t');
    const startedAtMs = fleet.clock.nowMs();
    for (let second = 0; second < 59; second++) {
      fleet.clock.advanceMs(1000);
      assert.equal((await fleet.request('db.t')).outcome, 'rate-limited');
    }
    assert.equal(fleet.bodies().length, 1);

    await fleet.planned('db.t', 'commit', startedAtMs);
    const outcome = await fleet.look('db.t', 'run-ended');

    assert.deepEqual(outcome, {
      outcome: 'looked',
      sent: [{ operation: 'rewrite-data-files', reason: 'request' }],
    });
  });
});
