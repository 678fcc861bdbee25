import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapConcurrent } from '../../shared/base/index.ts';

test('results come in item order, whatever order the work ends in', async () => {
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const results = mapConcurrent(gates, { concurrencyMax: 4 }, async (gate, index) => {
    await gate.promise;
    return index * 10;
  });
  for (const gate of gates.toReversed()) gate.resolve();

  assert.deepEqual(await results, [0, 10, 20, 30]);
});

test('never more than concurrencyMax at a time, and that many when there is enough', async () => {
  for (const concurrencyMax of [1, 3, 100]) {
    let running = 0;
    let runningMax = 0;
    await mapConcurrent(Array.from({ length: 20 }), { concurrencyMax }, async () => {
      runningMax = Math.max(runningMax, ++running);
      await Promise.resolve();
      running--;
    });

    assert.equal(runningMax, Math.min(concurrencyMax, 20));
  }
});

test('no items: no work', async () => {
  const results = await mapConcurrent([], { concurrencyMax: 2 }, () => assert.fail('called'));

  assert.deepEqual(results, []);
});

test('after a failure nothing new starts, what runs is waited for, and the first failure is thrown', async () => {
  const started: number[] = [];
  const slow = Promise.withResolvers<void>();
  let isSlowDone = false;
  const work = mapConcurrent([0, 1, 2, 3], { concurrencyMax: 2 }, async (item) => {
    started.push(item);
    if (item === 0) {
      await slow.promise;
      isSlowDone = true;
      throw new RangeError('second');
    }
    throw new TypeError('first');
  });
  const outcome = work.then(
    () => assert.fail('resolved'),
    (error: unknown) => ({ error, isSlowDone }),
  );
  await Promise.resolve();
  slow.resolve();

  const { error, isSlowDone: wasSlowDone } = await outcome;
  assert.ok(error instanceof TypeError);
  assert.equal(wasSlowDone, true);
  assert.deepEqual(started, [0, 1]);
});

test('a function that throws before its first await fails the call, not the caller', async () => {
  const work = mapConcurrent([1], { concurrencyMax: 1 }, () => {
    throw new TypeError('at once');
  });

  await assert.rejects(work, TypeError);
});

test('a failure with undefined is a failure', async () => {
  const work = mapConcurrent([1], { concurrencyMax: 1 }, () => Promise.reject(undefined));

  assert.equal(await work.catch((error: unknown) => [error]).then((caught) => caught.length), 1);
});

test('stops at a concurrency below 1', async () => {
  for (const concurrencyMax of [0, -1, Number.NaN]) {
    await assert.rejects(
      mapConcurrent([1], { concurrencyMax }, async () => 1),
      { name: 'AssertionFailed' },
    );
  }
});
