import { Readable } from 'node:stream';
import type { BodyStore, StoredBody } from './body-store.ts';

/** Keeps everything in memory, and forgets it with the process. */
export function memoryBodyStore(): BodyStore {
  return {
    load: () => Promise.resolve(new Map()),
    receive: async (source) => memoryBody(Buffer.concat(await Array.fromAsync(source))),
    discard: () => {},
    publish: (_bucket, _key, body, record) => ({ ...record, body }),
    remove: () => {},
    createBucket: () => {},
    deleteBucket: () => {},
  };
}

function memoryBody(bytes: Uint8Array): StoredBody {
  return {
    lengthBytes: bytes.length,
    open: (start, end) => Readable.from(start === end ? [] : [bytes.subarray(start, end)]),
  };
}
