import { createHash } from 'node:crypto';
import { randomUuid, systemRandom } from '../../shared/base/index.ts';
import { refusal, type S3Answer, xmlAnswer } from './answers.ts';
import { bucketOf, header, type S3Call } from './call.ts';
import { CHECKSUM_NAMES } from './checksums.ts';
import { checkWriteConditions } from './conditions.ts';
import {
  copyBody,
  copyResult,
  copySource,
  isoTime,
  publishBody,
  writtenHeaders,
} from './object-requests.ts';
import { parseCopyRange } from './ranges.ts';
import { checksumHeader, type ReceivedBody, receiveBody, receiveText } from './request-body.ts';
import type { MultipartUpload, UploadedPart } from './state.ts';
import { element, elements, elementText, readXml } from './xml.ts';

/** Every part but the last must have this length. */
const PART_BYTES_MIN = 5 * 2 ** 20;
const PART_NUMBER_MAX = 10_000;

/** 10,000 parts with every checksum fit. */
const COMPLETE_BYTES_MAX = 8 * 2 ** 20;

export function createMultipartUpload(call: S3Call): S3Answer {
  bucketOf(call);
  const uploadId = randomUuid(systemRandom);
  call.state.uploads.set(uploadId, {
    bucket: call.bucket,
    key: call.key,
    startedMs: call.state.clock.nowMs(),
    headers: writtenHeaders(call),
    partByNumber: new Map(),
  });
  return xmlAnswer('InitiateMultipartUploadResult', uploadIdentity(call, uploadId));
}

export async function uploadPart(call: S3Call): Promise<S3Answer> {
  const part = storePart(call, await receivePart(call, () => receiveBody(call)));
  return { status: 200, headers: { etag: part.etag, ...part.checksums } };
}

export async function uploadPartCopy(call: S3Call): Promise<S3Answer> {
  const received = await receivePart(call, async () => {
    const source = copySource(call);
    const range = parseCopyRange(header(call, 'x-amz-copy-source-range'), source.lengthBytes);
    return await copyBody(call, source, range);
  });
  return xmlAnswer('CopyPartResult', copyResult(storePart(call, received)));
}

export async function completeMultipartUpload(call: S3Call): Promise<S3Answer> {
  const bucket = bucketOf(call);
  const { uploadId, upload } = uploadOf(call);
  const parts = chooseParts(upload, readXml(await receiveText(call, COMPLETE_BYTES_MAX)));
  const check = (): void => {
    uploadOf(call);
    checkWriteConditions(call, bucket.get(call.key));
  };
  check();
  const body = await call.state.bodies.receive(concatParts(parts));
  const received = { body, etag: multipartEtag(parts), checksums: {} };
  const object = publishBody(call, received, upload.headers, check);
  endUpload(call, uploadId, upload);
  return xmlAnswer(
    'CompleteMultipartUploadResult',
    element('Location', `${call.endpoint}/${call.bucket}/${encodeURIComponent(call.key)}`) +
      element('Bucket', call.bucket) +
      element('Key', call.key) +
      element('ETag', object.etag),
  );
}

export function abortMultipartUpload(call: S3Call): S3Answer {
  const { uploadId, upload } = uploadOf(call);
  endUpload(call, uploadId, upload);
  return { status: 204 };
}

export function listParts(call: S3Call): S3Answer {
  const { uploadId, upload } = uploadOf(call);
  const numberAfter = Number(call.query.get('part-number-marker') ?? 0);
  const countMax = Math.min(1000, Number(call.query.get('max-parts') ?? 1000));
  const numbers = [...upload.partByNumber.keys()]
    .filter((partNumber) => partNumber > numberAfter)
    .sort((one, other) => one - other);
  const page = numbers.slice(0, countMax);
  const content = page.map((partNumber) => {
    const part = upload.partByNumber.get(partNumber)!;
    const described = element('PartNumber', partNumber) + element('Size', part.body.lengthBytes);
    return `<Part>${described}${copyResult(part)}</Part>`;
  });
  return xmlAnswer(
    'ListPartsResult',
    uploadIdentity(call, uploadId) +
      element('PartNumberMarker', numberAfter) +
      element('NextPartNumberMarker', page.at(-1) ?? 0) +
      element('MaxParts', countMax) +
      element('IsTruncated', page.length < numbers.length) +
      element('StorageClass', 'STANDARD') +
      content.join(''),
  );
}

export function listMultipartUploads(call: S3Call): S3Answer {
  bucketOf(call);
  const prefix = call.query.get('prefix') ?? '';
  const uploads = [...call.state.uploads]
    .filter(([, { bucket, key }]) => bucket === call.bucket && key.startsWith(prefix))
    .map(([uploadId, { key, startedMs }]) => {
      const described = element('Key', key) + element('UploadId', uploadId);
      return `<Upload>${described}${element('Initiated', isoTime(startedMs))}</Upload>`;
    });
  return xmlAnswer(
    'ListMultipartUploadsResult',
    element('Bucket', call.bucket) + element('IsTruncated', false) + uploads.join(''),
  );
}

function uploadIdentity({ bucket, key }: S3Call, uploadId: string): string {
  return element('Bucket', bucket) + element('Key', key) + element('UploadId', uploadId);
}

function uploadOf(call: S3Call): { readonly uploadId: string; readonly upload: MultipartUpload } {
  const uploadId = call.query.get('uploadId') ?? '';
  const upload = call.state.uploads.get(uploadId);
  if (upload?.bucket !== call.bucket || upload.key !== call.key) {
    throw refusal(404, 'NoSuchUpload', `${uploadId}: no such upload of ${call.key}`);
  }
  return { uploadId, upload };
}

/** Tests number and upload before the body is taken in. */
async function receivePart(
  call: S3Call,
  receive: () => Promise<ReceivedBody>,
): Promise<ReceivedBody> {
  partNumberOf(call);
  uploadOf(call);
  return await receive();
}

function storePart(call: S3Call, { body, etag, checksums }: ReceivedBody): UploadedPart {
  const { upload } = uploadOf(call);
  const partNumber = partNumberOf(call);
  const before = upload.partByNumber.get(partNumber);
  if (before !== undefined) call.state.bodies.discard(before.body);
  const part = { body, etag, checksums, lastModifiedMs: call.state.clock.nowMs() };
  upload.partByNumber.set(partNumber, part);
  return part;
}

function partNumberOf({ query }: S3Call): number {
  const partNumber = Number(query.get('partNumber'));
  if (Number.isInteger(partNumber) && partNumber >= 1 && partNumber <= PART_NUMBER_MAX) {
    return partNumber;
  }
  throw refusal(400, 'InvalidArgument', `partNumber: not within 1 to ${PART_NUMBER_MAX}`);
}

/** The parts that a completing request names, in its order, held to what was uploaded. */
function chooseParts(upload: MultipartUpload, xml: string): UploadedPart[] {
  let numberBefore = 0;
  const parts = elements(xml, 'Part').map((partXml) => {
    const partNumber = Number(elementText(partXml, 'PartNumber'));
    if (!(partNumber > numberBefore)) {
      throw refusal(400, 'InvalidPartOrder', `part ${partNumber}: follows part ${numberBefore}`);
    }
    numberBefore = partNumber;
    return choosePart(upload, partNumber, partXml);
  });
  if (parts.length === 0) throw refusal(400, 'MalformedXML', 'document: names no part');
  const tooSmall = parts.slice(0, -1).find(({ body }) => body.lengthBytes < PART_BYTES_MIN);
  if (tooSmall === undefined) return parts;
  throw refusal(
    400,
    'EntityTooSmall',
    `part of ${tooSmall.body.lengthBytes} bytes: less than ${PART_BYTES_MIN}`,
  );
}

function choosePart(upload: MultipartUpload, partNumber: number, partXml: string): UploadedPart {
  const part = upload.partByNumber.get(partNumber);
  const etag = elementText(partXml, 'ETag')?.replaceAll('"', '');
  if (part === undefined || etag !== part.etag.replaceAll('"', '')) {
    throw refusal(400, 'InvalidPart', `part ${partNumber}: was not uploaded with ETag ${etag}`);
  }
  for (const name of CHECKSUM_NAMES) {
    const sent = elementText(partXml, `Checksum${name.toUpperCase()}`);
    const stored = part.checksums[checksumHeader(name)];
    if (sent !== undefined && stored !== undefined && sent !== stored) {
      throw refusal(400, 'InvalidPart', `part ${partNumber}: ${name} is ${stored}, not ${sent}`);
    }
  }
  return part;
}

async function* concatParts(parts: readonly UploadedPart[]): AsyncGenerator<Uint8Array> {
  for (const { body } of parts) yield* body.open(0, body.lengthBytes) as AsyncIterable<Uint8Array>;
}

/** MD5 over the MD5 of the parts, with their count. */
function multipartEtag(parts: readonly UploadedPart[]): string {
  const hash = createHash('md5');
  for (const { etag } of parts) hash.update(Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return `"${hash.digest('hex')}-${parts.length}"`;
}

function endUpload(call: S3Call, uploadId: string, upload: MultipartUpload): void {
  call.state.uploads.delete(uploadId);
  for (const { body } of upload.partByNumber.values()) call.state.bodies.discard(body);
}
