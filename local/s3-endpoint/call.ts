import type { IncomingMessage } from 'node:http';
import { refusal } from './answers.ts';
import type { BucketState, S3State } from './state.ts';

/** One request, taken apart. */
export interface S3Call {
  readonly state: S3State;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  /** Address under which the client reached the endpoint. */
  readonly endpoint: string;
  /** Told of each run of body bytes that arrives, its framing taken off. */
  readonly countReceived: (lengthBytes: number) => void;
}

/**
 * Bucket and key of a path-style request target, each decoded once and otherwise as sent: `//`, `.` and `..` are
 * parts of keys.
 */
export function parseTarget(requestTarget: string): {
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
} {
  const queryStart = requestTarget.indexOf('?');
  const path = queryStart < 0 ? requestTarget : requestTarget.slice(0, queryStart);
  const query = new URLSearchParams(queryStart < 0 ? '' : requestTarget.slice(queryStart + 1));
  const bucketEnd = path.indexOf('/', 1);
  return {
    bucket: decodePart(bucketEnd < 0 ? path.slice(1) : path.slice(1, bucketEnd)),
    key: bucketEnd < 0 ? '' : decodePart(path.slice(bucketEnd + 1)),
    query,
  };
}

/** Undoes percent encoding; a plus stands for itself. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A URIError says no more than this.
    throw refusal(400, 'InvalidURI', `${text}: not a percent-encoded UTF-8 text`);
  }
}

export function header({ request }: S3Call, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

export function bucketOf({ state, bucket }: S3Call): BucketState {
  const found = state.buckets.get(bucket);
  if (found === undefined) throw refusal(404, 'NoSuchBucket', `${bucket}: no such bucket`);
  return found;
}
