import type { Clock } from '../../shared/base/index.ts';
import { KeyIndex } from '../../shared/storage/index.ts';
import type { BodyStore, StoredBody, StoredObject } from './body-store.ts';

export type BucketState = KeyIndex<StoredObject>;

export interface UploadedPart {
  readonly body: StoredBody;
  /** With its quotes. */
  readonly etag: string;
  readonly lastModifiedMs: number;
  readonly checksums: Readonly<Record<string, string>>;
}

export interface MultipartUpload {
  readonly bucket: string;
  readonly key: string;
  readonly startedMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly partByNumber: Map<number, UploadedPart>;
}

/** Everything the endpoint knows. Multipart uploads do not outlive it. */
export interface S3State {
  readonly clock: Clock;
  readonly bodies: BodyStore;
  readonly buckets: Map<string, BucketState>;
  readonly uploads: Map<string, MultipartUpload>;
}

export async function loadState(bodies: BodyStore, clock: Clock): Promise<S3State> {
  const buckets = new Map<string, BucketState>();
  for (const [bucket, objects] of await bodies.load()) {
    const index: BucketState = new KeyIndex();
    for (const [key, object] of objects) index.set(key, object);
    buckets.set(bucket, index);
  }
  return { clock, bodies, buckets, uploads: new Map() };
}
