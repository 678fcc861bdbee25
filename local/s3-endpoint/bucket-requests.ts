import { KeyIndex } from '../../shared/storage/index.ts';
import { refusal, type S3Answer, xmlAnswer } from './answers.ts';
import { bucketOf, header, type S3Call } from './call.ts';
import { isoTime, removeObject } from './object-requests.ts';
import { receiveText } from './request-body.ts';
import type { S3State } from './state.ts';
import { element, elements, elementText, readXml } from './xml.ts';

const DELETE_COUNT_MAX = 1000;

/** 1,000 keys of 1,024 bytes, each byte escaped. */
const DELETE_BYTES_MAX = 8 * 2 ** 20;

export function listBuckets({ state }: S3Call): S3Answer {
  const buckets = [...state.buckets.keys()].sort().map((name) => {
    return `<Bucket>${element('Name', name)}${element('CreationDate', isoTime(0))}</Bucket>`;
  });
  const owner = `<Owner>${element('ID', 'local')}${element('DisplayName', 'local')}</Owner>`;
  return xmlAnswer('ListAllMyBucketsResult', `${owner}<Buckets>${buckets.join('')}</Buckets>`);
}

export function createBucket(call: S3Call): S3Answer {
  if (call.state.buckets.has(call.bucket)) {
    throw refusal(409, 'BucketAlreadyOwnedByYou', `${call.bucket}: bucket exists`);
  }
  addBucket(call.state, call.bucket);
  return { status: 200, headers: { location: `/${call.bucket}` } };
}

/** Makes an empty bucket. The name must not be taken. */
export function addBucket(state: S3State, bucket: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{2,62}$/.test(bucket)) {
    throw refusal(400, 'InvalidBucketName', `${bucket}: no bucket can have this name`);
  }
  state.bodies.createBucket(bucket);
  state.buckets.set(bucket, new KeyIndex());
}

export function headBucket(call: S3Call): S3Answer {
  bucketOf(call);
  return { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' } };
}

export function getBucketLocation(call: S3Call): S3Answer {
  bucketOf(call);
  return xmlAnswer('LocationConstraint', '');
}

export function deleteBucket(call: S3Call): S3Answer {
  if (bucketOf(call).keyCount > 0) {
    throw refusal(409, 'BucketNotEmpty', `${call.bucket}: bucket holds objects`);
  }
  call.state.buckets.delete(call.bucket);
  call.state.bodies.deleteBucket(call.bucket);
  return { status: 204 };
}

export async function deleteObjects(call: S3Call): Promise<S3Answer> {
  bucketOf(call);
  const isChecked = Object.keys(call.request.headers).some(
    (name) => name === 'content-md5' || name.startsWith('x-amz-checksum-'),
  );
  if (!isChecked && header(call, 'x-amz-trailer') === undefined) {
    throw refusal(400, 'InvalidRequest', 'DeleteObjects: neither Content-MD5 nor a checksum');
  }
  const xml = readXml(await receiveText(call, DELETE_BYTES_MAX));
  const keys = elements(xml, 'Object').map((object) => elementText(object, 'Key') ?? '');
  if (keys.length === 0 || keys.length > DELETE_COUNT_MAX || keys.includes('')) {
    throw refusal(400, 'MalformedXML', `document: names ${keys.length} keys, 1 to 1000 allowed`);
  }
  for (const key of keys) removeObject(call, key);
  const isQuiet = elementText(xml, 'Quiet') === 'true';
  const deleted = isQuiet ? [] : keys.map((key) => `<Deleted>${element('Key', key)}</Deleted>`);
  return xmlAnswer('DeleteResult', deleted.join(''));
}
