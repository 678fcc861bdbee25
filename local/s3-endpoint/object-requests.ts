import { noSuchKey, refusal, type S3Answer, xmlAnswer } from './answers.ts';
import type { StoredObject } from './body-store.ts';
import { bucketOf, decodePart, header, type S3Call } from './call.ts';
import { checkCopyConditions, checkReadConditions, checkWriteConditions } from './conditions.ts';
import { parseRange } from './ranges.ts';
import { md5OfStream, type ReceivedBody, receiveBody } from './request-body.ts';
import { element } from './xml.ts';

export function headObject(call: S3Call): S3Answer {
  const object = objectOf(call);
  checkReadConditions(call, object);
  const range = parseRange(header(call, 'range'), object.lengthBytes);
  return readAnswer(call, object, range);
}

export function getObject(call: S3Call): S3Answer {
  const object = objectOf(call);
  checkReadConditions(call, object);
  const range = parseRange(header(call, 'range'), object.lengthBytes);
  const { start, end } = range ?? { start: 0, end: object.lengthBytes };
  return { ...readAnswer(call, object, range), body: object.body.open(start, end) };
}

export async function putObject(call: S3Call): Promise<S3Answer> {
  const bucket = bucketOf(call);
  const received = await receiveBody(call);
  const object = publishBody(call, received, writtenHeaders(call), () =>
    checkWriteConditions(call, bucket.get(call.key)),
  );
  return { status: 200, headers: { etag: object.etag, ...object.checksums } };
}

export async function copyObject(call: S3Call): Promise<S3Answer> {
  const bucket = bucketOf(call);
  const source = copySource(call);
  const received = await copyBody(call, source, { start: 0, end: source.lengthBytes });
  const isReplaced = header(call, 'x-amz-metadata-directive')?.toUpperCase() === 'REPLACE';
  const headers = isReplaced ? writtenHeaders(call) : source.headers;
  const object = publishBody(call, { ...received, checksums: source.checksums }, headers, () =>
    checkWriteConditions(call, bucket.get(call.key)),
  );
  return xmlAnswer('CopyObjectResult', copyResult(object));
}

export function deleteObject(call: S3Call): S3Answer {
  const bucket = bucketOf(call);
  if (header(call, 'if-match') !== undefined) checkWriteConditions(call, bucket.get(call.key));
  removeObject(call, call.key);
  return { status: 204 };
}

/** Deletes one object of the call's bucket, if it is there. */
export function removeObject(call: S3Call, key: string): void {
  if (bucketOf(call).delete(key)) call.state.bodies.remove(call.bucket, key);
}

/** ETag and time of something just copied, as XML. */
export function copyResult(copied: {
  readonly etag: string;
  readonly lastModifiedMs: number;
}): string {
  return element('ETag', copied.etag) + element('LastModified', isoTime(copied.lastModifiedMs));
}

export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** Makes a received body the call's object, if `check` lets it, in one synchronous step. */
export function publishBody(
  call: S3Call,
  { body, etag, checksums }: ReceivedBody,
  headers: Readonly<Record<string, string>>,
  check: () => void,
): StoredObject {
  const { bodies, clock } = call.state;
  try {
    check();
    const lastModifiedMs = clock.nowMs();
    const { lengthBytes } = body;
    const record = { lengthBytes, etag, lastModifiedMs, headers, checksums };
    const object = bodies.publish(call.bucket, call.key, body, record);
    bucketOf(call).set(call.key, object);
    return object;
  } catch (error) {
    bodies.discard(body);
    throw error;
  }
}

/** The object named by `x-amz-copy-source`, its conditions tested. */
export function copySource(call: S3Call): StoredObject {
  const copySourceHeader = header(call, 'x-amz-copy-source') ?? '';
  const [path = '', versionQuery] = copySourceHeader.replace(/^\//, '').split('?');
  if (versionQuery !== undefined) {
    throw refusal(501, 'NotImplemented', `${copySourceHeader}: versions are not served`);
  }
  const bucketEnd = path.indexOf('/');
  const bucket = decodePart(path.slice(0, Math.max(0, bucketEnd)));
  const source = objectOf({ ...call, bucket, key: decodePart(path.slice(bucketEnd + 1)) });
  checkCopyConditions(call, source);
  return source;
}

/** Copies bytes of an object into a new body. */
export async function copyBody(
  call: S3Call,
  source: StoredObject,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<ReceivedBody> {
  const { bytes, md5 } = md5OfStream(source.body.open(start, end));
  const body = await call.state.bodies.receive(bytes);
  return { body, etag: `"${md5().toString('hex')}"`, checksums: {} };
}

/** The headers of a write that come back with each read. */
export function writtenHeaders(call: S3Call): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of Object.keys(call.request.headers)) {
    const value = header(call, name);
    if (value !== undefined && isKept(name)) kept[name] = value;
  }
  // The framing of the transfer is gone; other encodings are the object's own.
  const encodings = (kept['content-encoding'] ?? '').split(',').map((one) => one.trim());
  const own = encodings.filter((encoding) => encoding !== 'aws-chunked' && encoding !== '');
  if (own.length > 0) kept['content-encoding'] = own.join(',');
  else delete kept['content-encoding'];
  return kept;
}

function isKept(name: string): boolean {
  return (
    name.startsWith('x-amz-meta-') ||
    ['cache-control', 'content-disposition', 'content-encoding', 'expires'].includes(name) ||
    ['content-language', 'content-type'].includes(name)
  );
}

function objectOf(call: S3Call): StoredObject {
  const object = bucketOf(call).get(call.key);
  if (object === undefined) throw noSuchKey(call.key);
  return object;
}

function readAnswer(
  call: S3Call,
  object: StoredObject,
  range: { readonly start: number; readonly end: number } | undefined,
): S3Answer {
  const { lengthBytes } = object;
  const { start, end } = range ?? { start: 0, end: lengthBytes };
  const isChecksumWanted = header(call, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      'content-type': 'binary/octet-stream',
      ...object.headers,
      'accept-ranges': 'bytes',
      'content-length': end - start,
      etag: object.etag,
      'last-modified': new Date(object.lastModifiedMs).toUTCString(),
      // The checksum is one of the whole object; with a part of it clients would take it for the part's.
      ...(range === undefined && isChecksumWanted ? object.checksums : {}),
      ...(range === undefined
        ? {}
        : { 'content-range': `bytes ${start}-${end - 1}/${lengthBytes}` }),
    },
  };
}
