import type { JsonObject } from '../base/index.ts';

/** Properties of a blob or of a file. */
export type PuffinProperties = Readonly<Record<string, string>>;

/** What the footer says of one blob. @see Puffin spec, "BlobMetadata" */
export interface BlobMetadata {
  /** One of the spec's, or any other. */
  readonly type: string;
  /** Ids of the fields that the blob was computed for. */
  readonly fields: readonly number[];
  /** -1n, as the sequence number, where it is not known when the file is written. */
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  /** From the start of the file. */
  readonly offset: number;
  /** As stored, so after compression. */
  readonly lengthBytes: number;
  /** `lz4`, `zstd` or a name that is not known; absent where the blob is not compressed. */
  readonly compressionCodec?: string;
  readonly properties: PuffinProperties;
  /** Members of the JSON object that the spec does not name. */
  readonly unknownFields: JsonObject;
}

/** What a footer says. @see Puffin spec, "FileMetadata" */
export interface PuffinFile {
  readonly location: string;
  readonly fileSizeBytes: number;
  /** From its magic to the end of the file. */
  readonly footerSizeBytes: number;
  /** In the footer's order. They lie before the footer and apart from one another. */
  readonly blobs: readonly BlobMetadata[];
  readonly properties: PuffinProperties;
}
