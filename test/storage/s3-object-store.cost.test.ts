import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import type { S3Operation } from '../../local/s3-endpoint/index.ts';
import { patternBytes } from './object-store.conformance.ts';
import { openS3, type S3Fixture } from './s3-support.ts';

const MIB = 2 ** 20;

function requestsOf({ server }: S3Fixture): Partial<Record<S3Operation, number>> {
  return Object.fromEntries(
    Object.entries(server.counters.requests).filter(([, count]) => count > 0),
  );
}

describe('requests of S3ObjectStore', () => {
  it('are one PUT for a whole object, conditional or not', async () => {
    await using s3 = await openS3();

    await s3.store.write('s3://bucket/a', patternBytes(10));
    await s3.store.write('s3://bucket/b', patternBytes(10), { mustBeNew: true });

    assert.deepEqual(requestsOf(s3), { PutObject: 2 });
  });

  it('are one PUT for a writer of up to 8 MiB', async () => {
    await using s3 = await openS3();
    const writer = s3.store.openWriter('s3://bucket/a');
    for (let part = 0; part < 8; part++) await writer.write(patternBytes(MIB));
    await writer.close();

    assert.deepEqual(requestsOf(s3), { PutObject: 1 });
  });

  it('are one for each 8 MiB, and two more, for a writer of more', async () => {
    await using s3 = await openS3();
    const writer = s3.store.openWriter('s3://bucket/a');
    for (let part = 0; part < 17; part++) await writer.write(patternBytes(MIB));
    await writer.close();

    assert.deepEqual(requestsOf(s3), {
      CreateMultipartUpload: 1,
      UploadPart: 3,
      CompleteMultipartUpload: 1,
    });
  });

  it('are none for opening a reader, an empty range, or a range beyond the known length', async () => {
    await using s3 = await openS3();
    const reader = s3.store.openRanged('s3://bucket/a', 100);

    assert.deepEqual(await reader.read(50, 0), new Uint8Array(0));
    await assert.rejects(reader.read(50, 51));

    assert.deepEqual(requestsOf(s3), {});
  });

  it('read only the bytes of a range', async () => {
    await using s3 = await openS3();
    await s3.store.write('s3://bucket/a', patternBytes(MIB));

    await s3.store.readRange('s3://bucket/a', 1000, 24);

    assert.deepEqual(requestsOf(s3), { PutObject: 1, GetObject: 1 });
    assert.equal(s3.server.counters.bytesSent, 24);
  });

  it('are one for each 1,000 deletes, and one for each key that XML cannot hold', async () => {
    await using s3 = await openS3();
    const keys = Array.from({ length: 1500 }, (_, index) => `s3://bucket/${index}`);

    await s3.store.delete([...keys, 's3://bucket/\u0001', 's3://bucket/\u0002']);

    assert.deepEqual(requestsOf(s3), { DeleteObjects: 2, DeleteObject: 2 });
  });

  it('are one for each 1,000 objects listed, made as the listing is read', async () => {
    const folder = await mkdtemp(`${tmpdir()}/firn-s3-cost-`);
    await mkdir(`${folder}/bucket`);
    for (let index = 0; index < 1001; index++) await writeFile(`${folder}/bucket/${index}`, '');
    await using s3 = await openS3({ folder });
    const entries = s3.store.list('s3://bucket/')[Symbol.asyncIterator]();

    for (let count = 0; count < 1000; count++) await entries.next();
    assert.equal(s3.server.counters.requests.ListObjectsV2, 1);

    await entries.next();
    assert.equal(s3.server.counters.requests.ListObjectsV2, 2);
    assert.equal((await entries.next()).done, true);
    assert.equal(s3.server.counters.requests.ListObjectsV2, 2);
    await rm(folder, { recursive: true });
  });
});
