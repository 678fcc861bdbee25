// The object store's conformance suite against moto, a server that is not ours; run by `run.ts` under node:test.

import { objectStoreConformance } from '../storage/object-store.conformance.ts';
import { storeAt } from '../storage/s3-support.ts';
import { createBucket, startMoto } from './servers.ts';

objectStoreConformance('S3ObjectStore over moto', {
  open: async () => {
    const servers = await startMoto();
    await createBucket(servers.endpoints, 'conformance');
    const { client, store } = storeAt(servers.endpoints.s3Endpoint);
    return {
      store,
      root: 's3://conformance/run',
      close: async () => {
        client.destroy();
        await servers.close();
      },
    };
  },
  // moto answers a PUT of a key with a newline with 404.
  keysBeyondServer: /\n/,
});
