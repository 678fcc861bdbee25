import { startLocalCloud } from '../local/local-cloud.ts';
import { serve } from './support/child-process.ts';
import { BENCH_BUCKET } from './support/warehouse.ts';

const { s3, catalogUrl } = await startLocalCloud({ buckets: [BENCH_BUCKET] });

/** The local cloud in a process of its own, so that its time and memory are not counted as Firn's. */
const service = {
  catalogUrl: async () => catalogUrl,
  s3Counters: async () => ({
    requests: { ...s3.counters.requests },
    bytesReceived: s3.counters.bytesReceived,
    bytesSent: s3.counters.bytesSent,
  }),
};

export type LocalCloudService = typeof service;
serve(service);
