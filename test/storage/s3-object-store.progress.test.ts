import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patternBytes } from './object-store.conformance.ts';
import { openS3 } from './s3-support.ts';

const PART_BYTES = 8 * 2 ** 20;

/** Far more than it takes to send a part. */
const WRITES_MAX = 50_000;

describe('a writer of S3ObjectStore whose caller only computes between its writes', () => {
  it('lets the part under way get on', async () => {
    await using s3 = await openS3();
    const writer = s3.store.openWriter('s3://bucket/a');
    await writer.write(patternBytes(PART_BYTES + 1));
    const isSent = (): boolean => s3.server.counters.bytesReceived >= PART_BYTES;

    for (let count = 0; count < WRITES_MAX && !isSent(); count++) {
      await writer.write(patternBytes(1));
    }

    assert.ok(isSent(), `${s3.server.counters.bytesReceived} bytes of the part arrived`);
    await writer.abort();
  });

  it('lets a read under way get on', async () => {
    await using s3 = await openS3();
    await s3.store.write('s3://bucket/a', patternBytes(1000));
    let isRead = false;
    const reading = s3.store.readRange('s3://bucket/a', 0, 1000).then(() => {
      isRead = true;
    });
    const writer = s3.store.openWriter('s3://bucket/b');

    for (let count = 0; count < WRITES_MAX && !isRead; count++) await writer.write(patternBytes(1));

    assert.ok(isRead);
    await reading;
    await writer.abort();
  });
});
