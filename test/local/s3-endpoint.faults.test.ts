import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { ManualClock } from '../../shared/base/index.ts';
import { openS3 } from '../storage/s3-support.ts';

const command = new PutObjectCommand({ Bucket: 'bucket', Key: 'a', Body: 'hello' });

describe('local S3 endpoint: faults and counters', () => {
  it('answers with the error of a fault, and does not carry the request out', async () => {
    const answer = { status: 409, code: 'ConditionalRequestConflict' };
    await using s3 = await openS3({
      faults: ({ operation }) => (operation === 'PutObject' ? { answer } : undefined),
    });

    await assert.rejects(s3.client.send(command), { name: 'ConditionalRequestConflict' });

    await assert.rejects(s3.store.head('s3://bucket/a'), { kind: 'not-found' });
  });

  for (const answer of ['dropped', { status: 503, code: 'SlowDown' }] as const) {
    const title = answer === 'dropped' ? 'breaking the connection' : 'answering 503';
    it(`carries a request out before ${title} when the fault says so`, async () => {
      await using s3 = await openS3({
        faults: ({ operation }) =>
          operation === 'PutObject' ? { answer, takesEffect: true } : undefined,
      });

      await assert.rejects(s3.client.send(command));

      assert.equal((await s3.store.head('s3://bucket/a')).fileSizeBytes, 5);
    });
  }

  it('lets latency pass on its clock', async () => {
    const clock = new ManualClock(1_000_000);
    await using s3 = await openS3({ clock, faults: () => ({ latencyMs: 250 }) });

    await s3.client.send(command);

    assert.equal(clock.nowMs(), 1_000_250);
    assert.equal((await s3.store.head('s3://bucket/a')).lastModifiedMs, 1_000_000);
  });

  it('tells the fault hook what is asked and how often it was asked before', async () => {
    const seen: unknown[] = [];
    await using s3 = await openS3({
      faults: (request) => {
        seen.push(request);
        return undefined;
      },
    });

    await s3.client.send(command);
    await s3.client.send(command);

    const facts = { operation: 'PutObject', bucket: 'bucket', key: 'a' };
    assert.deepEqual(seen, [
      { ...facts, operationIndex: 0 },
      { ...facts, operationIndex: 1 },
    ]);
  });

  it('counts requests by operation and bytes in both directions', async () => {
    await using s3 = await openS3();

    await s3.client.send(command);
    await s3.store.read('s3://bucket/a', 5);
    await s3.store.readRange('s3://bucket/a', 1, 2);

    assert.equal(s3.server.counters.requests.PutObject, 1);
    assert.equal(s3.server.counters.requests.GetObject, 2);
    assert.equal(s3.server.counters.bytesReceived, 5);
    assert.equal(s3.server.counters.bytesSent, 7);
  });
});
