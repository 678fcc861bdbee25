import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { IcebergError, toCount } from '../base/index.ts';
import { parseS3Prefix } from './location.ts';
import type { ObjectEntry } from './object-store.ts';
import { request, type S3Context } from './s3-requests.ts';

/** Lists below a prefix, one request for each 1,000 objects. */
export async function* listS3(context: S3Context, prefix: string): AsyncIterable<ObjectEntry> {
  const { root, bucket, key } = parseS3Prefix(prefix);
  // Keys may hold characters that XML cannot, so they are asked for in URL encoding.
  const query = { Bucket: bucket, Prefix: key, EncodingType: 'url' as const };
  let ContinuationToken: string | undefined;
  do {
    const page: ListObjectsV2CommandOutput = await request(context, 's3:ListBucket', prefix, () =>
      context.client.send(new ListObjectsV2Command({ ...query, ContinuationToken })),
    );
    yield* pageEntries(page, root, prefix);
    ContinuationToken = nextToken(page, ContinuationToken, prefix);
  } while (ContinuationToken !== undefined);
}

function* pageEntries(
  page: ListObjectsV2CommandOutput,
  root: string,
  prefix: string,
): Iterable<ObjectEntry> {
  for (const { Key, Size, LastModified } of page.Contents ?? []) {
    if (Key === undefined || Size === undefined || LastModified === undefined) {
      throw badPage(prefix, 'an object without key, size or time');
    }
    const key = page.EncodingType === 'url' ? decodeKey(Key, prefix) : Key;
    yield {
      location: root + key,
      fileSizeBytes: toCount(Size, `${root}${key}: size`),
      lastModifiedMs: LastModified.getTime(),
    };
  }
}

/** Undoes form encoding: Amazon writes a space as `+`, other servers as `%20`, and all write plus as `%2B`. */
function decodeKey(encoded: string, prefix: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    // A URIError says no more than this.
    throw badPage(prefix, `key ${encoded} in a broken URL encoding`);
  }
}

function nextToken(
  page: ListObjectsV2CommandOutput,
  tokenBefore: string | undefined,
  prefix: string,
): string | undefined {
  if (page.IsTruncated !== true) return undefined;
  const token = page.NextContinuationToken;
  if (token === undefined) throw badPage(prefix, 'no token for the next page');
  if (token === tokenBefore) throw badPage(prefix, 'the token of the page before');
  return token;
}

function badPage(prefix: string, content: string): IcebergError {
  const message = `s3:ListBucket ${prefix}: answer with ${content}`;
  return new IcebergError('invalid-data', message, { location: prefix });
}
