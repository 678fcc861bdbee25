import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { assert, IcebergError, nextTurn } from '../base/index.ts';
import { parseS3Object } from './location.ts';
import type { ObjectWriter } from './object-store.ts';
import { PartBuffer } from './part-buffer.ts';
import { newWriteId, request, requestOnce, type S3Context, target } from './s3-requests.ts';

/** S3 takes parts from 5 MiB. Two of these in memory per writer; 10,000 of them make 78 GiB. */
const PART_BYTES = 8 * 2 ** 20;

/** S3 takes no more. */
const PART_COUNT_MAX = 10_000;

/**
 * Writes an object to S3: up to 8 MiB with one PUT at the end, more as a multipart upload with one part
 * under way while the next one fills. Holds two parts and the array given last. A process that dies
 * leaves an upload behind, which a lifecycle rule of the bucket has to end.
 */
export class S3ObjectWriter implements ObjectWriter {
  readonly #context: S3Context;
  readonly #location: string;
  readonly #target: { readonly Bucket: string; readonly Key: string };
  readonly #buffer = new PartBuffer();
  readonly #parts: CompletedPart[] = [];
  readonly #write: ReturnType<typeof newWriteId>;
  #uploadId: string | undefined;
  /** The part under way; never rejects, its failure waits in `#partFailure`. */
  #partUnderWay: Promise<void> = Promise.resolve();
  #partFailure: { readonly error: unknown } | undefined;
  #lengthBytes = 0;
  #isOpen = true;

  constructor(context: S3Context, location: string) {
    this.#context = context;
    this.#location = location;
    this.#target = target(parseS3Object(location));
    this.#write = newWriteId(context);
  }

  async write(bytes: Uint8Array): Promise<void> {
    assert(this.#isOpen, `${this.#location}: written to after it was closed`);
    await this.#orAbort(async () => {
      this.#buffer.append(bytes);
      this.#lengthBytes += bytes.length;
      while (this.#buffer.lengthBytes > PART_BYTES) await this.#startPart(PART_BYTES);
    });
    // Whoever writes may only compute between two writes: this part, and what is read meanwhile, must get on.
    await nextTurn();
  }

  async close(): Promise<number> {
    assert(this.#isOpen, `${this.#location}: closed twice`);
    await this.#orAbort(async () => {
      if (this.#uploadId === undefined) await this.#putWhole();
      else await this.#completeUpload(this.#uploadId);
      this.#isOpen = false;
    });
    return this.#lengthBytes;
  }

  async abort(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#partUnderWay;
    if (this.#uploadId === undefined) return;
    const upload = { ...this.#target, UploadId: this.#uploadId };
    try {
      await request(this.#context, 's3:AbortMultipartUpload', this.#location, () =>
        this.#context.client.send(new AbortMultipartUploadCommand(upload)),
      );
    } catch {
      // Parts that stay behind are visible to nobody, and the bucket's lifecycle rule ends the upload.
    }
  }

  async #putWhole(): Promise<void> {
    const Body = this.#buffer.take(this.#buffer.lengthBytes);
    await request(this.#context, 's3:PutObject', this.#location, () =>
      this.#context.client.send(new PutObjectCommand({ ...this.#target, Body })),
    );
  }

  async #completeUpload(UploadId: string): Promise<void> {
    await this.#startPart(this.#buffer.lengthBytes);
    await this.#endPart();
    const upload = { ...this.#target, UploadId, MultipartUpload: { Parts: this.#parts } };
    await requestOnce(
      this.#context,
      { location: this.#location, writeId: this.#write.writeId },
      () => this.#context.client.send(new CompleteMultipartUploadCommand(upload)),
    );
  }

  /** Waits for the part before, so that there is one under way at most. */
  async #startPart(lengthBytes: number): Promise<void> {
    await this.#endPart();
    const PartNumber = this.#parts.length + 1;
    if (PartNumber > PART_COUNT_MAX) throw tooManyParts(this.#location);
    const UploadId = this.#uploadId ?? (await this.#createUpload());
    this.#uploadId = UploadId;
    const part = { ...this.#target, UploadId, PartNumber, Body: this.#buffer.take(lengthBytes) };
    this.#partUnderWay = this.#uploadPart(part).catch((error: unknown) => {
      this.#partFailure = { error };
    });
  }

  async #endPart(): Promise<void> {
    await this.#partUnderWay;
    if (this.#partFailure !== undefined) throw this.#partFailure.error;
  }

  async #createUpload(): Promise<string> {
    const upload = { ...this.#target, Metadata: this.#write.metadata };
    const { UploadId } = await request(this.#context, 's3:PutObject', this.#location, () =>
      this.#context.client.send(new CreateMultipartUploadCommand(upload)),
    );
    if (UploadId === undefined) throw missingAnswer(this.#location, 'upload id');
    return UploadId;
  }

  async #uploadPart(part: {
    readonly Bucket: string;
    readonly Key: string;
    readonly UploadId: string;
    readonly PartNumber: number;
    readonly Body: Uint8Array;
  }): Promise<void> {
    const { ETag } = await request(this.#context, 's3:PutObject', this.#location, () =>
      this.#context.client.send(new UploadPartCommand(part)),
    );
    if (ETag === undefined) throw missingAnswer(this.#location, `ETag of part ${part.PartNumber}`);
    this.#parts.push({ PartNumber: part.PartNumber, ETag });
  }

  async #orAbort(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      await this.abort();
      throw error;
    }
  }
}

function tooManyParts(location: string): IcebergError {
  return new IcebergError(
    'unsupported',
    `${location}: object exceeds ${PART_COUNT_MAX} parts of ${PART_BYTES} bytes`,
    { location },
  );
}

function missingAnswer(location: string, subject: string): IcebergError {
  return new IcebergError('unavailable', `s3:PutObject ${location}: answer without ${subject}`, {
    location,
  });
}
