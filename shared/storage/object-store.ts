import type { ErrorKind, RangedReader } from '../base/index.ts';

export interface ObjectEntry {
  /** Full location: scheme, bucket and key as asked for or listed, never decoded. */
  readonly location: string;
  readonly fileSizeBytes: number;
  readonly lastModifiedMs: number;
}

export interface WriteOptions {
  /** Refuse with `commit-conflict` when an object is already there. */
  readonly mustBeNew?: boolean;
}

/** An object being written from start to end; nothing is visible before `close` resolves. */
export interface ObjectWriter {
  /** Appends bytes; the writer may keep the array. Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Makes the object visible and returns its length in bytes. When it throws, the writer is aborted; after
   * `unavailable` the object may nevertheless be there, since an answer can be lost.
   */
  close(): Promise<number>;
  /** Gives up; nothing becomes visible. Never throws; without effect after `close`. */
  abort(): Promise<void>;
}

export interface DeleteFailure {
  readonly location: string;
  readonly kind: ErrorKind;
  /** Names the action and the location. */
  readonly reason: string;
}

/** What became of each distinct location of one `delete` call: every one is in exactly one of the lists. */
export interface DeleteOutcome {
  /** Locations that are gone now, also those that were not there. */
  readonly deleted: readonly string[];
  /** Locations that may still be there. */
  readonly failed: readonly DeleteFailure[];
}

/**
 * Objects by location (`s3://bucket/key`, `s3a://`, `s3n://`, `file:/path`). Keys are compared and sent as
 * they stand: no decoding, no normalising. Every method except `delete` throws `access-denied` (the message
 * names the action, such as s3:GetObject, and the location) and `unavailable` after its own retries; every
 * method throws `invalid-config` for a location of a scheme that the store does not serve and
 * `invalid-data` for one that can name no object.
 */
export interface ObjectStore {
  /** One HEAD. @throws not-found */
  head(location: string): Promise<ObjectEntry>;
  /**
   * The whole object; one GET.
   *
   * @throws not-found
   * @throws unsupported — when the object is larger than `fileSizeBytesMax`
   */
  read(location: string, fileSizeBytesMax: number): Promise<Uint8Array>;
  /**
   * Exactly `lengthBytes` bytes from `offset`; one GET, none for zero bytes.
   *
   * @throws not-found
   * @throws invalid-data — when the range does not lie within the object
   */
  readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array>;
  /** A reader of one object whose length is known (as manifests tell it); no request is made. */
  openRanged(location: string, fileSizeBytes: number): RangedReader;
  /**
   * Writes a whole object; one PUT. With `mustBeNew`, exactly one of several racing writers succeeds, and a
   * writer whose own earlier attempt took effect without an answer does not lose to itself.
   *
   * @throws commit-conflict — with `mustBeNew`, when an object is there
   */
  write(location: string, bytes: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Starts an object of unknown length; small ones cost one PUT, larger ones a multipart upload. */
  openWriter(location: string): ObjectWriter;
  /**
   * Every object whose location starts with `prefix`, in UTF-8 key order, page by page: one request for each
   * 1,000 objects. Changes made during the listing may or may not show.
   */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /**
   * Deletes in batches of 1,000, and tells the outcome of each location; missing objects count as deleted.
   * A failing batch does not keep the others from being tried.
   */
  delete(locations: readonly string[]): Promise<DeleteOutcome>;
}
