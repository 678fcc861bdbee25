import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  type DeleteObjectsCommandOutput,
} from '@aws-sdk/client-s3';
import { IcebergError, isIcebergError, mapConcurrent } from '../base/index.ts';
import { parseS3Object } from './location.ts';
import type { DeleteFailure, DeleteOutcome } from './object-store.ts';
import { s3Failure } from './s3-errors.ts';
import { request, type S3Context } from './s3-requests.ts';

/** S3 takes no more keys in one request. */
const BATCH_COUNT_MAX = 1000;

/** Each batch costs S3 as much as its keys: 4,000 at a time stay near the rate of one prefix. */
const BATCH_CONCURRENCY = 4;

/** Characters that no XML 1.0 document can hold, not even escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are the point.
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

interface Batch {
  readonly bucket: string;
  /** Keys to locations: `s3://b/k` and `s3a://b/k` are one object. */
  readonly locationsByKey: ReadonlyMap<string, readonly string[]>;
}

/** Deletes objects, up to 1,000 of one bucket with one request; keys that XML cannot hold one by one. */
export async function deleteS3(
  context: S3Context,
  locations: readonly string[],
): Promise<DeleteOutcome> {
  const outcomes = await mapConcurrent(
    planBatches(locations),
    { concurrencyMax: BATCH_CONCURRENCY },
    (batch) => deleteBatch(context, batch),
  );
  return {
    deleted: outcomes.flatMap(({ deleted }) => deleted),
    failed: outcomes.flatMap(({ failed }) => failed),
  };
}

function planBatches(locations: readonly string[]): Batch[] {
  const objects = Array.from(new Set(locations), (location) => ({
    location,
    ...parseS3Object(location),
  }));
  const batches: Batch[] = [];
  for (const [bucket, inBucket] of Map.groupBy(objects, (object) => object.bucket)) {
    const locationsByKey = Map.groupBy(inBucket, ({ key }) => key);
    const keys = [...locationsByKey.keys()];
    const addBatch = (batchKeys: readonly string[]): void => {
      const entries = batchKeys.map((key) => {
        const named = locationsByKey.get(key) ?? [];
        return [key, named.map(({ location }) => location)] as const;
      });
      batches.push({ bucket, locationsByKey: new Map(entries) });
    };
    const batchable = keys.filter((key) => !NOT_IN_XML.test(key));
    for (let start = 0; start < batchable.length; start += BATCH_COUNT_MAX) {
      addBatch(batchable.slice(start, start + BATCH_COUNT_MAX));
    }
    for (const key of keys.filter((one) => NOT_IN_XML.test(one))) addBatch([key]);
  }
  return batches;
}

/** The keys of a batch that are still to be deleted, with what S3 said of each last. */
type Pending = Map<string, IcebergError>;

async function deleteBatch(context: S3Context, batch: Batch): Promise<DeleteOutcome> {
  const pending: Pending = new Map();
  for (const key of batch.locationsByKey.keys()) pending.set(key, noAnswer(batch, key));
  try {
    await request(context, 's3:DeleteObject', `s3://${batch.bucket}/`, () =>
      deletePending(context, batch, pending),
    );
  } catch (error) {
    // The failure of the last request is the failure of each key that S3 has not answered for itself.
    if (!isIcebergError(error)) throw error;
    for (const [key, own] of pending) {
      if (own.context['code'] === NO_ANSWER) pending.set(key, ofKey(batch, key, error));
    }
  }
  return batchOutcome(batch, pending);
}

/** One request; throws `unavailable` while a key may yet be deleted by another one. */
async function deletePending(context: S3Context, batch: Batch, pending: Pending): Promise<void> {
  const keys = [...pending.keys()].filter((key) => isToBeTried(pending.get(key)));
  const [firstKey] = keys;
  if (firstKey !== undefined && NOT_IN_XML.test(firstKey)) {
    await context.client.send(new DeleteObjectCommand({ Bucket: batch.bucket, Key: firstKey }));
    pending.delete(firstKey);
    return;
  }
  const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: false };
  const answer = await context.client.send(
    new DeleteObjectsCommand({ Bucket: batch.bucket, Delete }),
  );
  noteAnswer(answer, batch, pending);
  const retryable = [...pending.values()].find(isToBeTried);
  if (retryable !== undefined) throw retryable;
}

/** Only keys that S3 names as deleted are gone: with `Quiet` a mangled key in an error would look deleted. */
function noteAnswer(answer: DeleteObjectsCommandOutput, batch: Batch, pending: Pending): void {
  for (const { Key } of answer.Deleted ?? []) if (Key !== undefined) pending.delete(Key);
  for (const { Key, Code } of answer.Errors ?? []) {
    if (Key === undefined || !pending.has(Key)) continue;
    if (Code === 'NoSuchKey') pending.delete(Key);
    else pending.set(Key, keyFailure(batch, Key, Code ?? 'InternalError'));
  }
}

function isToBeTried(error: IcebergError | undefined): boolean {
  return isIcebergError(error, 'unavailable');
}

function batchOutcome(batch: Batch, pending: Pending): DeleteOutcome {
  const deleted: string[] = [];
  const failed: DeleteFailure[] = [];
  for (const [key, locations] of batch.locationsByKey) {
    const error = pending.get(key);
    if (error === undefined) deleted.push(...locations);
    else {
      const { kind, message } = error;
      failed.push(...locations.map((location) => ({ location, kind, reason: message })));
    }
  }
  return { deleted, failed };
}

const NO_ANSWER = 'NoAnswer';

function noAnswer(batch: Batch, key: string): IcebergError {
  return keyFailure(batch, key, NO_ANSWER);
}

function keyFailure(batch: Batch, key: string, code: string): IcebergError {
  return s3Failure({ action: 's3:DeleteObject', location: locationOf(batch, key), code });
}

/** The failure of a whole request, told of one of its keys. */
function ofKey(batch: Batch, key: string, error: IcebergError): IcebergError {
  const location = locationOf(batch, key);
  const code = error.context['code'] ?? error.kind;
  const message = `s3:DeleteObject ${location}: ${code}`;
  return new IcebergError(error.kind, message, { location, code }, error);
}

function locationOf(batch: Batch, key: string): string {
  return batch.locationsByKey.get(key)?.[0] ?? `s3://${batch.bucket}/${key}`;
}
