import type { S3Client } from '@aws-sdk/client-s3';
import {
  type S3Endpoint,
  type S3FaultHook,
  startS3Endpoint,
} from '../../local/s3-endpoint/index.ts';
import { type Clock, ManualClock, seededRandom } from '../../shared/base/index.ts';
import { createS3Client, S3ObjectStore } from '../../shared/storage/index.ts';

export interface S3Fixture extends AsyncDisposable {
  readonly server: S3Endpoint;
  readonly client: S3Client;
  readonly store: S3ObjectStore;
}

/** A store over a local endpoint with an empty bucket `bucket`, on a clock that never waits. */
export async function openS3(
  options: { readonly faults?: S3FaultHook; readonly clock?: Clock; readonly folder?: string } = {},
): Promise<S3Fixture> {
  const server = await startS3Endpoint({ buckets: ['bucket'], ...options });
  const { client, store } = storeAt(server.endpoint, options.clock);
  return {
    server,
    client,
    store,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await server.close();
    },
  };
}

let storeCount = 0;

/** A store over whatever answers at `endpoint`, with chance of its own. */
export function storeAt(endpoint: string, clock: Clock = new ManualClock(0)) {
  const client = createS3Client({
    region: 'us-east-1',
    endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    client,
    store: new S3ObjectStore({ client, clock, random: seededRandom(++storeCount) }),
  };
}
