// The queue's conformance suite against moto, a server that is not ours; run by `run.ts` under node:test.

import { testQueueConformance } from '../queue/message-queue.conformance.ts';
import { openSqsHarness } from '../queue/sqs-harness.ts';
import { startMoto } from './servers.ts';

testQueueConformance('SqsQueue over moto', async () => {
  const servers = await startMoto();
  const harness = await openSqsHarness(servers.endpoints.dynamoDbEndpoint);
  return {
    ...harness,
    close: async () => {
      await harness.close();
      await servers.close();
    },
  };
});
