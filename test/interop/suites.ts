// Suites of node:test that hold a part of ours against moto by itself; each starts the servers that it needs.

export type Suite = Readonly<{ name: string; what: string; file: string }>;

export const suites: readonly Suite[] = [
  {
    name: 'store_on_moto',
    what: 'the conformance suite of the object store, by the S3 adapter on moto',
    file: 'store-on-moto.ts',
  },
  {
    name: 'queue_on_moto',
    what: 'the conformance suite of the queue, by the SQS adapter on moto',
    file: 'queue-on-moto.ts',
  },
  {
    name: 'stream_records',
    what: "records of the local stream equal moto's for the same writes, in four view types",
    file: 'stream-records.ts',
  },
];
