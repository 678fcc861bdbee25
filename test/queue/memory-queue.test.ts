import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, randomFraction, seededRandom } from '../../shared/base/index.ts';
import {
  MemoryQueue,
  type QueueFaults,
  type ReceivedMessage,
  type SendFault,
} from '../../shared/queue/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testQueueConformance } from './message-queue.conformance.ts';

const VISIBILITY_MS = 30_000;

function open(faults: QueueFaults = {}, receiveCountMax = 3) {
  const clock = new ManualClock(1_000_000);
  const queue = new MemoryQueue({
    name: 'rewrite-data-files',
    visibilityTimeoutMs: VISIBILITY_MS,
    receiveCountMax,
    clock,
    random: seededRandom(1),
    faults,
  });
  const receiveOne = (): ReceivedMessage | undefined => queue.receive({ countMax: 1 })[0];
  return { clock, queue, receiveOne };
}

testQueueConformance('memory', async () => {
  const { queue, receiveOne } = open();
  let takenCount = 0;
  return {
    queue,
    receive: async () => receiveOne(),
    delete: async (receiptHandle) => queue.delete(receiptHandle),
    takeDeadLetters: async () => {
      const letters = queue.deadLetters().slice(takenCount);
      takenCount += letters.length;
      return letters;
    },
    close: async () => {},
  };
});

describe('MemoryQueue', () => {
  test('delivers again when the visibility timeout is over, under another receipt', async () => {
    const { clock, queue, receiveOne } = open();
    await queue.send({ body: 'work', groupId: 'a.t' });
    const first = receiveOne();

    clock.advanceMs(VISIBILITY_MS - 1);
    assert.equal(receiveOne(), undefined);
    clock.advanceMs(1);
    const second = receiveOne();

    assert.equal(second?.messageId, first?.messageId);
    assert.notEqual(second?.receiptHandle, first?.receiptHandle);
    assert.deepEqual([first?.receiveCount, second?.receiveCount], [1, 2]);
    assert.equal(second?.firstReceivedAtMs, 1_000_000);
    assert.equal(await queue.extendVisibility(first?.receiptHandle ?? '', 1_000), 'gone');
    queue.delete(first?.receiptHandle ?? '');
    assert.deepEqual(queue.counts(), { visible: 0, hidden: 1, deadLetters: 0 });
  });

  test('hides a message for as long as an extension says, counted from the extension', async () => {
    const { clock, queue, receiveOne } = open();
    await queue.send({ body: 'work', groupId: 'a.t' });
    const message = receiveOne();

    clock.advanceMs(20_000);
    await queue.extendVisibility(message?.receiptHandle ?? '', VISIBILITY_MS);

    assert.equal(queue.nextVisibleAtMs(), 1_050_000);
    clock.advanceMs(VISIBILITY_MS);
    assert.equal(await queue.extendVisibility(message?.receiptHandle ?? '', 1_000), 'gone');
    assert.equal(receiveOne()?.receiveCount, 2);
  });

  test('turns a message into a dead letter after its last receive', async () => {
    const { clock, queue, receiveOne } = open({}, 3);
    await queue.send({ body: 'poison', groupId: 'a.t' });

    for (let receive = 1; receive <= 3; receive++) {
      assert.equal(receiveOne()?.receiveCount, receive);
      clock.advanceMs(VISIBILITY_MS);
    }

    assert.equal(receiveOne(), undefined);
    assert.deepEqual(queue.deadLetters(), [
      { body: 'poison', groupId: 'a.t', reason: 'received 3 times without success' },
    ]);
    assert.equal(queue.nextVisibleAtMs(), undefined);
  });

  test('serves a quiet group before the backlog of a busy one', async () => {
    const { queue, receiveOne } = open();
    for (let count = 0; count < 50; count++)
      await queue.send({ body: `${count}`, groupId: 'busy.t' });
    receiveOne();
    await queue.send({ body: 'quiet', groupId: 'quiet.t' });

    assert.equal(receiveOne()?.groupId, 'quiet.t');
    assert.equal(receiveOne()?.groupId, 'busy.t');
  });

  test('takes turns between groups, whatever their backlogs, when one message is handled at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 5 }),
        async (backlogs) => {
          const { queue, receiveOne } = open();
          for (const [group, count] of backlogs.entries()) {
            for (let index = 0; index < count; index++)
              await queue.send({ body: 'b', groupId: `g${group}` });
          }

          const served: string[] = [];
          for (let message = receiveOne(); message !== undefined; message = receiveOne()) {
            served.push(message.groupId);
            queue.delete(message.receiptHandle);
          }

          // Every group has had its first turn before any group has its second.
          assert.equal(new Set(served.slice(0, backlogs.length)).size, backlogs.length);
          assert.equal(
            served.length,
            backlogs.reduce((sum, count) => sum + count, 0),
          );
        },
      ),
      { seed: 3, numRuns: 50 },
    );
  });

  for (const [fault, outcome] of [
    ['throttled', { isRefused: true, deliveries: 0 }],
    ['answer-lost', { isRefused: true, deliveries: 1 }],
    ['vanished', { isRefused: false, deliveries: 0 }],
    ['doubled', { isRefused: false, deliveries: 2 }],
    [{ delayMs: 5_000 }, { isRefused: false, deliveries: 0 }],
  ] as const) {
    test(`can send with the fault ${JSON.stringify(fault)}`, async () => {
      const faults: (SendFault | undefined)[] = [fault];
      const { clock, queue } = open({ onSend: () => faults.shift() });

      const sent = queue.send({ body: 'work', groupId: 'a.t' });
      if (outcome.isRefused) await assert.rejects(sent, errorOfKind('unavailable'));
      else await sent;

      assert.equal(queue.receive({ countMax: 10 }).length, outcome.deliveries);
      clock.advanceMs(5_000);
      assert.equal(queue.receive({ countMax: 10 }).length, typeof fault === 'object' ? 1 : 0);
    });
  }

  test('can deliver twice, lose an extension, and turn a dead letter away', async () => {
    const deliveries: ('doubled' | undefined)[] = ['doubled'];
    const { queue } = open({
      onDelivery: () => deliveries.shift(),
      onExtend: () => 'unavailable',
      onDeadLetter: () => 'unavailable',
    });
    const letter = { body: 'work', groupId: 'a.t', reason: 'r' };
    await queue.send(letter);

    const received = queue.receive({ countMax: 10 });

    assert.equal(received.length, 2);
    assert.equal(received[0]?.messageId, received[1]?.messageId);
    const handle = received[0]?.receiptHandle ?? '';
    await assert.rejects(queue.extendVisibility(handle, 1_000), errorOfKind('unavailable'));
    await assert.rejects(queue.sendToDeadLetters(letter), errorOfKind('unavailable'));
    assert.deepEqual(queue.deadLetters(), []);
  });

  test('loses nothing and keeps nothing, whatever workers do', async () => {
    const random = seededRandom(17);
    const { clock, queue } = open(
      {
        onSend: () => (randomFraction(random) < 0.2 ? 'doubled' : undefined),
        onDelivery: () => (randomFraction(random) < 0.2 ? 'doubled' : undefined),
      },
      1_000,
    );
    const done = new Set<string>();
    for (let index = 0; index < 100; index++) {
      await queue.send({ body: `${index}`, groupId: `g${index % 7}` });
    }

    for (let step = 0; step < 5_000 && queue.nextVisibleAtMs() !== undefined; step++) {
      for (const { body, receiptHandle } of queue.receive({ countMax: 5 })) {
        if (randomFraction(random) < 0.5) continue;
        done.add(body);
        queue.delete(receiptHandle);
      }
      clock.advanceMs(Math.floor(randomFraction(random) * VISIBILITY_MS));
    }

    assert.equal(done.size, 100);
    assert.deepEqual(queue.counts(), { visible: 0, hidden: 0, deadLetters: 0 });
  });
});
