import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createHandler as createRewrite } from '../../functions/rewrite-data-files/handler.ts';
import { createHandler as createRouter } from '../../functions/route-events/handler.ts';
import { createHandler as createSweep } from '../../functions/sweep-tables/handler.ts';
import { DEFAULT_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import { createFleet, streamRecord } from './fleet-fixture.ts';

const TABLE = 'db.t';
const MINUTE_MS = 60_000;

/** What may happen to a table and to what rings for it, in any order. */
const step = fc.oneof(
  { arbitrary: fc.constant('commit' as const), weight: 5 },
  { arbitrary: fc.constant('ring' as const), weight: 4 },
  { arbitrary: fc.constant('deliver' as const), weight: 3 },
  { arbitrary: fc.constant('deliver-twice' as const), weight: 1 },
  { arbitrary: fc.constant('deliver-late' as const), weight: 1 },
  { arbitrary: fc.constant('lose' as const), weight: 3 },
  { arbitrary: fc.constant('crash' as const), weight: 2 },
  { arbitrary: fc.constant('out-of-time' as const), weight: 1 },
  { arbitrary: fc.constant('due' as const), weight: 2 },
  { arbitrary: fc.constant('catalog' as const), weight: 1 },
  { arbitrary: fc.constant('wait' as const), weight: 4 },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function deployed(isAllowed: boolean) {
  const fleet = createFleet({
    settings: { enabledTables: isAllowed ? [TABLE] : [], guards: DEFAULT_GUARD_SETTINGS },
  });
  const { clock, deployment, queue } = fleet;
  const outcomes: string[] = [];
  const rewrite = createRewrite({
    ...deployment,
    onOutcome: (_, { outcome }) => outcomes.push(outcome),
  });
  const route = createRouter(deployment);
  const sweep = createSweep(deployment);
  const context = (remainingMs = 900_000) => ({
    awsRequestId: 'request',
    getRemainingTimeInMillis: () => remainingMs,
  });
  /** What the queue has, handled; a message that is handed back, or not deleted, comes again. */
  const deliver = async (remainingMs?: number, isDeleted = true): Promise<number> => {
    const messages = queue.receive({ countMax: 10 });
    for (const { body, receiptHandle, sentAtMs, receiveCount } of messages) {
      const record = {
        messageId: receiptHandle,
        receiptHandle,
        body,
        attributes: {
          ApproximateReceiveCount: String(receiveCount),
          SentTimestamp: String(sentAtMs),
          SenderId: 'test',
          ApproximateFirstReceiveTimestamp: String(sentAtMs),
        },
        messageAttributes: {},
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:rewrite-data-files',
        awsRegion: 'us-east-1',
      };
      const answer = await rewrite({ Records: [record] }, context(remainingMs));
      if (answer.batchItemFailures.length === 0 && isDeleted) queue.delete(receiptHandle);
    }
    return messages.length;
  };
  return { ...fleet, clock, outcomes, deliver, route, sweep, context };
}

type Deployed = ReturnType<typeof deployed>;

async function take(each: Step, world: Deployed, commit: () => Promise<void>): Promise<void> {
  const { clock, queue, route, sweep, deliver, context } = world;
  switch (each) {
    case 'commit':
      clock.advanceMs(20_000);
      return commit();
    case 'ring':
      await route({ Records: [streamRecord(TABLE, 1)] }, context());
      return;
    case 'deliver':
      await deliver();
      return;
    case 'deliver-twice':
      await deliver(undefined, false);
      return;
    case 'deliver-late':
      clock.advanceMs(40 * MINUTE_MS);
      await deliver();
      return;
    case 'lose':
      for (const { receiptHandle } of queue.receive({ countMax: 10 })) queue.delete(receiptHandle);
      return;
    case 'crash':
      // Received, and never heard of again: visible once its time is over.
      queue.receive({ countMax: 10 });
      return;
    case 'out-of-time':
      await deliver(31_000);
      return;
    case 'due':
    case 'catalog':
      await sweep({ version: 1, sweep: each }, context());
      return;
    case 'wait':
      clock.advanceMs(7 * MINUTE_MS);
  }
}

/** Sweeps and deliveries until nothing is due, at any time, and nothing is on its way; how often. */
async function settle(world: Deployed): Promise<number> {
  const { clock, ledger, queue, sweep, deliver, context } = world;
  for (let round = 1; round <= 600; round++) {
    const event = { version: 1, sweep: round % 12 === 1 ? 'catalog' : 'due' };
    await sweep(event, context());
    await deliver();
    clock.advanceMs(5 * MINUTE_MS);
    const query = { dueAtMsMax: Number.MAX_SAFE_INTEGER, tableCountMax: 1 };
    const { tables } = await ledger.states.listDue(query);
    const { visible, hidden } = queue.counts();
    if (tables.length + visible + hidden === 0) return round;
  }
  assert.fail('the table does not come to rest');
}

describe('when faults stop', () => {
  for (const isAllowed of [true, false]) {
    it(`a table that is ${isAllowed ? 'allowed' : 'observed'} comes to rest, and stays there`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const world = deployed(isAllowed);
          const writer = await world.createTable(TABLE);
          let rowCount = 1n;
          const commit = async (): Promise<void> => {
            await writer.append([{ rows: [{ 1: ++rowCount }] }]);
          };
          for (const each of steps) await take(each, world, commit);

          await settle(world);

          const { metadata, metadataLocation } = await writer.load();
          const { summary } = snapshotOfRef(metadata) ?? {};
          assert.equal(summary?.['total-records'], String(rowCount));
          // Below five files in a partition there is nothing that the operation would do.
          if (isAllowed) assert.ok(Number(summary?.['total-data-files']) < 5);
          else assert.ok(!world.outcomes.includes('committed'));
          const runCount = world.outcomes.length;
          world.clock.advanceMs(24 * 60 * MINUTE_MS);
          assert.ok((await settle(world)) === 1);
          assert.equal(world.outcomes.length, runCount);
          assert.equal((await writer.load()).metadataLocation, metadataLocation);
        }),
        { seed: 4, numRuns: 40 },
      );
    });
  }
});
