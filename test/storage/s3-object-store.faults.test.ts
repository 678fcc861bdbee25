import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import type { S3Fault, S3Operation } from '../../local/s3-endpoint/index.ts';
import { ManualClock } from '../../shared/base/index.ts';
import { patternBytes, rejectsWith } from './object-store.conformance.ts';
import { openS3, storeAt } from './s3-support.ts';
import { startScriptedServer } from './scripted-server.ts';

const MIB = 2 ** 20;
const SLOW_DOWN = { status: 503, code: 'SlowDown' };

/** Faults for the first requests of one operation, in turn. */
function first(operation: S3Operation, ...faults: readonly S3Fault[]) {
  return (request: { readonly operation: S3Operation; readonly operationIndex: number }) =>
    request.operation === operation ? faults[request.operationIndex] : undefined;
}

/** The same fault for every request of one operation. */
function every(operation: S3Operation, fault: S3Fault) {
  return (request: { readonly operation: S3Operation }) =>
    request.operation === operation ? fault : undefined;
}

describe('S3ObjectStore when requests fail for a while', () => {
  it('repeats a request that S3 turned away, after waits', async () => {
    const clock = new ManualClock(0);
    const faults = first('PutObject', { answer: SLOW_DOWN }, { answer: SLOW_DOWN });
    await using s3 = await openS3({ faults, clock });

    await s3.store.write('s3://bucket/key', patternBytes(10));

    assert.equal(s3.server.counters.requests.PutObject, 3);
    assert.ok(clock.nowMs() > 0 && clock.nowMs() <= 300, `${clock.nowMs()}`);
  });

  for (const code of ['InternalError', 'ServiceUnavailable', 'RequestTimeout']) {
    it(`repeats a request answered with ${code}`, async () => {
      const status = code === 'RequestTimeout' ? 400 : 500;
      await using s3 = await openS3({ faults: first('GetObject', { answer: { status, code } }) });
      await s3.store.write('s3://bucket/key', patternBytes(10));

      assert.deepEqual(await s3.store.read('s3://bucket/key', 10), patternBytes(10));
    });
  }

  it('repeats a request whose connection broke', async () => {
    const faults = first('HeadObject', { answer: 'dropped' });
    await using s3 = await openS3({ faults });
    await s3.store.write('s3://bucket/key', patternBytes(10));

    assert.equal((await s3.store.head('s3://bucket/key')).fileSizeBytes, 10);
  });

  it('repeats a read whose body broke off', async () => {
    const server = await startScriptedServer([
      { status: 200, headers: { 'content-length': '10' }, body: 'half', breaks: true },
      { status: 200, headers: { 'content-length': '10' }, body: 'whole body' },
    ]);
    const { store } = storeAt(server.endpoint);

    const bytes = await store.read('s3://bucket/key', 10);

    assert.equal(Buffer.from(bytes).toString(), 'whole body');
    await server.close();
  });

  it('repeats a conditional write that met another one under way', async () => {
    const answer = { status: 409, code: 'ConditionalRequestConflict' };
    await using s3 = await openS3({ faults: first('PutObject', { answer }) });

    await s3.store.write('s3://bucket/key', patternBytes(10), { mustBeNew: true });

    assert.equal((await s3.store.head('s3://bucket/key')).fileSizeBytes, 10);
  });

  it('does not lose a conditional write to itself when its answer was lost', async () => {
    const faults = first('PutObject', { answer: 'dropped', takesEffect: true });
    await using s3 = await openS3({ faults });

    await s3.store.write('s3://bucket/key', patternBytes(10), { mustBeNew: true });

    assert.equal(s3.server.counters.requests.PutObject, 2);
    assert.equal(s3.server.counters.requests.HeadObject, 1);
  });

  it('loses a repeated conditional write to another writer, even one of equal bytes', async () => {
    let rivalWrite: () => Promise<void> = () => Promise.resolve();
    const clock = { nowMs: () => 0, sleepMs: () => rivalWrite() };
    await using s3 = await openS3({ faults: first('PutObject', { answer: SLOW_DOWN }), clock });
    const rival = storeAt(s3.server.endpoint);
    rivalWrite = () => rival.store.write('s3://bucket/key', patternBytes(10), { mustBeNew: true });

    await rejectsWith(
      s3.store.write('s3://bucket/key', patternBytes(10), { mustBeNew: true }),
      'commit-conflict',
      's3://bucket/key',
    );
    rival.client.destroy();
  });

  it('takes a completed upload whose answer was lost for what it is', async () => {
    const faults = first('CompleteMultipartUpload', { answer: 'dropped', takesEffect: true });
    await using s3 = await openS3({ faults });
    const writer = s3.store.openWriter('s3://bucket/key');
    await writer.write(patternBytes(9 * MIB));

    assert.equal(await writer.close(), 9 * MIB);
    assert.equal((await s3.store.head('s3://bucket/key')).fileSizeBytes, 9 * MIB);
  });
});

describe('S3ObjectStore when requests fail for good', () => {
  it('gives up after eight attempts, naming action and location', async () => {
    await using s3 = await openS3({ faults: every('GetObject', { answer: SLOW_DOWN }) });

    await assert.rejects(s3.store.read('s3://bucket/key', 10), {
      kind: 'unavailable',
      message: 's3:GetObject s3://bucket/key: SlowDown, status 503',
    });
    assert.equal(s3.server.counters.requests.GetObject, 8);
  });

  it('says unavailable when nothing listens', async () => {
    const server = await startScriptedServer([{ status: 200 }]);
    await server.close();

    await rejectsWith(
      storeAt(server.endpoint).store.head('s3://bucket/key'),
      'unavailable',
      's3://bucket/key',
    );
  });

  const denied = { answer: { status: 403, code: 'AccessDenied' } };
  for (const { operation, action, run } of [
    { operation: 'HeadObject', action: 's3:GetObject', run: 'head' },
    { operation: 'GetObject', action: 's3:GetObject', run: 'read' },
    { operation: 'PutObject', action: 's3:PutObject', run: 'write' },
    { operation: 'ListObjectsV2', action: 's3:ListBucket', run: 'list' },
  ] as const) {
    it(`names ${action} when ${operation} is denied, and does not repeat it`, async () => {
      await using s3 = await openS3({ faults: every(operation, denied) });
      const location = 's3://bucket/key';
      const calls = {
        head: () => s3.store.head(location),
        read: () => s3.store.read(location, 10),
        write: () => s3.store.write(location, patternBytes(1)),
        list: () => Array.fromAsync(s3.store.list(location)),
      };

      await rejectsWith(calls[run](), 'access-denied', `${action} ${location}`);
      assert.equal(s3.server.counters.requests[operation], 1);
    });
  }

  for (const { code, status, kind } of [
    { code: 'InvalidObjectState', status: 403, kind: 'unsupported' },
    { code: 'NotImplemented', status: 501, kind: 'unsupported' },
    { code: 'PermanentRedirect', status: 301, kind: 'invalid-config' },
    { code: 'InvalidBucketName', status: 400, kind: 'invalid-config' },
    { code: 'ExpiredToken', status: 400, kind: 'access-denied' },
    { code: 'NoSuchBucket', status: 404, kind: 'not-found' },
    { code: 'SomethingElse', status: 500, kind: 'unavailable' },
  ] as const) {
    it(`turns ${code} into ${kind}`, async () => {
      await using s3 = await openS3({ faults: every('GetObject', { answer: { status, code } }) });

      await rejectsWith(s3.store.read('s3://bucket/key', 10), kind, 's3://bucket/key');
    });
  }

  it('ends the upload when a part cannot be written, and fails each step after', async () => {
    await using s3 = await openS3({ faults: every('UploadPart', denied) });
    const writer = s3.store.openWriter('s3://bucket/key');
    await writer.write(patternBytes(9 * MIB));

    await rejectsWith(writer.close(), 'access-denied', 's3:PutObject s3://bucket/key');

    const uploads = await s3.client.send(new ListMultipartUploadsCommand({ Bucket: 'bucket' }));
    assert.equal(uploads.Uploads, undefined);
    assert.equal(s3.server.counters.requests.AbortMultipartUpload, 1);
  });

  it('does not throw from abort when the upload cannot be ended', async () => {
    await using s3 = await openS3({ faults: every('AbortMultipartUpload', denied) });
    const writer = s3.store.openWriter('s3://bucket/key');
    await writer.write(patternBytes(9 * MIB));

    await writer.abort();

    await rejectsWith(s3.store.head('s3://bucket/key'), 'not-found', 's3://bucket/key');
  });

  it('refuses the answer of a server that ignores ranges', async () => {
    const server = await startScriptedServer([{ status: 200, body: 'the whole object' }]);

    await rejectsWith(
      storeAt(server.endpoint).store.readRange('s3://bucket/key', 2, 3),
      'unsupported',
      's3://bucket/key',
    );
    await server.close();
  });
});

describe('S3ObjectStore when deletes fail', () => {
  it('tells that each location failed when the batch is denied', async () => {
    const answer = { status: 403, code: 'AccessDenied' };
    await using s3 = await openS3({ faults: every('DeleteObjects', { answer }) });

    const outcome = await s3.store.delete(['s3://bucket/a', 's3a://bucket/b']);

    assert.deepEqual(outcome, {
      deleted: [],
      failed: [
        {
          location: 's3://bucket/a',
          kind: 'access-denied',
          reason: 's3:DeleteObject s3://bucket/a: AccessDenied',
        },
        {
          location: 's3a://bucket/b',
          kind: 'access-denied',
          reason: 's3:DeleteObject s3a://bucket/b: AccessDenied',
        },
      ],
    });
  });

  it('repeats only the keys that may yet be deleted, and believes only what the answer names', async () => {
    const server = await startScriptedServer([
      deleteAnswer({ deleted: ['a'], errors: { b: 'AccessDenied', c: 'SlowDown' } }),
      deleteAnswer({ deleted: ['c'], errors: { d: 'NoSuchKey' } }),
    ]);
    const { store } = storeAt(server.endpoint);

    const outcome = await store.delete(['a', 'b', 'c', 'd'].map((key) => `s3://bucket/${key}`));

    assert.deepEqual(outcome, {
      deleted: ['s3://bucket/a', 's3://bucket/c', 's3://bucket/d'],
      failed: [
        {
          location: 's3://bucket/b',
          kind: 'access-denied',
          reason: 's3:DeleteObject s3://bucket/b: AccessDenied',
        },
      ],
    });
    assert.deepEqual(
      server.bodies.map((body) => Array.from(body.matchAll(/<Key>(.)<\/Key>/g), (key) => key[1])),
      [
        ['a', 'b', 'c', 'd'],
        ['c', 'd'],
      ],
    );
    await server.close();
  });

  it('says unavailable of a key that no answer ever names', async () => {
    const server = await startScriptedServer([deleteAnswer({ deleted: ['a'], errors: {} })]);

    const outcome = await storeAt(server.endpoint).store.delete(['s3://bucket/a', 's3://bucket/b']);

    assert.deepEqual(outcome.deleted, ['s3://bucket/a']);
    assert.deepEqual(
      outcome.failed.map(({ location, kind }) => [location, kind]),
      [['s3://bucket/b', 'unavailable']],
    );
    assert.equal(server.requestCount(), 8);
    await server.close();
  });
});

describe('S3ObjectStore when listings are broken', () => {
  for (const { title, content } of [
    { title: 'no token for the next page', content: '<IsTruncated>true</IsTruncated>' },
    {
      title: 'the same token again',
      content: '<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>',
    },
    { title: 'an object without a size', content: '<Contents><Key>a</Key></Contents>' },
    {
      title: 'a key in a broken encoding',
      content:
        '<EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>1</Size>' +
        '<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>',
    },
  ]) {
    it(`refuses a page with ${title}`, async () => {
      const body = `<ListBucketResult>${content}</ListBucketResult>`;
      const server = await startScriptedServer([{ status: 200, body }]);

      await rejectsWith(
        Array.fromAsync(storeAt(server.endpoint).store.list('s3://bucket/')),
        'invalid-data',
        's3://bucket/',
      );
      await server.close();
    });
  }
});

function deleteAnswer(answer: {
  readonly deleted: readonly string[];
  readonly errors: Readonly<Record<string, string>>;
}) {
  const deleted = answer.deleted.map((key) => `<Deleted><Key>${key}</Key></Deleted>`);
  const errors = Object.entries(answer.errors).map(
    ([key, code]) => `<Error><Key>${key}</Key><Code>${code}</Code></Error>`,
  );
  return {
    status: 200,
    body: `<DeleteResult>${deleted.join('')}${errors.join('')}</DeleteResult>`,
  };
}
