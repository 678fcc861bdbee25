/**
 * Objects by location, behind one port: Amazon S3 (and servers that speak its REST API), a local folder, and
 * memory with faults. Conditional creation, ranges, streaming writes, ordered listing and batched deletes,
 * with retries inside the adapters and failures as error kinds. Knows nothing of tables; leaves out object
 * versions, tags, access lists, directory buckets and everything that changes a bucket.
 */
export { type CountingStore, countingStore, type RequestCounts } from './counting-store.ts';
export type { FaultInjector, StoreFault, StoreOperation } from './faults.ts';
export { compareUtf8, KeyIndex, lowerBound } from './key-index.ts';
export { LocalObjectStore, type LocalObjectStoreOptions } from './local-object-store.ts';
export { MemoryObjectStore, type MemoryObjectStoreOptions } from './memory-object-store.ts';
export type {
  DeleteFailure,
  DeleteOutcome,
  ObjectEntry,
  ObjectStore,
  ObjectWriter,
  WriteOptions,
} from './object-store.ts';
export type { RetryPolicy } from './retry.ts';
export { RoutingObjectStore } from './routing-object-store.ts';
export { createS3Client, type S3ClientOptions } from './s3-client.ts';
export { S3ObjectStore, type S3ObjectStoreOptions } from './s3-object-store.ts';
