import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import {
  type InvocationReport,
  type LambdaContext,
  type LambdaFunction,
  LambdaHost,
  QueueSource,
  Schedule,
  StreamSource,
} from '../../local/lambda-host/index.ts';
import { ItemStream } from '../../local/stream/index.ts';
import { IcebergError, ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryQueue } from '../../shared/queue/index.ts';

const TIMEOUT_MS = 60_000;
const VISIBILITY_MS = 90_000;

function openHost() {
  const clock = new ManualClock(1_000_000);
  const random = seededRandom(1);
  const reports: InvocationReport[] = [];
  const host = new LambdaHost({ clock, random, onInvocation: (report) => reports.push(report) });
  const add = (handler: LambdaFunction['handler'], concurrencyMax = 10) =>
    host.addFunction({ name: 'f', timeoutMs: TIMEOUT_MS, concurrencyMax, handler });
  return { clock, random, host, reports, add };
}

function openQueueHost(
  handler: (event: SQSEvent, context: LambdaContext) => Promise<unknown>,
  options: { batchSizeMax?: number; concurrencyMax?: number; reserved?: number } = {},
) {
  const { clock, random, host, reports, add } = openHost();
  const limits = { visibilityTimeoutMs: VISIBILITY_MS, receiveCountMax: 3 };
  const queue = new MemoryQueue({ name: 'work', ...limits, clock, random });
  const target = add(handler, options.reserved);
  const { batchSizeMax = 1, concurrencyMax = 10 } = options;
  host.addSource(new QueueSource({ queue, target, batchSizeMax, concurrencyMax, clock }));
  const send = (...bodies: string[]) =>
    Promise.all(bodies.map((body) => queue.send({ body, groupId: `group-${body}` })));
  return { clock, host, reports, queue, send };
}

/** A handler that goes on when it is told to. */
function heldHandler() {
  const held: { body: string; context: LambdaContext; go: (answer?: unknown) => void }[] = [];
  const handler = (event: SQSEvent, context: LambdaContext) =>
    new Promise<unknown>((resolve) => {
      held.push({ body: event.Records[0]?.body ?? '', context, go: resolve });
    });
  return { held, handler };
}

describe('a function behind a queue', () => {
  test('gets each message once, as SQS events are, and the queue is empty then', async () => {
    const events: SQSEvent[] = [];
    const { host, queue, send, reports } = openQueueHost(async (event) => void events.push(event));
    await send('a', 'b');

    await host.runDue();

    const [record] = events[0]?.Records ?? [];
    assert.deepEqual(
      events.map((event) => event.Records.map(({ body }) => body)),
      [['a'], ['b']],
    );
    assert.equal(record?.eventSource, 'aws:sqs');
    assert.deepEqual(record?.attributes, {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1000000',
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: '1000000',
      MessageGroupId: 'group-a',
    });
    assert.deepEqual(queue.counts(), { visible: 0, hidden: 0, deadLetters: 0 });
    assert.deepEqual(
      reports.map(({ ended, failedCount }) => [ended, failedCount]),
      [
        ['returned', 0],
        ['returned', 0],
      ],
    );
  });

  test('gets a message again when it throws, until that is a dead letter', async () => {
    let callCount = 0;
    const { clock, host, queue, send, reports } = openQueueHost(async () => {
      callCount++;
      throw new IcebergError('unavailable', 'store: no answer');
    });
    await send('a');

    for (let round = 0; round < 5; round++) {
      await host.runDue();
      clock.advanceMs(VISIBILITY_MS);
    }

    assert.equal(callCount, 3);
    assert.equal(queue.deadLetters()[0]?.reason, 'received 3 times without success');
    assert.equal(reports[0]?.ended, 'threw');
    assert.equal(host.nextDueAtMs(), undefined);
  });

  test('gets again only what it says has failed', async () => {
    const batches: string[][] = [];
    const { clock, host, send } = openQueueHost(
      async (event) => {
        batches.push(event.Records.map(({ body }) => body));
        const failed = event.Records.filter(({ body }) => body === 'b');
        return {
          batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })),
        };
      },
      { batchSizeMax: 10 },
    );
    await send('a', 'b', 'c');

    await host.runDue();
    clock.advanceMs(VISIBILITY_MS);
    await host.runDue();

    assert.deepEqual(batches, [['a', 'b', 'c'], ['b']]);
  });

  for (const [what, answer] of [
    ['an id that is not in the batch', { batchItemFailures: [{ itemIdentifier: 'other' }] }],
    ['an empty id', { batchItemFailures: [{ itemIdentifier: '' }] }],
    ['no id', { batchItemFailures: [{}] }],
    ['no list', { batchItemFailures: 'all' }],
    ['no object', 'done'],
  ] as const) {
    test(`gets everything again when its answer has ${what}`, async () => {
      const { host, queue, send, reports } = openQueueHost(async () => answer, {
        batchSizeMax: 10,
      });
      await send('a', 'b');

      await host.runDue();

      assert.deepEqual(queue.counts(), { visible: 0, hidden: 2, deadLetters: 0 });
      assert.equal(reports[0]?.failedCount, 2);
    });
  }

  test('runs at most as often at a time as the source and its own reserve allow', async () => {
    for (const options of [{ concurrencyMax: 2 }, { reserved: 2 }]) {
      const { held, handler } = heldHandler();
      const { host, send } = openQueueHost(handler, options);
      await send('a', 'b', 'c');

      assert.equal(host.dispatch(), 2);
      assert.equal(host.dispatch(), 0);
      assert.equal(host.underWayCount(), 2);
      held[0]?.go();
      // Nothing of the host waits for timers: what was told to go on is over after a turn of the event loop.
      await new Promise(setImmediate);

      assert.equal(host.dispatch(), 1);
      assert.deepEqual(
        held.map(({ body }) => body),
        ['a', 'b', 'c'],
      );
    }
  });

  test('sees the time that is left to it', async () => {
    const { held, handler } = heldHandler();
    const { clock, host, send } = openQueueHost(handler);
    await send('a');
    host.dispatch();

    clock.advanceMs(20_000);

    assert.equal(held[0]?.context.getRemainingTimeInMillis(), TIMEOUT_MS - 20_000);
  });

  test('is given up after its deadline: the answer is discarded and the message comes again', async () => {
    const { held, handler } = heldHandler();
    const { clock, host, send, reports, queue } = openQueueHost(handler, { reserved: 1 });
    await send('a');
    host.dispatch();
    assert.equal(host.nextDueAtMs(), 1_000_000 + TIMEOUT_MS + 1);

    clock.advanceMs(TIMEOUT_MS + 1);
    assert.equal(host.dispatch(), 0);
    await host.settle();
    assert.deepEqual(
      reports.map(({ ended }) => ended),
      ['timed-out'],
    );
    held[0]?.go();
    await new Promise(setImmediate);
    assert.deepEqual(queue.counts(), { visible: 0, hidden: 1, deadLetters: 0 });

    clock.advanceMs(VISIBILITY_MS);
    assert.equal(host.dispatch(), 1);
    held[1]?.go();
    await host.settle();
    assert.deepEqual(queue.counts(), { visible: 0, hidden: 0, deadLetters: 0 });
  });

  test('has timed out when its answer comes after the deadline and nobody looked before', async () => {
    const { clock, host, send, reports } = openQueueHost(async () => {
      clock.advanceMs(TIMEOUT_MS + 1);
    });
    await send('a');

    await host.runDue();

    assert.deepEqual(
      reports.map(({ ended, failedCount, durationMs }) => [ended, failedCount, durationMs]),
      [['timed-out', 1, TIMEOUT_MS + 1]],
    );
  });

  test('cannot keep the host busy for ever at one point in time', async () => {
    const { host, queue, send } = openQueueHost(async (event) => {
      for (const { body } of event.Records) await queue.send({ body, groupId: 'again' });
    });
    await send('a');

    await assert.rejects(host.runDue(), { kind: 'unsupported' });
  });
});

function openStreamHost(
  handler: (event: DynamoDBStreamEvent) => Promise<unknown>,
  options: { batchSizeMax?: number; shardCount?: number; refusesLetters?: boolean } = {},
) {
  const { clock, random, host, reports, add } = openHost();
  const { batchSizeMax = 8, shardCount = 1, refusesLetters = false } = options;
  const deadLetters = new MemoryQueue({
    name: 'records',
    visibilityTimeoutMs: 1,
    receiveCountMax: 1,
    clock,
    random,
    faults: { onDeadLetter: () => (refusesLetters ? 'unavailable' : undefined) },
  });
  const stream = new ItemStream({
    tableName: 'iceberg',
    region: 'us-east-1',
    viewType: 'KEYS_ONLY',
    shardCount,
    clock,
    random,
  });
  const target = add(handler);
  host.addSource(
    new StreamSource({ stream, target, batchSizeMax, retryCountMax: 2, deadLetters, clock }),
  );
  const append = (...tables: string[]) => {
    for (const table of tables) {
      const keys = { identifier: { S: table }, namespace: { S: 'n' } };
      stream.append({ tableName: 'iceberg', keys, newImage: keys });
    }
  };
  /** Looks whenever something is due, for as long as it is. */
  const runToEnd = async (): Promise<void> => {
    for (let step = 0; step < 100; step++) {
      const nextMs = host.nextDueAtMs();
      if (nextMs === undefined) return;
      clock.advanceMs(Math.max(0, nextMs - clock.nowMs()));
      await host.runDue();
    }
  };
  return { clock, host, reports, deadLetters, append, runToEnd };
}

function tablesOf(event: DynamoDBStreamEvent): string[] {
  return event.Records.map(({ dynamodb }) => dynamodb?.Keys?.['identifier']?.S ?? '');
}

function failureOf(event: DynamoDBStreamEvent, table: string) {
  const record = event.Records[tablesOf(event).indexOf(table)];
  return { itemIdentifier: record?.dynamodb?.SequenceNumber ?? '' };
}

describe('a function behind a stream', () => {
  test('gets the records of a shard in batches, one after the other', async () => {
    const batches: string[][] = [];
    const { append, runToEnd } = openStreamHost(
      async (event) => void batches.push(tablesOf(event)),
      { batchSizeMax: 2 },
    );
    append('a', 'b', 'c');

    await runToEnd();

    assert.deepEqual(batches, [['a', 'b'], ['c']]);
  });

  test('goes on at the first record that it says has failed, after a wait', async () => {
    const batches: string[][] = [];
    const { clock, append, host, runToEnd } = openStreamHost(async (event) => {
      batches.push(tablesOf(event));
      if (batches.length > 1) return { batchItemFailures: [] };
      return { batchItemFailures: [failureOf(event, 'd'), failureOf(event, 'c')] };
    });
    append('a', 'b', 'c', 'd');

    await host.runDue();
    assert.equal(host.nextDueAtMs(), clock.nowMs() + 1_000);
    await runToEnd();

    assert.deepEqual(batches, [
      ['a', 'b', 'c', 'd'],
      ['c', 'd'],
    ]);
  });

  test('has a bad record singled out by halving, tried three times in all, and given up', async () => {
    const batches: string[] = [];
    const { append, runToEnd, deadLetters } = openStreamHost(async (event) => {
      batches.push(tablesOf(event).join(''));
      if (tablesOf(event).includes('x')) throw new TypeError('cannot read x');
    });
    append('a', 'b', 'c', 'd', 'e', 'x', 'g', 'h');

    await runToEnd();

    assert.deepEqual(batches, ['abcdexgh', 'abcd', 'exgh', 'ex', 'e', 'x', 'x', 'x', 'gh']);
    assert.match(deadLetters.deadLetters()[0]?.reason ?? '', /^record \d+ failed 3 times$/);
    assert.match(deadLetters.deadLetters()[0]?.body ?? '', /"identifier":\{"S":"x"\}/);
  });

  test('does not lose a record that cannot be given up', async () => {
    let callCount = 0;
    const { append, runToEnd, deadLetters } = openStreamHost(
      async () => {
        if (++callCount < 10) throw new TypeError('not yet');
      },
      { refusesLetters: true },
    );
    append('x');

    await runToEnd();

    assert.equal(callCount, 10);
    assert.deepEqual(deadLetters.deadLetters(), []);
  });

  test('is not held up in one shard by another', async () => {
    const seen = new Set<string>();
    const { append, host } = openStreamHost(
      async (event) => {
        if (tablesOf(event).includes('t0')) throw new TypeError('t0');
        for (const table of tablesOf(event)) seen.add(table);
      },
      { shardCount: 4, batchSizeMax: 1 },
    );
    append(...Array.from({ length: 20 }, (_, index) => `t${index}`));

    await host.runDue();

    assert.ok(seen.size >= 10, `${seen.size}`);
  });
});

describe('a schedule', () => {
  test('comes at its times and is not made up for', async () => {
    const { clock, host, add } = openHost();
    const events: unknown[] = [];
    const target = add(async (event) => void events.push(event));
    const event = { version: 1, sweep: 'due' };
    host.addSource(new Schedule({ target, event, everyMs: 300_000, clock }));

    await host.runDue();
    assert.deepEqual(events, []);
    assert.equal(host.nextDueAtMs(), 1_300_000);
    clock.advanceMs(300_000);
    await host.runDue();
    assert.deepEqual(events, [event]);
    clock.advanceMs(1_000_000);
    await host.runDue();

    assert.equal(events.length, 2);
    assert.equal(host.nextDueAtMs(), 2_500_000);
  });

  test('waits for capacity, and a failure ends nothing', async () => {
    const { clock, host, add, reports } = openHost();
    let go = (): void => {};
    const target = add(
      () =>
        new Promise((_, reject) => {
          go = () => reject(new TypeError('sweep'));
        }),
      1,
    );
    host.addSource(new Schedule({ target, event: {}, everyMs: 10_000, clock }));

    clock.advanceMs(10_000);
    assert.equal(host.dispatch(), 1);
    clock.advanceMs(10_000);
    assert.equal(host.dispatch(), 0);
    go();
    await host.settle();
    assert.equal(host.dispatch(), 1);
    go();
    await host.settle();

    assert.deepEqual(
      reports.map(({ ended, failedCount }) => [ended, failedCount]),
      [
        ['threw', 1],
        ['threw', 1],
      ],
    );
  });
});
