import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IcebergError, type Random } from '../../shared/base/index.ts';
import { S3_RETRY_POLICY, withRetries } from '../../shared/storage/retry.ts';

/** Always the largest fraction below one. */
const LARGEST: Random = { bytes: (lengthBytes) => new Uint8Array(lengthBytes).fill(0xff) };
const SMALLEST: Random = { bytes: (lengthBytes) => new Uint8Array(lengthBytes) };

function waitingClock(nowMs = 0) {
  const waits: number[] = [];
  const clock = {
    nowMs: () => nowMs,
    sleepMs: (durationMs: number) => {
      waits.push(durationMs);
      nowMs += durationMs;
      return Promise.resolve();
    },
  };
  return { clock, waits };
}

function failing(kind: 'unavailable' | 'access-denied') {
  return () => Promise.reject(new IcebergError(kind, 'it: fails'));
}

describe('withRetries', () => {
  it('doubles the limit of its waits, and stops after the last attempt', async () => {
    const { clock, waits } = waitingClock();
    const retry = { clock, random: LARGEST, policy: S3_RETRY_POLICY };

    await assert.rejects(withRetries(retry, failing('unavailable')), { kind: 'unavailable' });

    assert.deepEqual(waits, [99, 199, 399, 799, 1599, 3199, 6399]);
  });

  it('waits a random part of the limit, down to nothing', async () => {
    const { clock, waits } = waitingClock();
    const retry = { clock, random: SMALLEST, policy: S3_RETRY_POLICY };

    await assert.rejects(withRetries(retry, failing('unavailable')));

    assert.deepEqual(waits, Array(7).fill(0));
  });

  it('starts no attempt after the total time', async () => {
    const { clock, waits } = waitingClock();
    const policy = { attemptCountMax: 100, waitMsMin: 100, waitMsMax: 1000, totalMsMax: 2500 };

    await assert.rejects(withRetries({ clock, random: LARGEST, policy }, failing('unavailable')));

    assert.deepEqual(waits, [99, 199, 399, 799, 999]);
  });

  it('does not repeat what fails otherwise', async () => {
    const { clock, waits } = waitingClock();
    const retry = { clock, random: LARGEST, policy: S3_RETRY_POLICY };

    await assert.rejects(withRetries(retry, failing('access-denied')), { kind: 'access-denied' });

    assert.deepEqual(waits, []);
  });

  it('returns the first result, and tells the attempt', async () => {
    const { clock } = waitingClock();
    const retry = { clock, random: SMALLEST, policy: S3_RETRY_POLICY };

    const attempt = await withRetries(retry, async (count) => {
      if (count < 3) await failing('unavailable')();
      return count;
    });

    assert.equal(attempt, 3);
  });
});
