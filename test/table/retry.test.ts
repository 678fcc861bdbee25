import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Random } from '../../shared/base/index.ts';
import { commitRetry } from '../../shared/table/retry.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const NO_JITTER: Random = { bytes: (lengthBytes) => new Uint8Array(lengthBytes) };
const FULL_JITTER: Random = { bytes: (lengthBytes) => new Uint8Array(lengthBytes).fill(0xff) };

describe('commitRetry', () => {
  it('doubles the wait from 100 ms to a minute, without end', () => {
    const retry = commitRetry({});

    assert.deepEqual(
      [1, 2, 3, 4, 5, 10, 11, 100].map((attempt) => retry.waitMs(attempt, 0, NO_JITTER)),
      [100, 200, 400, 800, 1600, 51_200, 60_000, 60_000],
    );
  });

  it('makes no more retries than the table says', () => {
    const retry = commitRetry({ 'commit.retry.num-retries': '2' });

    assert.deepEqual(
      [1, 2, 3].map((attempt) => retry.waitMs(attempt, 0, NO_JITTER)),
      [100, 200, undefined],
    );
  });

  it('adds less than a tenth', () => {
    assert.equal(commitRetry({}).waitMs(1, 0, FULL_JITTER), 109);
  });

  it('bounds the wait by its maximum', () => {
    const retry = commitRetry({ 'commit.retry.max-wait-ms': '250' });

    assert.equal(retry.waitMs(4, 0, NO_JITTER), 250);
  });

  it('ends when the total time is over, but not before a second attempt', () => {
    const retry = commitRetry({ 'commit.retry.total-timeout-ms': '1000' });

    assert.equal(retry.waitMs(1, 5000, NO_JITTER), 100);
    assert.equal(retry.waitMs(2, 1000, NO_JITTER), 200);
    assert.equal(retry.waitMs(2, 1001, NO_JITTER), undefined);
  });

  it('makes one attempt when there are no retries', () => {
    assert.equal(
      commitRetry({ 'commit.retry.num-retries': '0' }).waitMs(1, 0, NO_JITTER),
      undefined,
    );
  });

  it('refuses a malformed property', () => {
    assert.throws(
      () => commitRetry({ 'commit.retry.min-wait-ms': 'soon' }),
      errorOfKind('invalid-config'),
    );
  });
});
