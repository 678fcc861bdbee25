import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { startS3Endpoint } from '../../local/s3-endpoint/index.ts';
import { createS3Client, S3ObjectStore } from '../../shared/storage/index.ts';
import { objectStoreConformance } from './object-store.conformance.ts';

async function openOver(scheme: string, folder?: string) {
  const server = await startS3Endpoint({
    buckets: ['bucket'],
    ...(folder === undefined ? {} : { folder }),
  });
  const client = createS3Client({
    region: 'us-east-1',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    store: new S3ObjectStore({ client }),
    root: `${scheme}://bucket/run`,
    close: async () => {
      client.destroy();
      await server.close();
      if (folder !== undefined) await rm(folder, { recursive: true });
    },
  };
}

objectStoreConformance('S3ObjectStore over the local endpoint in memory', {
  open: () => openOver('s3'),
});

objectStoreConformance('S3ObjectStore with s3a locations over the local endpoint in a folder', {
  keysArePaths: true,
  pagedCount: 50,
  open: async () => await openOver('s3a', await mkdtemp(`${tmpdir()}/firn-s3-`)),
});
