import type { Readable } from 'node:stream';

/** Bytes received: of an object, of a part, or on their way to become one. */
export interface StoredBody {
  readonly lengthBytes: number;
  /** The bytes from `start` to `end` (exclusive) as they are now, also when the object is replaced meanwhile. */
  open(start: number, end: number): Readable;
}

/** What S3 keeps of an object beside its bytes. */
export interface ObjectRecord {
  readonly lengthBytes: number;
  /** With its quotes. */
  readonly etag: string;
  readonly lastModifiedMs: number;
  /** Content headers and user metadata, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A checksum over the whole object that its writer sent, by header name. */
  readonly checksums: Readonly<Record<string, string>>;
}

export interface StoredObject extends ObjectRecord {
  readonly body: StoredBody;
}

/** Where the endpoint keeps bytes. Buckets, keys and conditions are not its business. */
export interface BodyStore {
  /** Buckets and objects that were there before; called once. */
  load(): Promise<ReadonlyMap<string, ReadonlyMap<string, StoredObject>>>;
  /** Takes a body in; nobody sees it before `publish`. */
  receive(source: AsyncIterable<Uint8Array>): Promise<StoredBody>;
  /** Gives up a received body. */
  discard(body: StoredBody): void;
  /** Makes a received body the object under `key`. Synchronous, so that a condition tested before still holds. */
  publish(bucket: string, key: string, body: StoredBody, record: ObjectRecord): StoredObject;
  remove(bucket: string, key: string): void;
  createBucket(bucket: string): void;
  deleteBucket(bucket: string): void;
}
