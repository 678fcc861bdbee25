import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deadlineAfter,
  ManualClock,
  NO_DEADLINE,
  requireTime,
  systemClock,
} from '../../shared/base/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

test('ManualClock moves when told to, and by what is slept', async () => {
  const clock = new ManualClock(1000);
  clock.advanceMs(5);
  await clock.sleepMs(10);

  assert.equal(clock.nowMs(), 1015);
});

test('systemClock gives whole milliseconds, and sleeps', async () => {
  const startMs = systemClock.nowMs();
  await systemClock.sleepMs(0);

  assert.ok(Number.isSafeInteger(startMs));
  assert.ok(startMs > Date.UTC(2024, 0));
});

test('a deadline counts down on its clock, below zero', () => {
  const clock = new ManualClock(1000);
  const deadline = deadlineAfter(clock, 100);
  assert.equal(deadline.remainingMs(), 100);

  clock.advanceMs(130);

  assert.equal(deadline.remainingMs(), -30);
});

test('requireTime lets a step begin that just fits', () => {
  const deadline = deadlineAfter(new ManualClock(0), 100);

  requireTime(deadline, 100, 'commit');
  assert.throws(
    () => requireTime(deadline, 101, 'commit'),
    errorOfKind('deadline', /^commit: needs 101 ms, 100 ms are left$/),
  );
});

test('NO_DEADLINE has time for everything', () => {
  requireTime(NO_DEADLINE, 10 ** 12, 'anything');
});
