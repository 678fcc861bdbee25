import {
  assert,
  type ByteSink,
  IcebergError,
  type RangedReader,
  serializeJson,
} from '../base/index.ts';
import { ByteWriter, encodeUtf8 } from '../bytes/index.ts';
import { compress } from '../compress/index.ts';
import { FOOTER_BYTES_MAX, FOOTER_FRAME_BYTES, MAGIC, MAGIC_BYTES } from './layout.ts';
import type { BlobMetadata, PuffinProperties } from './metadata.ts';
import { payloadToJson } from './metadata-json.ts';

/** What the file says of who wrote it, unless told otherwise. */
const CREATED_BY = 'firn version 0.1.0';

/** Blobs are copied in pieces of this size. */
const COPIED_BYTES_MAX = 8 * 1024 * 1024;

/** A blob to be written. */
export interface NewBlob {
  readonly type: string;
  readonly fields: readonly number[];
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  /** The content, not compressed. */
  readonly bytes: Uint8Array;
  /** LZ4 is not on offer, since Iceberg Java cannot read it. */
  readonly compressionCodec?: 'zstd';
  readonly properties?: PuffinProperties;
}

export interface PuffinWriteResult {
  readonly fileSizeBytes: number;
  readonly footerSizeBytes: number;
  /** In the order in which they were added, each with its place in the file. */
  readonly blobs: readonly BlobMetadata[];
}

/**
 * Writes one Puffin file from start to end: blobs, each handed on at once, and `finish`. The same calls give the same
 * bytes, laid out as Iceberg Java has them; the footer is not compressed. Memory: the metadata of the blobs.
 *
 * After a failed call the file is unusable: drop it.
 *
 * @see Puffin spec, "File structure"
 */
export class PuffinWriter {
  readonly #sink: ByteSink;
  readonly #properties: PuffinProperties;
  readonly #blobs: BlobMetadata[] = [];
  #offset = 0;
  #isFinished = false;

  /** @param properties of the file; `created-by` is ours unless they have another */
  constructor(sink: ByteSink, properties: PuffinProperties = {}) {
    this.#sink = sink;
    this.#properties = { 'created-by': CREATED_BY, ...properties };
  }

  /** Bytes written so far. */
  get offset(): number {
    return this.#offset;
  }

  /** Adds a blob; its place is in what comes back. */
  async addBlob(blob: NewBlob): Promise<BlobMetadata> {
    const { compressionCodec, properties = {}, bytes } = blob;
    await this.#begin();
    const stored = compressionCodec === undefined ? bytes : compress(compressionCodec, bytes);
    const { offset } = this;
    await this.#write(stored);
    return this.#enter({
      type: blob.type,
      fields: blob.fields,
      snapshotId: blob.snapshotId,
      sequenceNumber: blob.sequenceNumber,
      offset,
      lengthBytes: stored.length,
      ...(compressionCodec !== undefined && { compressionCodec }),
      properties,
      unknownFields: {},
    });
  }

  /**
   * Adds a blob of another file, its bytes as they are stored there, whatever its type and codec. All that its footer
   * says of it stays, but for the place. Costs one read for each 8 MiB.
   */
  async copyBlob(reader: RangedReader, blob: BlobMetadata): Promise<BlobMetadata> {
    await this.#begin();
    const { offset } = this;
    const end = blob.offset + blob.lengthBytes;
    for (let from = blob.offset; from < end; from += COPIED_BYTES_MAX) {
      await this.#write(await reader.read(from, Math.min(COPIED_BYTES_MAX, end - from)));
    }
    return this.#enter({ ...blob, offset });
  }

  /**
   * Writes the footer.
   *
   * @throws unsupported — when there are more blobs than a reader of ours would take
   */
  async finish(): Promise<PuffinWriteResult> {
    await this.#begin();
    const json = payloadToJson({ blobs: this.#blobs, properties: this.#properties });
    const payload = encodeUtf8(serializeJson(json));
    const footerSizeBytes = FOOTER_FRAME_BYTES + payload.length;
    if (footerSizeBytes > FOOTER_BYTES_MAX) {
      throw new IcebergError(
        'unsupported',
        `puffin: footer of ${this.#blobs.length} blobs has ${footerSizeBytes} bytes, limit ${FOOTER_BYTES_MAX}`,
      );
    }
    const writer = new ByteWriter(footerSizeBytes);
    writer.bytes(MAGIC);
    writer.bytes(payload);
    writer.i32le(payload.length);
    writer.u32le(0);
    writer.bytes(MAGIC);
    await this.#write(writer.finish());
    this.#isFinished = true;
    return { fileSizeBytes: this.#offset, footerSizeBytes, blobs: this.#blobs };
  }

  /** Before anything else is written, the magic is. */
  async #begin(): Promise<void> {
    assert(!this.#isFinished, 'puffin writer: finished');
    if (this.#offset < MAGIC_BYTES) await this.#write(MAGIC.slice());
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#offset += bytes.length;
    await this.#sink.write(bytes);
  }

  #enter(blob: BlobMetadata): BlobMetadata {
    this.#blobs.push(blob);
    return blob;
  }
}
