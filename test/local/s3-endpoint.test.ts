import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import {
  AbortMultipartUploadCommand,
  type ChecksumAlgorithm,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { mapConcurrent } from '../../shared/base/index.ts';
import { patternBytes } from '../storage/object-store.conformance.ts';
import { openS3 } from '../storage/s3-support.ts';

const MIB = 2 ** 20;
const Bucket = 'bucket';

async function put(client: S3Client, Key: string, Body: Uint8Array = patternBytes(1)) {
  return await client.send(new PutObjectCommand({ Bucket, Key, Body }));
}

async function get(client: S3Client, Key: string, Range?: string): Promise<Uint8Array> {
  const { Body } = await client.send(
    new GetObjectCommand({ Bucket, Key, ...(Range === undefined ? {} : { Range }) }),
  );
  assert.ok(Body);
  return await Body.transformToByteArray();
}

/** Asserts the error code, which the client takes for its errors' names. */
async function refuses(answer: Promise<unknown>, code: string, status: number): Promise<void> {
  await assert.rejects(answer, (error: Error & { $metadata?: { httpStatusCode?: number } }) => {
    assert.equal(error.name, code);
    assert.equal(error.$metadata?.httpStatusCode, status);
    return true;
  });
}

describe('local S3 endpoint: objects', () => {
  it('listens on loopback only', async () => {
    await using s3 = await openS3();

    assert.match(s3.server.endpoint, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('returns content headers and user metadata with each read', async () => {
    await using s3 = await openS3();
    await s3.client.send(
      new PutObjectCommand({
        Bucket,
        Key: 'a',
        Body: 'x',
        ContentType: 'application/json',
        ContentEncoding: 'gzip',
        CacheControl: 'no-cache',
        Metadata: { owner: 'me' },
      }),
    );

    const head = await s3.client.send(new HeadObjectCommand({ Bucket, Key: 'a' }));

    assert.equal(head.ContentType, 'application/json');
    assert.equal(head.ContentEncoding, 'gzip');
    assert.equal(head.CacheControl, 'no-cache');
    assert.deepEqual(head.Metadata, { owner: 'me' });
    assert.equal(head.ETag, '"9dd4e461268c8034f5c8564e155c67a6"');
  });

  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const) {
    it(`takes a streamed body with a trailing ${algorithm} apart, and echoes the checksum`, async () => {
      await using s3 = await openS3();
      const bytes = patternBytes(300_000);
      const chunks = [bytes.slice(0, 1), bytes.slice(1, 100_000), bytes.slice(100_000)];

      const answer = await s3.client.send(
        new PutObjectCommand({
          Bucket,
          Key: 'streamed',
          Body: Readable.from(chunks),
          ContentLength: bytes.length,
          ChecksumAlgorithm: algorithm satisfies ChecksumAlgorithm,
        }),
      );

      assert.equal(typeof answer[`Checksum${algorithm}`], 'string');
      assert.deepEqual(await get(s3.client, 'streamed'), bytes);
      const head = await s3.client.send(
        new HeadObjectCommand({ Bucket, Key: 'streamed', ChecksumMode: 'ENABLED' }),
      );
      assert.equal(head[`Checksum${algorithm}`], answer[`Checksum${algorithm}`]);
    });
  }

  for (const [title, headers] of [
    ['CRC-32', { 'x-amz-checksum-crc32': 'AAAAAA==' }],
    ['MD5', { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }],
  ] as const) {
    it(`refuses a body whose ${title} does not match, and keeps nothing of it`, async () => {
      await using s3 = await openS3();

      const answer = await fetch(`${s3.server.endpoint}/bucket/a`, {
        method: 'PUT',
        headers,
        body: 'hello',
      });

      assert.equal(answer.status, 400);
      assert.match(await answer.text(), /<Code>BadDigest<\/Code>/);
      await refuses(get(s3.client, 'a'), 'NoSuchKey', 404);
    });
  }

  for (const [range, start, end] of [
    ['bytes=0-9', 0, 10],
    ['bytes=95-', 95, 100],
    ['bytes=-5', 95, 100],
    ['bytes=-500', 0, 100],
    ['bytes=90-500', 90, 100],
    ['bytes=0-4,6-8', 0, 100],
    ['bytes=9-3', 0, 100],
  ] as const) {
    it(`answers ${range} of 100 bytes with ${start} to ${end}`, async () => {
      await using s3 = await openS3();
      await put(s3.client, 'a', patternBytes(100));

      assert.deepEqual(await get(s3.client, 'a', range), patternBytes(100).slice(start, end));
    });
  }

  for (const range of ['bytes=100-', 'bytes=100-110', 'bytes=-0']) {
    it(`answers ${range} of 100 bytes with 416`, async () => {
      await using s3 = await openS3();
      await put(s3.client, 'a', patternBytes(100));

      await refuses(get(s3.client, 'a', range), 'InvalidRange', 416);
    });
  }

  it('copies an object with its metadata, or with other metadata', async () => {
    await using s3 = await openS3();
    const Key = 'source +%2F\u00fc';
    await s3.client.send(
      new PutObjectCommand({ Bucket, Key, Body: 'x', Metadata: { owner: 'me' } }),
    );
    const CopySource = `bucket/${encodeURIComponent(Key)}`;

    await s3.client.send(new CopyObjectCommand({ Bucket, Key: 'same', CopySource }));
    await s3.client.send(
      new CopyObjectCommand({
        Bucket,
        Key: 'other',
        CopySource,
        MetadataDirective: 'REPLACE',
        Metadata: { owner: 'you' },
      }),
    );

    const heads = await mapConcurrent(['same', 'other'], { concurrencyMax: 2 }, (copy) =>
      s3.client.send(new HeadObjectCommand({ Bucket, Key: copy })),
    );
    assert.deepEqual(
      heads.map(({ Metadata }) => Metadata),
      [{ owner: 'me' }, { owner: 'you' }],
    );
  });

  it('says that it does not serve the parts of S3 that it does not serve', async () => {
    await using s3 = await openS3();
    await put(s3.client, 'a');

    for (const target of ['bucket?versioning', 'bucket?acl', 'bucket/a?tagging', 'bucket/a?acl']) {
      const answer = await fetch(`${s3.server.endpoint}/${target}`);
      assert.equal(answer.status, 501, target);
      assert.match(await answer.text(), /<Code>NotImplemented<\/Code>/);
    }
  });
});

describe('local S3 endpoint: conditions', () => {
  it('writes with If-Match only over the object with that ETag', async () => {
    await using s3 = await openS3();
    const { ETag } = await put(s3.client, 'a', patternBytes(1));
    const conditional = { Bucket, Key: 'a', IfMatch: ETag };

    await s3.client.send(new PutObjectCommand({ ...conditional, Body: 'second' }));

    const late = s3.client.send(new PutObjectCommand({ ...conditional, Body: 'late' }));
    await refuses(late, 'PreconditionFailed', 412);
    const missing = { ...conditional, Key: 'missing', Body: 'x' };
    await refuses(s3.client.send(new PutObjectCommand(missing)), 'NoSuchKey', 404);
    assert.equal(Buffer.from(await get(s3.client, 'a')).toString(), 'second');
  });

  it('lets one of 20 racing If-Match writers through', async () => {
    await using s3 = await openS3();
    const { ETag } = await put(s3.client, 'a');

    const wins = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const command = { Bucket, Key: 'a', IfMatch: ETag, Body: `writer ${index}` };
        return await s3.client.send(new PutObjectCommand(command)).then(
          () => 1,
          () => 0,
        );
      }),
    );

    assert.equal(
      wins.reduce((sum: number, win) => sum + win, 0),
      1,
    );
  });

  it('lets one of ten racing uploads with If-None-Match complete', async () => {
    await using s3 = await openS3();
    const Key = 'a';
    const uploads = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const upload = { Bucket, Key };
        const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand(upload));
        const part = { ...upload, UploadId, PartNumber: 1, Body: `writer ${index}` };
        const { ETag } = await s3.client.send(new UploadPartCommand(part));
        return { ...upload, UploadId, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] } };
      }),
    );

    const outcomes = await Promise.all(
      uploads.map((upload) =>
        s3.client.send(new CompleteMultipartUploadCommand({ ...upload, IfNoneMatch: '*' })).then(
          () => 'won',
          (error: Error) => error.name,
        ),
      ),
    );

    assert.deepEqual(outcomes.toSorted(), [...Array(9).fill('PreconditionFailed'), 'won']);
  });

  it('reads with If-Match and If-None-Match as their ETags say', async () => {
    await using s3 = await openS3();
    const { ETag } = await put(s3.client, 'a');
    const url = `${s3.server.endpoint}/bucket/a`;
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(url, { headers })).status;

    assert.equal(await statusOf({ 'if-match': ETag ?? '' }), 200);
    assert.equal(await statusOf({ 'if-match': '"other"' }), 412);
    assert.equal(await statusOf({ 'if-none-match': ETag ?? '' }), 304);
    assert.equal(await statusOf({ 'if-none-match': '"other"' }), 200);
  });
});

describe('local S3 endpoint: multipart uploads', () => {
  it('copies ranges of an object into parts', async () => {
    await using s3 = await openS3();
    const bytes = patternBytes(6 * MIB);
    await put(s3.client, 'source', bytes);
    const upload = { Bucket, Key: 'target' };
    const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand(upload));
    const copy = { ...upload, UploadId, CopySource: 'bucket/source' };
    const ranges = [`bytes=${MIB}-${6 * MIB - 1}`, 'bytes=0-99'];

    const Parts = await mapConcurrent(ranges, { concurrencyMax: 1 }, async (range, index) => {
      const PartNumber = index + 1;
      const { CopyPartResult } = await s3.client.send(
        new UploadPartCopyCommand({ ...copy, PartNumber, CopySourceRange: range }),
      );
      return { PartNumber, ETag: CopyPartResult?.ETag };
    });
    await s3.client.send(
      new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload: { Parts } }),
    );

    const expected = Buffer.concat([bytes.subarray(MIB), bytes.subarray(0, 100)]);
    assert.ok(expected.equals(await get(s3.client, 'target')));
    const outside = { ...copy, PartNumber: 1, CopySourceRange: `bytes=0-${6 * MIB}` };
    await assert.rejects(s3.client.send(new UploadPartCopyCommand(outside)));
  });

  it('lists parts, replaces a part sent again, and forgets them all when aborted', async () => {
    await using s3 = await openS3();
    const upload = { Bucket, Key: 'a' };
    const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand(upload));
    const part = { ...upload, UploadId };
    await s3.client.send(new UploadPartCommand({ ...part, PartNumber: 2, Body: 'second' }));
    await s3.client.send(new UploadPartCommand({ ...part, PartNumber: 1, Body: 'first' }));
    await s3.client.send(new UploadPartCommand({ ...part, PartNumber: 2, Body: 'again' }));

    const { Parts } = await s3.client.send(new ListPartsCommand(part));

    assert.deepEqual(
      Parts?.map(({ PartNumber, Size }) => [PartNumber, Size]),
      [
        [1, 5],
        [2, 5],
      ],
    );
    await s3.client.send(new AbortMultipartUploadCommand(part));
    await refuses(s3.client.send(new ListPartsCommand(part)), 'NoSuchUpload', 404);
  });

  it('refuses to complete with small, unknown or unordered parts', async () => {
    await using s3 = await openS3();
    const upload = { Bucket, Key: 'a' };
    const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand(upload));
    const parts = await mapConcurrent([1, 2], { concurrencyMax: 1 }, async (PartNumber) => {
      const part = { ...upload, UploadId, PartNumber, Body: 'small' };
      const { ETag } = await s3.client.send(new UploadPartCommand(part));
      return { PartNumber, ETag };
    });
    const complete = (Parts: typeof parts) =>
      s3.client.send(
        new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload: { Parts } }),
      );

    await refuses(complete(parts), 'EntityTooSmall', 400);
    await refuses(complete(parts.toReversed()), 'InvalidPartOrder', 400);
    await refuses(complete([{ PartNumber: 3, ETag: '"x"' }]), 'InvalidPart', 400);
    await refuses(get(s3.client, 'a'), 'NoSuchKey', 404);
  });
});

describe('local S3 endpoint: listings', () => {
  const keys = ['a', 'b/1', 'b/2', 'b0', 'c/1/x', 'c/2', '\uffee', '\u{1f9ca}'];

  it('folds keys at a delimiter, page by page, in both versions', async () => {
    await using s3 = await openS3();
    for (const key of keys) await put(s3.client, key);
    const query = { Bucket, Delimiter: '/', MaxKeys: 2 };
    const listed: (string | undefined)[] = [];
    const listedV1: (string | undefined)[] = [];

    let ContinuationToken: string | undefined;
    do {
      const page = await s3.client.send(new ListObjectsV2Command({ ...query, ContinuationToken }));
      listed.push(...(page.Contents ?? []).map(({ Key }) => Key));
      listed.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    let Marker: string | undefined;
    do {
      const page = await s3.client.send(new ListObjectsCommand({ ...query, Marker }));
      listedV1.push(...(page.Contents ?? []).map(({ Key }) => Key));
      listedV1.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix));
      Marker = page.NextMarker;
    } while (Marker !== undefined);

    const expected = ['a', 'b/', 'b0', 'c/', '\uffee', '\u{1f9ca}'];
    assert.deepEqual(listed.toSorted(), expected.toSorted());
    assert.deepEqual(listedV1, listed);
  });

  it('starts after a key', async () => {
    await using s3 = await openS3();
    for (const key of keys) await put(s3.client, key);

    const { Contents } = await s3.client.send(
      new ListObjectsV2Command({ Bucket, StartAfter: 'b/1', Prefix: 'b' }),
    );

    assert.deepEqual(
      Contents?.map(({ Key }) => Key),
      ['b/2', 'b0'],
    );
  });

  it('encodes keys as forms do when asked to', async () => {
    await using s3 = await openS3();
    await put(s3.client, 'x/a b+c\u0001');

    const page = await s3.client.send(
      new ListObjectsV2Command({ Bucket, Prefix: 'x/', EncodingType: 'url' }),
    );

    assert.equal(page.Contents?.[0]?.Key, 'x/a+b%2Bc%01');
    assert.equal(page.EncodingType, 'url');
  });
});

describe('local S3 endpoint: buckets and deletes', () => {
  it('creates, finds, lists and deletes buckets, but none that holds objects', async () => {
    await using s3 = await openS3();
    await s3.client.send(new CreateBucketCommand({ Bucket: 'second' }));
    await put(s3.client, 'a');

    await s3.client.send(new HeadBucketCommand({ Bucket: 'second' }));
    await s3.client.send(new GetBucketLocationCommand({ Bucket: 'second' }));
    const { Buckets } = await s3.client.send(new ListBucketsCommand({}));

    assert.deepEqual(
      Buckets?.map(({ Name }) => Name),
      ['bucket', 'second'],
    );
    await s3.client.send(new DeleteBucketCommand({ Bucket: 'second' }));
    await refuses(s3.client.send(new DeleteBucketCommand({ Bucket })), 'BucketNotEmpty', 409);
    await refuses(
      s3.client.send(new CreateBucketCommand({ Bucket })),
      'BucketAlreadyOwnedByYou',
      409,
    );
    const missing = s3.client.send(new ListObjectsV2Command({ Bucket: 'second' }));
    await refuses(missing, 'NoSuchBucket', 404);
  });

  it('names deleted keys, or keeps quiet', async () => {
    await using s3 = await openS3();
    for (const key of ['a', 'b&<\r\n']) await put(s3.client, key);
    const deleteKeys = (keys: readonly string[], Quiet: boolean) =>
      s3.client.send(
        new DeleteObjectsCommand({
          Bucket,
          Delete: { Objects: keys.map((Key) => ({ Key })), Quiet },
        }),
      );

    const named = await deleteKeys(['b&<\r\n', 'missing'], false);
    const quiet = await deleteKeys(['a'], true);

    assert.deepEqual(
      named.Deleted?.map(({ Key }) => Key),
      ['b&<\r\n', 'missing'],
    );
    assert.equal(quiet.Deleted, undefined);
    const { KeyCount } = await s3.client.send(new ListObjectsV2Command({ Bucket }));
    assert.equal(KeyCount, 0);
  });

  it('refuses a delete of more than 1,000 keys, of control characters, and without a checksum', async () => {
    await using s3 = await openS3();
    const Objects = Array.from({ length: 1001 }, (_, index) => ({ Key: `${index}` }));
    const many = s3.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    const control = s3.client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: '\u0001' }] } }),
    );
    const unchecked = await fetch(`${s3.server.endpoint}/bucket?delete`, {
      method: 'POST',
      body: '<Delete><Object><Key>a</Key></Object></Delete>',
    });

    await refuses(many, 'MalformedXML', 400);
    await refuses(control, 'MalformedXML', 400);
    assert.equal(unchecked.status, 400);
  });
});
