import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { DeadLetter, MessageQueue } from '../../shared/queue/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

/** A message as whoever consumes the queue gets it, without the port. */
export interface DeliveredMessage {
  readonly body: string;
  readonly groupId: string;
  readonly receiptHandle: string;
}

export interface QueueHarness {
  /** An empty queue, whose messages are hidden for half a minute when they are received. */
  readonly queue: MessageQueue;
  /** The next message that is visible, now hidden; undefined when there is none. */
  receive(): Promise<DeliveredMessage | undefined>;
  delete(receiptHandle: string): Promise<void>;
  /** Takes everything out of the queue of dead letters. */
  takeDeadLetters(): Promise<readonly DeadLetter[]>;
  close(): Promise<void>;
}

/** The contract of `MessageQueue`, on any adapter. Every test leaves the queue empty. */
export function testQueueConformance(adapter: string, open: () => Promise<QueueHarness>): void {
  describe(`${adapter}: queue conformance`, () => {
    let harness: QueueHarness;
    before(async () => {
      harness = await open();
    });
    after(async () => {
      await harness.close();
    });

    const sendAndReceive = async (body: string, groupId: string): Promise<DeliveredMessage> => {
      await harness.queue.send({ body, groupId });
      const message = await harness.receive();
      assert.ok(message !== undefined);
      return message;
    };

    test('delivers a body unchanged, with its group', async () => {
      const body = '{"table":"demo.späte klicks \u{1f9ca}","text":"a\\u0000<&>\\"\\t"}\n\r';

      const message = await sendAndReceive(body, 'demo.events');
      await harness.delete(message.receiptHandle);

      assert.equal(message.body, body);
      assert.equal(message.groupId, 'demo.events');
    });

    test('hides a message from others while it is worked on, and forgets one that is deleted', async () => {
      const message = await sendAndReceive('work', 'demo.events');

      assert.equal(await harness.receive(), undefined);
      await harness.delete(message.receiptHandle);
      assert.equal(await harness.receive(), undefined);
    });

    test('extends the time of a message that is in flight', async () => {
      const message = await sendAndReceive('work', 'demo.events');

      assert.equal(await harness.queue.extendVisibility(message.receiptHandle, 60_000), 'extended');
      assert.equal(await harness.receive(), undefined);
      await harness.delete(message.receiptHandle);
    });

    test('says that a message that was deleted is gone', async () => {
      const message = await sendAndReceive('work', 'demo.events');
      await harness.delete(message.receiptHandle);

      assert.equal(await harness.queue.extendVisibility(message.receiptHandle, 60_000), 'gone');
    });

    test('takes any table as a group', async () => {
      for (const groupId of ['späte.klicks', `lake.${'t'.repeat(300)}`, 'a.b c', '\u{1f9ca}.t']) {
        const message = await sendAndReceive('work', groupId);
        await harness.delete(message.receiptHandle);

        assert.equal(message.body, 'work');
      }
    });

    test('keeps a dead letter with its reason', async () => {
      const letter = {
        body: '{"broken":',
        groupId: 'demo.events',
        reason: 'is no JSON: ü \u{1f9ca}',
      };

      await harness.queue.sendToDeadLetters(letter);

      assert.deepEqual(await harness.takeDeadLetters(), [letter]);
      assert.equal(await harness.receive(), undefined);
    });

    test('makes a dead letter fit, and says what was changed', async () => {
      const groupId = 'demo.events';
      await harness.queue.sendToDeadLetters({ body: '', groupId, reason: 'nothing' });
      await harness.queue.sendToDeadLetters({
        body: 'a\u0000\ud800b',
        groupId,
        reason: 'odd\u0007',
      });
      const long = '\u{1f9ca}'.repeat(100_000);
      await harness.queue.sendToDeadLetters({ body: long, groupId, reason: 'r'.repeat(2_000) });

      const letters = [...(await harness.takeDeadLetters())];
      letters.sort((one, other) => one.body.length - other.body.length);

      assert.deepEqual(letters.slice(0, 2), [
        { body: 'a\ufffd\ufffdb', groupId, reason: 'odd\ufffd (characters replaced)' },
        { body: '(empty)', groupId, reason: 'nothing (empty)' },
      ]);
      assert.equal(letters[2]?.reason, `${'r'.repeat(1_024)} (cut from 400000 bytes)`);
      assert.equal(letters[2]?.body, '\u{1f9ca}'.repeat(63_488));
    });

    for (const [what, body] of [
      ['is empty', ''],
      ['has a control character', 'a\u0000'],
      ['has half a character', 'a\ud800'],
      ['is too long', 'a'.repeat(256 * 1024 + 1)],
    ] as const) {
      test(`refuses a message that ${what}`, async () => {
        const sent = harness.queue.send({ body, groupId: 'demo.events' });

        await assert.rejects(sent, errorOfKind('invalid-data'));
        assert.equal(await harness.receive(), undefined);
      });
    }

    test('takes a message of 256 KiB', async () => {
      const message = await sendAndReceive('a'.repeat(256 * 1024), 'demo.events');
      await harness.delete(message.receiptHandle);

      assert.equal(message.body.length, 256 * 1024);
    });
  });
}
