import { lowerBound } from '../../shared/storage/index.ts';
import { refusal, type S3Answer, xmlAnswer } from './answers.ts';
import { bucketOf, type S3Call } from './call.ts';
import { isoTime } from './object-requests.ts';
import type { BucketState } from './state.ts';
import { element } from './xml.ts';

const PAGE_COUNT_MAX = 1000;

export function listObjectsV2(call: S3Call): S3Answer {
  const { query } = call;
  const token = query.get('continuation-token');
  const after = token === null ? query.get('start-after') : decodeToken(token);
  const listing = parseListing(call, after);
  const page = takePage(bucketOf(call), listing);
  const content =
    commonContent(call, listing, page) +
    element('KeyCount', page.keys.length + page.commonPrefixes.length) +
    (token === null ? '' : element('ContinuationToken', token)) +
    (page.last === undefined ? '' : element('NextContinuationToken', encodeToken(page.last))) +
    (query.has('start-after')
      ? element('StartAfter', listing.encode(query.get('start-after') ?? ''))
      : '');
  return xmlAnswer('ListBucketResult', content);
}

/** The first version of the listing, which some clients still use. */
export function listObjects(call: S3Call): S3Answer {
  const marker = call.query.get('marker');
  const listing = parseListing(call, marker);
  const page = takePage(bucketOf(call), listing);
  const content =
    commonContent(call, listing, page) +
    element('Marker', listing.encode(marker ?? '')) +
    (page.last === undefined ? '' : element('NextMarker', listing.encode(page.last)));
  return xmlAnswer('ListBucketResult', content);
}

interface Listing {
  readonly prefix: string;
  readonly delimiter: string;
  /** Keys and common prefixes up to and including this one have been listed. */
  readonly after: string;
  readonly countMax: number;
  readonly isUrlEncoded: boolean;
  encode(text: string): string;
}

function parseListing({ query }: S3Call, after: string | null): Listing {
  const countMax = Number(query.get('max-keys') ?? PAGE_COUNT_MAX);
  if (!Number.isInteger(countMax) || countMax < 0) {
    throw refusal(400, 'InvalidArgument', `max-keys: ${query.get('max-keys')} is not a count`);
  }
  const isUrlEncoded = query.get('encoding-type') === 'url';
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    after: after ?? '',
    countMax: Math.min(countMax, PAGE_COUNT_MAX),
    isUrlEncoded,
    encode: isUrlEncoded ? encodeLikeS3 : (text) => text,
  };
}

/** Form encoding, in which a space is a plus and slashes stay. */
function encodeLikeS3(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+').replaceAll('%2F', '/');
}

interface Page {
  readonly keys: readonly string[];
  readonly commonPrefixes: readonly string[];
  /** What the next page starts after, when there is more. */
  readonly last: string | undefined;
}

function takePage(bucket: BucketState, listing: Listing): Page {
  const { prefix, after, countMax } = listing;
  const sorted = bucket.sortedKeys();
  const keys: string[] = [];
  const commonPrefixes: string[] = [];
  let last = after;
  let index = Math.max(lowerBound(sorted, prefix), lowerBound(sorted, after));
  while (index < sorted.length && sorted[index]!.startsWith(prefix)) {
    const key = sorted[index]!;
    const commonPrefix = commonPrefixOf(key, listing);
    const isListed = key === after || commonPrefix === after;
    if (!isListed) {
      if (keys.length + commonPrefixes.length === countMax) {
        return { keys, commonPrefixes, last: countMax === 0 ? undefined : last };
      }
      last = commonPrefix ?? key;
      if (commonPrefix === undefined) keys.push(key);
      else commonPrefixes.push(commonPrefix);
    }
    index++;
    while (commonPrefix !== undefined && sorted[index]?.startsWith(commonPrefix)) index++;
  }
  return { keys, commonPrefixes, last: undefined };
}

function commonPrefixOf(key: string, { prefix, delimiter }: Listing): string | undefined {
  if (delimiter === '') return undefined;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
}

function commonContent(call: S3Call, listing: Listing, page: Page): string {
  const bucket = bucketOf(call);
  const contents = page.keys.map((key) => {
    const { etag, lengthBytes, lastModifiedMs } = bucket.get(key)!;
    return `<Contents>${
      element('Key', listing.encode(key)) +
      element('LastModified', isoTime(lastModifiedMs)) +
      element('ETag', etag) +
      element('Size', lengthBytes) +
      element('StorageClass', 'STANDARD')
    }</Contents>`;
  });
  const prefixes = page.commonPrefixes.map(
    (prefix) => `<CommonPrefixes>${element('Prefix', listing.encode(prefix))}</CommonPrefixes>`,
  );
  return (
    element('Name', call.bucket) +
    element('Prefix', listing.encode(listing.prefix)) +
    (listing.delimiter === '' ? '' : element('Delimiter', listing.encode(listing.delimiter))) +
    element('MaxKeys', listing.countMax) +
    (listing.isUrlEncoded ? element('EncodingType', 'url') : '') +
    element('IsTruncated', page.last !== undefined) +
    contents.join('') +
    prefixes.join('')
  );
}

/** Tokens say nothing to the client; here they are where the page before ended. */
function encodeToken(last: string): string {
  return Buffer.from(last).toString('base64url');
}

function decodeToken(token: string): string {
  return Buffer.from(token, 'base64url').toString();
}
