import { type ErrorKind, IcebergError, isIcebergError } from '../base/index.ts';

/** The right that a request needs, as policies spell it. */
export type S3Action =
  | 's3:GetObject'
  | 's3:PutObject'
  | 's3:DeleteObject'
  | 's3:ListBucket'
  | 's3:AbortMultipartUpload';

/** What an error code of S3, or an error name of its client, means; the HTTP status decides for others. */
const KIND_BY_CODE: Readonly<Record<string, ErrorKind>> = {
  NoSuchKey: 'not-found',
  NoSuchBucket: 'not-found',
  NoSuchUpload: 'not-found',
  NotFound: 'not-found',
  AccessDenied: 'access-denied',
  AllAccessDisabled: 'access-denied',
  CredentialsProviderError: 'access-denied',
  ExpiredToken: 'access-denied',
  InvalidAccessKeyId: 'access-denied',
  InvalidToken: 'access-denied',
  RequestTimeTooSkewed: 'access-denied',
  SignatureDoesNotMatch: 'access-denied',
  PreconditionFailed: 'commit-conflict',
  InvalidRange: 'invalid-data',
  KeyTooLongError: 'invalid-data',
  // The object lies in an archive class and would have to be restored first; S3 answers 403.
  InvalidObjectState: 'unsupported',
  NotImplemented: 'unsupported',
  // Another conditional write of the same key is under way; which of them wins is not decided yet.
  ConditionalRequestConflict: 'unavailable',
  OperationAborted: 'unavailable',
  // The body was damaged on its way.
  BadDigest: 'unavailable',
  InternalError: 'unavailable',
  RequestTimeout: 'unavailable',
  ServiceUnavailable: 'unavailable',
  SlowDown: 'unavailable',
};

const KIND_BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  401: 'access-denied',
  403: 'access-denied',
  404: 'not-found',
  408: 'unavailable',
  409: 'unavailable',
  412: 'commit-conflict',
  416: 'invalid-data',
  429: 'unavailable',
  501: 'unsupported',
};

/**
 * Translates what a request of the S3 client threw. Without an HTTP status there was no whole answer (timeout,
 * reset, refused, broken body): `unavailable`. A status below 500 that says nothing else is a mistake in
 * bucket, region or endpoint: `invalid-config`.
 */
export function s3Error(action: S3Action, location: string, error: unknown): unknown {
  // A TypeError is a mistake in a program, not an answer of S3.
  if (isIcebergError(error) || !(error instanceof Error) || error instanceof TypeError) {
    return error;
  }
  const status = httpStatus(error);
  return s3Failure({ action, location, code: error.name, status }, error);
}

/** The error for an answer with the given code, such as one key's in the answer of DeleteObjects. */
export function s3Failure(
  answer: {
    readonly action: S3Action;
    readonly location: string;
    readonly code: string;
    readonly status?: number | undefined;
  },
  cause?: unknown,
): IcebergError {
  const { action, location, code, status } = answer;
  const statusText = status === undefined ? '' : `, status ${status}`;
  return new IcebergError(
    s3Kind(code, status),
    `${action} ${location}: ${code}${statusText}`,
    { action, location, code },
    cause,
  );
}

function s3Kind(code: string, status: number | undefined): ErrorKind {
  const kind =
    KIND_BY_CODE[code] ?? (status === undefined ? 'unavailable' : KIND_BY_STATUS[status]);
  if (kind !== undefined) return kind;
  return status !== undefined && status >= 300 && status < 500 ? 'invalid-config' : 'unavailable';
}

function httpStatus(error: Error): number | undefined {
  if (!('$metadata' in error)) return undefined;
  const { $metadata } = error;
  if (typeof $metadata !== 'object' || $metadata === null) return undefined;
  if (!('httpStatusCode' in $metadata)) return undefined;
  return typeof $metadata.httpStatusCode === 'number' ? $metadata.httpStatusCode : undefined;
}
