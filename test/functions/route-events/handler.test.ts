import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createHandler, handler } from '../../../functions/route-events/handler.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { createFleet, streamRecord } from '../fleet-fixture.ts';

const SAMPLES = join(import.meta.dirname, '../../../events');

function sample(path: string): unknown {
  return JSON.parse(readFileSync(join(SAMPLES, path), 'utf8'));
}

function deployed(options: Parameters<typeof createFleet>[0] = {}) {
  const fleet = createFleet(options);
  const route = createHandler(fleet.deployment);
  return {
    ...fleet,
    route: (event: unknown, remainingMs?: () => number) => fleet.invoke(route, event, remainingMs),
    ring: (...records: unknown[]) => fleet.invoke(route, { Records: records }),
  };
}

describe('records of the stream', () => {
  it('ring for their table, once however often, and are done', async () => {
    const fleet = deployed();
    await fleet.createTable('db.a');
    await fleet.createTable('db.b');

    const answer = await fleet.ring(
      streamRecord('db.a', 1),
      streamRecord('db.b', 2),
      streamRecord('db.a', 3, { eventName: 'INSERT' }),
    );

    assert.deepEqual(answer, { batchItemFailures: [] });
    assert.deepEqual([...fleet.rung()].sort(), ['db.a', 'db.b']);
    const [line] = fleet.lines;
    assert.deepEqual([line?.['event'], line?.['level']], ['events.routed', 'info']);
    assert.deepEqual(
      [line?.['tableCount'], line?.['looked'], line?.['sentCount'], line?.['returnedCount']],
      [2, 2, 2, 0],
    );
  });

  it('delivered twice, late or in another order send no further message', async () => {
    const fleet = deployed();
    await fleet.createTable('db.a');
    await fleet.ring(streamRecord('db.a', 2));
    fleet.rung();

    await fleet.ring(streamRecord('db.a', 1), streamRecord('db.a', 2));

    assert.deepEqual(fleet.rung(), []);
    assert.equal(fleet.lines.at(-1)?.['unchanged'], 1);
  });

  it('of any view type are understood, and a removal clears what was due', async () => {
    for (const view of ['keys-only', 'new-image', 'old-image', 'new-and-old-images']) {
      const fleet = deployed();

      const answer = await fleet.route(sample(`catalog-stream/v1/samples/${view}.json`));

      assert.deepEqual(answer, { batchItemFailures: [] });
      assert.equal(fleet.lines.at(-1)?.['dropped'], 1);
      assert.deepEqual(fleet.letters(), []);
    }
  });

  it('of namespaces, and of tables that have no name for Firn, are done', async () => {
    const fleet = deployed();

    await fleet.route(sample('catalog-stream/v1/samples/namespace.json'));
    await fleet.route(sample('catalog-stream/v1/samples/unaddressable-table.json'));

    assert.deepEqual(fleet.letters(), []);
    assert.ok(Number(fleet.lines[0]?.['namespaceCount']) > 0);
    assert.equal(fleet.lines[1]?.['event'], 'table.unaddressable');
  });

  it('that are malformed become dead letters with a reason, and the others are done', async () => {
    const fleet = deployed();
    await fleet.createTable('db.a');
    const broken = streamRecord('db.a', 2, { eventName: 'TRUNCATE' });

    const answer = await fleet.ring(streamRecord('db.a', 1), broken, null);

    assert.deepEqual(answer, { batchItemFailures: [] });
    assert.deepEqual(fleet.rung(), ['db.a']);
    const [first, second] = fleet.letters();
    assert.deepEqual(JSON.parse(first?.body ?? ''), broken);
    assert.match(first?.reason ?? '', /^stream record: eventName: ./);
    assert.match(second?.reason ?? '', /^stream record: ./);
  });

  it('that no dead letter can be made of are handed back, by number or with the batch', async () => {
    const fleet = deployed({ queueFaults: { onDeadLetter: () => 'unavailable' } });
    await fleet.createTable('db.a');
    const broken = streamRecord('db.a', 2, { eventName: 'TRUNCATE' });

    assert.deepEqual(await fleet.ring(streamRecord('db.a', 1), broken), {
      batchItemFailures: [{ itemIdentifier: '2' }],
    });
    await assert.rejects(fleet.ring(null), errorOfKind('unavailable'));
  });

  it('whose look fails are handed back, all of the table, and no others', async () => {
    const unavailable = new Set(['db.b']);
    const fleet = deployed({ unavailable });
    await fleet.createTable('db.a');
    await fleet.createTable('db.c');
    const records = ['db.a', 'db.b', 'db.c', 'db.b'].map((table, index) =>
      streamRecord(table, index + 1),
    );

    const answer = await fleet.ring(...records);

    assert.deepEqual(answer, {
      batchItemFailures: [{ itemIdentifier: '2' }, { itemIdentifier: '4' }],
    });
    assert.deepEqual([...fleet.rung()].sort(), ['db.a', 'db.c']);
    assert.equal(fleet.lines[0]?.['event'], 'look.failed');
    assert.equal(fleet.lines[0]?.['level'], 'warn');
  });

  it('that no time is left for are handed back unread', async () => {
    const fleet = deployed();
    await fleet.createTable('db.a');

    const answer = await fleet.route({ Records: [streamRecord('db.a', 7)] }, () => 5_000);

    assert.deepEqual(answer, { batchItemFailures: [{ itemIdentifier: '7' }] });
    assert.deepEqual(fleet.rung(), []);
  });

  it('of a table whose metadata cannot be read are done, and it is told once', async () => {
    const fleet = deployed();
    await fleet.createTable('db.a', { 'firn.enabled': 'perhaps' });

    await fleet.ring(streamRecord('db.a', 1));
    fleet.clock.advanceMs(60_000);
    await fleet.ring(streamRecord('db.a', 2));

    const told = fleet.lines.filter((line) => line['event'] === 'table.unreadable');
    assert.deepEqual(
      told.map((line) => [line['level'], line['kind'], line['table']]),
      [['error', 'invalid-config', 'db.a']],
    );
  });
});

describe('a request', () => {
  it('to compact sends a message, with who asked and why', async () => {
    const fleet = deployed();

    const answer = await fleet.route(sample('firn-request/v1/samples/compact.json'));

    assert.equal(answer, undefined);
    assert.deepEqual(fleet.rung(), ['demo.events']);
    const [line] = fleet.lines;
    assert.deepEqual(
      [line?.['event'], line?.['outcome'], line?.['correlationId'], line?.['source']],
      ['request.routed', 'queued', '6a7e8feb-b491-4cf7-a9f1-bf3703467718', 'pipelines.backfill'],
    );
  });

  it('for what is not offered yet, or that is malformed, becomes a dead letter', async () => {
    const fleet = deployed();

    await fleet.route(sample('firn-request/v1/samples/expire.json'));
    await fleet.route(sample('firn-request/v1/samples/invalid/no-reason.json'));

    const [first, second] = fleet.letters();
    assert.equal(first?.reason, 'firn.request: expire is not offered yet');
    assert.match(second?.reason ?? '', /^firn\.request: detail\.reason: ./);
    assert.deepEqual(fleet.rung(), []);
  });

  it('is delivered again when the queue does not take it', async () => {
    const fleet = deployed({ queueFaults: { onSend: () => 'throttled' } });

    await assert.rejects(
      fleet.route(sample('firn-request/v1/samples/compact.json')),
      errorOfKind('unavailable'),
    );
  });
});

describe('anything else', () => {
  it('becomes a dead letter', async () => {
    const fleet = deployed();

    for (const event of [{}, null, 'text', { Records: 'none' }]) await fleet.route(event);

    assert.equal(fleet.letters().length, 4);
    assert.match(fleet.letters()[0]?.reason ?? '', /^event: neither records/);
    assert.match(fleet.letters()[3]?.reason ?? '', /^stream event: Records: ./);
  });
});

describe('what Lambda calls', () => {
  it('refuses to begin without a configuration', async () => {
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 1 };

    await assert.rejects(handler({}, context), errorOfKind('invalid-config'));
  });
});
