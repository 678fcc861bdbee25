import type { RangedReader } from '../base/index.ts';

export interface ObjectEntry {
  /** Full location: scheme, bucket and key as listed, never decoded. */
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
  /** Makes the object visible and returns its length in bytes. */
  close(): Promise<number>;
  /** Gives up; nothing becomes visible. Never throws. */
  abort(): Promise<void>;
}

export interface DeleteOutcome {
  /** Locations that are gone now, also those that were not there. */
  readonly deleted: readonly string[];
  readonly failed: readonly { readonly location: string; readonly reason: string }[];
}

/**
 * Objects by location (`s3://bucket/key`, `s3a://`, `s3n://`, `file:/path`). Keys are compared and sent as
 * they stand: no decoding, no normalising. Every method throws `access-denied` (the message names the action,
 * such as s3:GetObject, and the location), `unavailable` after its own retries, and `invalid-config` for a
 * location of a scheme that the store does not serve.
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
  /** Exactly `lengthBytes` bytes from `offset`; one GET. @throws not-found, invalid-data */
  readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array>;
  /** A reader of one object whose length is known (as manifests tell it); no request is made. */
  openRanged(location: string, fileSizeBytes: number): RangedReader;
  /** Writes a whole object; one PUT. @throws commit-conflict — with `mustBeNew`, when it exists */
  write(location: string, bytes: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Starts an object of unknown length; small ones cost one PUT, larger ones a multipart upload. */
  openWriter(location: string): ObjectWriter;
  /** Every object whose location starts with `prefix`, in UTF-8 key order, page by page. */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /** Deletes in batches; missing objects count as deleted. */
  delete(locations: readonly string[]): Promise<DeleteOutcome>;
}
