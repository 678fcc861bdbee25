import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { startS3Endpoint } from '../../local/s3-endpoint/index.ts';
import { patternBytes } from '../storage/object-store.conformance.ts';
import { storeAt } from '../storage/s3-support.ts';

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(`${tmpdir()}/firn-s3-folder-`);
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function withEndpoint(
  folder: string,
  run: (s3: ReturnType<typeof storeAt>) => Promise<void>,
): Promise<void> {
  const server = await startS3Endpoint({ folder, buckets: ['bucket'] });
  const s3 = storeAt(server.endpoint);
  try {
    await run(s3);
  } finally {
    s3.client.destroy();
    await server.close();
  }
}

describe('local S3 endpoint in a folder', () => {
  it('finds its objects again after a restart, with ETag, time and metadata', () =>
    withFolder(async (folder) => {
      const object = { Bucket: 'bucket', Key: 'a/b+c' };
      let before: unknown;
      await withEndpoint(folder, async ({ client }) => {
        await client.send(new PutObjectCommand({ ...object, Body: 'x', Metadata: { m: '1' } }));
        before = headFacts(await client.send(new HeadObjectCommand(object)));
      });

      await withEndpoint(folder, async ({ client, store }) => {
        assert.deepEqual(headFacts(await client.send(new HeadObjectCommand(object))), before);
        assert.equal(Buffer.from(await store.read('s3://bucket/a/b+c', 1)).toString(), 'x');
      });
    }));

  it('keeps a plain key as a plain path, and odd ones in names that files can have', () =>
    withFolder(async (folder) => {
      await withEndpoint(folder, async ({ store }) => {
        const keys = ['db/table/metadata/v1.json', 'p=1/a b', 'x//y', '../escape', './dot', 'dir/'];
        for (const key of keys) await store.write(`s3://bucket/${key}`, Buffer.from(key));

        const paths = ['db/table/metadata/v1.json', 'p=1/a%20b', 'x/%-/y', '%2E%2E/escape'];
        for (const [index, path] of paths.entries()) {
          assert.equal(await readFile(`${folder}/bucket/${path}`, 'utf8'), keys[index]);
        }
        const listed = await Array.fromAsync(store.list('s3://bucket/'));
        assert.equal(listed.length, keys.length);
      });
    }));

  it('takes files put there by hand for objects', () =>
    withFolder(async (folder) => {
      await mkdir(`${folder}/warehouse/db`, { recursive: true });
      await writeFile(`${folder}/warehouse/db/a.parquet`, patternBytes(10));

      await withEndpoint(folder, async ({ store }) => {
        assert.deepEqual(await store.read('s3://warehouse/db/a.parquet', 10), patternBytes(10));
      });
    }));

  it('refuses a key that is also the folder of another one, and lets it in once that is gone', () =>
    withFolder(async (folder) => {
      await withEndpoint(folder, async ({ store }) => {
        await store.write('s3://bucket/a/b', patternBytes(1));

        const write = () => store.write('s3://bucket/a', patternBytes(2));

        await assert.rejects(write(), { kind: 'unsupported' });
        await store.delete(['s3://bucket/a/b']);
        await write();
        assert.deepEqual(await store.read('s3://bucket/a', 2), patternBytes(2));
      });
    }));

  it('goes on sending an object that is replaced meanwhile', () =>
    withFolder(async (folder) => {
      await withEndpoint(folder, async ({ store }) => {
        const bytes = patternBytes(4 * 2 ** 20);
        await store.write('s3://bucket/a', bytes);

        const reading = store.read('s3://bucket/a', bytes.length);
        await store.write('s3://bucket/a', patternBytes(5));

        const read = await reading;
        assert.ok(read.length === 5 || Buffer.from(bytes).equals(read));
      });
    }));
});

function headFacts(head: {
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
  readonly Metadata?: Record<string, string> | undefined;
}) {
  return [head.ETag, head.LastModified?.getTime(), head.Metadata];
}
