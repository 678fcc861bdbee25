import { createHash } from 'node:crypto';
import { refusal } from './answers.ts';
import { decodeAwsChunked } from './aws-chunked.ts';
import type { StoredBody } from './body-store.ts';
import { header, type S3Call } from './call.ts';
import { CHECKSUM_NAMES, type Checksum, type ChecksumName, createChecksum } from './checksums.ts';

export interface ReceivedBody {
  readonly body: StoredBody;
  /** MD5 of the bytes, quoted. */
  readonly etag: string;
  /** The checksums that the client sent and that hold, by header name. */
  readonly checksums: Readonly<Record<string, string>>;
}

/** Takes in a request's body and holds it to its length, MD5 and checksums, in headers or trailers. */
export async function receiveBody(call: S3Call): Promise<ReceivedBody> {
  const trailers = new Map<string, string>();
  const counted = countBytes(call, trailers);
  const body = await call.state.bodies.receive(counted.bytes);
  try {
    validateLength(call, body.lengthBytes);
    const md5 = counted.md5();
    validateMd5(call, md5);
    const checksums = validateChecksums(call, trailers, counted.checksums);
    return { body, etag: `"${md5.toString('hex')}"`, checksums };
  } catch (error) {
    call.state.bodies.discard(body);
    throw error;
  }
}

/** As `receiveBody`, for a document. */
export async function receiveText(call: S3Call, lengthBytesMax: number): Promise<string> {
  const trailers = new Map<string, string>();
  const counted = countBytes(call, trailers);
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const chunk of counted.bytes) {
    lengthBytes += chunk.length;
    if (lengthBytes > lengthBytesMax) {
      throw refusal(400, 'MalformedXML', `document: more than ${lengthBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  validateMd5(call, counted.md5());
  validateChecksums(call, trailers, counted.checksums);
  return Buffer.concat(chunks).toString('utf8');
}

/** Bytes of a body that is already ours, with the MD5 of what passed. */
export function md5OfStream(source: AsyncIterable<Uint8Array>): {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly md5: () => Buffer;
} {
  const hash = createHash('md5');
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: pass(), md5: () => hash.digest() };
}

function countBytes(call: S3Call, trailers: Map<string, string>) {
  const decoded = isAwsChunked(call) ? decodeAwsChunked(call.request, trailers) : call.request;
  const { bytes, md5 } = md5OfStream(decoded);
  const checksums = new Map<ChecksumName, Checksum>();
  for (const name of announcedChecksums(call)) checksums.set(name, createChecksum(name));
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      call.countReceived(chunk.length);
      for (const checksum of checksums.values()) checksum.update(chunk);
      yield chunk;
    }
  }
  return { bytes: pass(), md5, checksums };
}

function isAwsChunked(call: S3Call): boolean {
  const isEncoded = (header(call, 'content-encoding') ?? '').split(',').some((encoding) => {
    return encoding.trim() === 'aws-chunked';
  });
  return isEncoded || (header(call, 'x-amz-content-sha256') ?? '').startsWith('STREAMING-');
}

function announcedChecksums(call: S3Call): ChecksumName[] {
  const trailerNames = (header(call, 'x-amz-trailer') ?? '').toLowerCase().split(/\s*,\s*/);
  return CHECKSUM_NAMES.filter((name) => {
    const headerName = checksumHeader(name);
    return header(call, headerName) !== undefined || trailerNames.includes(headerName);
  });
}

/** Header, trailer and answer field of a checksum. */
export function checksumHeader(name: ChecksumName): string {
  return `x-amz-checksum-${name}`;
}

function validateLength(call: S3Call, lengthBytes: number): void {
  const decodedLength = header(call, 'x-amz-decoded-content-length');
  const announced = isAwsChunked(call) ? decodedLength : header(call, 'content-length');
  if (announced === undefined || Number.parseInt(announced, 10) === lengthBytes) return;
  throw refusal(400, 'IncompleteBody', `body: ${lengthBytes} bytes, ${announced} were announced`);
}

function validateMd5(call: S3Call, md5: Buffer): void {
  const sent = header(call, 'content-md5');
  if (sent === undefined || sent === md5.toString('base64')) return;
  throw refusal(400, 'BadDigest', `body: Content-MD5 ${sent} does not match`);
}

function validateChecksums(
  call: S3Call,
  trailers: ReadonlyMap<string, string>,
  computed: ReadonlyMap<ChecksumName, Checksum>,
): Record<string, string> {
  const valid: Record<string, string> = {};
  for (const [name, checksum] of computed) {
    const headerName = checksumHeader(name);
    const sent = header(call, headerName) ?? trailers.get(headerName);
    const value = checksum.toBase64();
    if (sent !== value) {
      throw refusal(400, 'BadDigest', `body: ${headerName} is ${value}, ${sent} was sent`);
    }
    valid[headerName] = value;
  }
  return valid;
}
