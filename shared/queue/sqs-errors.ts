import { type ErrorKind, IcebergError } from '../base/index.ts';

/** The right that a request needs, as policies spell it. */
export type SqsAction = 'sqs:SendMessage' | 'sqs:ChangeMessageVisibility';

/** What an error name of the service or its client means; the HTTP status decides for others. */
const KIND_BY_NAME: Readonly<Record<string, ErrorKind>> = {
  QueueDoesNotExist: 'not-found',
  'AWS.SimpleQueueService.NonExistentQueue': 'not-found',
  AccessDenied: 'access-denied',
  AccessDeniedException: 'access-denied',
  CredentialsProviderError: 'access-denied',
  ExpiredTokenException: 'access-denied',
  IncompleteSignature: 'access-denied',
  InvalidClientTokenId: 'access-denied',
  InvalidSecurity: 'access-denied',
  MissingAuthenticationTokenException: 'access-denied',
  SignatureDoesNotMatch: 'access-denied',
  UnrecognizedClientException: 'access-denied',
  InvalidMessageContents: 'invalid-data',
  RequestThrottled: 'unavailable',
  OverLimit: 'unavailable',
  ThrottlingException: 'unavailable',
  KmsThrottled: 'unavailable',
  KmsAccessDenied: 'access-denied',
};

const KIND_BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  401: 'access-denied',
  403: 'access-denied',
  404: 'not-found',
  408: 'unavailable',
  429: 'unavailable',
};

/** The message is visible again, deleted, or received under another receipt. */
const GONE_NAMES: readonly string[] = [
  'MessageNotInflight',
  'AWS.SimpleQueueService.MessageNotInflight',
  'ReceiptHandleIsInvalid',
];

export function isMessageGone(error: unknown): boolean {
  return error instanceof Error && GONE_NAMES.includes(error.name);
}

/**
 * Translates what a request threw. Without an HTTP status, or with one of success, there was no whole answer:
 * `unavailable`. Another status below 500 is a mistake in the queue's address, region or settings: `invalid-config`.
 */
export function sqsError(action: SqsAction, queueUrl: string, error: unknown): unknown {
  // A TypeError is a mistake in a program, not an answer of the service.
  if (!(error instanceof Error) || error instanceof TypeError) return error;
  const status = httpStatus(error);
  const kind = KIND_BY_NAME[error.name] ?? kindOfStatus(status);
  const statusText = status === undefined ? '' : `, status ${status}`;
  return new IcebergError(
    kind,
    `queue ${queueUrl}: ${action}: ${error.name}${statusText}`,
    { action, queueUrl },
    error,
  );
}

function kindOfStatus(status: number | undefined): ErrorKind {
  if (status === undefined || status < 300 || status >= 500) return 'unavailable';
  return KIND_BY_STATUS[status] ?? 'invalid-config';
}

function httpStatus(error: Error): number | undefined {
  if (!('$metadata' in error)) return undefined;
  const { $metadata } = error;
  if (typeof $metadata !== 'object' || $metadata === null) return undefined;
  if (!('httpStatusCode' in $metadata)) return undefined;
  return typeof $metadata.httpStatusCode === 'number' ? $metadata.httpStatusCode : undefined;
}
