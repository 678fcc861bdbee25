import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IcebergError, ManualClock } from '../../shared/base/index.ts';
import { Heartbeat } from '../../shared/queue/index.ts';

type Answer = 'extended' | 'gone' | 'unavailable';

function open(answers: Answer[] = []) {
  const clock = new ManualClock(0);
  const extensions: [receiptHandle: string, visibilityMs: number][] = [];
  const heartbeat = new Heartbeat({
    queue: {
      extendVisibility: async (receiptHandle, visibilityMs) => {
        extensions.push([receiptHandle, visibilityMs]);
        const answer = answers.shift() ?? 'extended';
        if (answer === 'unavailable') throw new IcebergError('unavailable', 'queue: no answer');
        return answer;
      },
    },
    receiptHandle: 'receipt',
    visibilityMs: 90_000,
    clock,
  });
  return { clock, heartbeat, extensions };
}

describe('Heartbeat', () => {
  test('asks for more time when a third of it is over, and not before', async () => {
    const { clock, heartbeat, extensions } = open();

    clock.advanceMs(29_999);
    assert.equal(await heartbeat.beat(), 'hidden');
    assert.deepEqual(extensions, []);
    clock.advanceMs(1);
    assert.equal(await heartbeat.beat(), 'hidden');
    assert.equal(await heartbeat.beat(), 'hidden');

    assert.deepEqual(extensions, [['receipt', 90_000]]);
  });

  test('asks once when many beat at the same time', async () => {
    const { clock, heartbeat, extensions } = open();
    clock.advanceMs(60_000);

    await Promise.all([heartbeat.beat(), heartbeat.beat(), heartbeat.beat()]);

    assert.equal(extensions.length, 1);
  });

  test('asks again at the next beat after one that did not arrive', async () => {
    const { clock, heartbeat, extensions } = open(['unavailable']);
    clock.advanceMs(30_000);

    assert.equal(await heartbeat.beat(), 'failed');
    assert.equal(await heartbeat.beat(), 'hidden');

    assert.equal(extensions.length, 2);
  });

  test('gives up a message that is gone', async () => {
    const { clock, heartbeat, extensions } = open(['gone']);
    clock.advanceMs(30_000);

    assert.equal(await heartbeat.beat(), 'gone');
    clock.advanceMs(90_000);
    assert.equal(await heartbeat.beat(), 'gone');

    assert.equal(extensions.length, 1);
  });

  test('lets a mistake in a program through', async () => {
    const clock = new ManualClock(0);
    const queue = { extendVisibility: () => Promise.reject(new TypeError('x is not a function')) };
    const heartbeat = new Heartbeat({ queue, receiptHandle: 'r', visibilityMs: 3, clock });
    clock.advanceMs(1);

    await assert.rejects(heartbeat.beat(), TypeError);
  });
});
