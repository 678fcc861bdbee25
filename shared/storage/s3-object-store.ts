import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import {
  type Clock,
  IcebergError,
  isIcebergError,
  type Random,
  type RangedReader,
  systemClock,
  systemRandom,
  toCount,
} from '../base/index.ts';
import { parseS3Object } from './location.ts';
import type {
  DeleteOutcome,
  ObjectEntry,
  ObjectStore,
  ObjectWriter,
  WriteOptions,
} from './object-store.ts';
import { rangedReader, validateRange } from './ranged-reader.ts';
import { type RetryPolicy, S3_RETRY_POLICY } from './retry.ts';
import { discardBody, readBody } from './s3-body.ts';
import { deleteS3 } from './s3-delete.ts';
import { listS3 } from './s3-list.ts';
import { newWriteId, request, requestOnce, type S3Context, target } from './s3-requests.ts';
import { S3ObjectWriter } from './s3-writer.ts';
import { alreadyThere, validateSize } from './store-errors.ts';

export interface S3ObjectStoreOptions {
  /** Must not retry by itself; `createS3Client` makes such a client. */
  readonly client: S3Client;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly retryPolicy?: RetryPolicy;
}

/**
 * Objects in general purpose buckets of Amazon S3, or of a server that speaks its REST API. Requests that S3
 * turns away or leaves unanswered are repeated here, and only here.
 */
export class S3ObjectStore implements ObjectStore {
  readonly #context: S3Context;

  constructor(options: S3ObjectStoreOptions) {
    this.#context = {
      client: options.client,
      retry: {
        clock: options.clock ?? systemClock,
        random: options.random ?? systemRandom,
        policy: options.retryPolicy ?? S3_RETRY_POLICY,
      },
    };
  }

  async head(location: string): Promise<ObjectEntry> {
    const command = target(parseS3Object(location));
    const answer = await request(this.#context, 's3:GetObject', location, () =>
      this.#context.client.send(new HeadObjectCommand(command)),
    );
    return {
      location,
      fileSizeBytes: toCount(answer.ContentLength ?? 0, `${location}: content length`),
      lastModifiedMs: answer.LastModified?.getTime() ?? 0,
    };
  }

  async read(location: string, fileSizeBytesMax: number): Promise<Uint8Array> {
    const command = target(parseS3Object(location));
    return await request(this.#context, 's3:GetObject', location, async () => {
      const answer = await this.#context.client.send(new GetObjectCommand(command));
      const fileSizeBytes = answer.ContentLength ?? 0;
      if (fileSizeBytes > fileSizeBytesMax) discardBody(answer);
      validateSize({ location, fileSizeBytes, fileSizeBytesMax });
      return await readBody(answer, location, fileSizeBytes);
    });
  }

  async readRange(location: string, offset: number, lengthBytes: number): Promise<Uint8Array> {
    const fileSizeBytes = Number.MAX_SAFE_INTEGER;
    validateRange({ location, offset, lengthBytes, fileSizeBytes });
    const command = target(parseS3Object(location));
    if (lengthBytes === 0) return new Uint8Array(0);
    const Range = `bytes=${offset}-${offset + lengthBytes - 1}`;
    return await request(this.#context, 's3:GetObject', location, async () => {
      const answer = await this.#context.client.send(new GetObjectCommand({ ...command, Range }));
      if (answer.ContentLength !== lengthBytes) {
        discardBody(answer);
        throw otherRange({ location, Range, ContentRange: answer.ContentRange });
      }
      return await readBody(answer, location, lengthBytes);
    });
  }

  openRanged(location: string, fileSizeBytes: number): RangedReader {
    return rangedReader(this, location, fileSizeBytes);
  }

  async write(location: string, bytes: Uint8Array, options: WriteOptions = {}): Promise<void> {
    const command = { ...target(parseS3Object(location)), Body: bytes };
    if (options.mustBeNew === true) {
      await this.#create(location, command);
    } else {
      await request(this.#context, 's3:PutObject', location, () =>
        this.#context.client.send(new PutObjectCommand(command)),
      );
    }
  }

  openWriter(location: string): ObjectWriter {
    return new S3ObjectWriter(this.#context, location);
  }

  list(prefix: string): AsyncIterable<ObjectEntry> {
    return listS3(this.#context, prefix);
  }

  async delete(locations: readonly string[]): Promise<DeleteOutcome> {
    return await deleteS3(this.#context, locations);
  }

  async #create(
    location: string,
    command: { readonly Bucket: string; readonly Key: string; readonly Body: Uint8Array },
  ): Promise<void> {
    const { writeId, metadata } = newWriteId(this.#context);
    const conditional = { ...command, IfNoneMatch: '*', Metadata: metadata };
    try {
      await requestOnce(this.#context, { location, writeId }, () =>
        this.#context.client.send(new PutObjectCommand(conditional)),
      );
    } catch (error) {
      throw isIcebergError(error, 'commit-conflict') ? alreadyThere(location, error) : error;
    }
  }
}

/** A range that reaches beyond the object comes back shorter; one that was ignored comes back whole. */
function otherRange(answer: {
  readonly location: string;
  readonly Range: string;
  readonly ContentRange: string | undefined;
}): IcebergError {
  const { location, Range, ContentRange } = answer;
  return new IcebergError(
    ContentRange === undefined ? 'unsupported' : 'invalid-data',
    `${location}: asked for ${Range}, got ${ContentRange ?? 'the whole object'}`,
    { location },
  );
}
