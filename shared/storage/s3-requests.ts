import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { isIcebergError, randomUuid } from '../base/index.ts';
import { parseS3Object, type S3Location } from './location.ts';
import { type RetryContext, withRetries } from './retry.ts';
import { type S3Action, s3Error } from './s3-errors.ts';

/** What every request to S3 needs. */
export interface S3Context {
  readonly client: S3Client;
  readonly retry: RetryContext;
}

/** Name of the user metadata by which a writer knows its own object again. */
const WRITE_ID = 'firn-write-id';

/** Runs one request with retries; what it throws is translated, naming `action` and `location`. */
export async function request<Result>(
  { retry }: S3Context,
  action: S3Action,
  location: string,
  fn: () => Promise<Result>,
): Promise<Result> {
  return await withRetries(retry, async () => {
    try {
      return await fn();
    } catch (error) {
      throw s3Error(action, location, error);
    }
  });
}

/** Bucket and key as the client's commands take them. */
export function target({ bucket, key }: S3Location): {
  readonly Bucket: string;
  readonly Key: string;
} {
  return { Bucket: bucket, Key: key };
}

/**
 * Runs a write whose refusal may be its own doing: when an attempt takes effect but its answer is lost, the
 * next one meets the object just written (`commit-conflict`) or an upload that is gone (`not-found`). The
 * object then carries this write's id.
 *
 * @param fn sends the request, with the given user metadata if it is the request that carries it
 */
export async function requestOnce(
  context: S3Context,
  write: { readonly location: string; readonly writeId: string },
  fn: () => Promise<unknown>,
): Promise<void> {
  let attemptCount = 0;
  try {
    await request(context, 's3:PutObject', write.location, async () => {
      attemptCount++;
      await fn();
    });
  } catch (error) {
    const isRefusal =
      isIcebergError(error, 'commit-conflict') || isIcebergError(error, 'not-found');
    if (isRefusal && attemptCount > 1 && (await isOwnObject(context, write))) return;
    throw error;
  }
}

/** A new write id, and the metadata that carries it. */
export function newWriteId({ retry }: S3Context): {
  readonly writeId: string;
  readonly metadata: Record<string, string>;
} {
  const writeId = randomUuid(retry.random);
  return { writeId, metadata: { [WRITE_ID]: writeId } };
}

async function isOwnObject(
  context: S3Context,
  { location, writeId }: { readonly location: string; readonly writeId: string },
): Promise<boolean> {
  try {
    const answer = await request(context, 's3:GetObject', location, () =>
      context.client.send(new HeadObjectCommand(target(parseS3Object(location)))),
    );
    return answer.Metadata?.[WRITE_ID] === writeId;
  } catch (error) {
    if (isIcebergError(error, 'not-found')) return false;
    throw error;
  }
}
