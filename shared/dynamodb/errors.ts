import { type ErrorKind, IcebergError } from '../base/index.ts';

/** One request to the service, as error messages name it. */
export interface DynamoDbCall {
  /** The right it needs, such as `dynamodb:UpdateItem`. */
  readonly action: string;
  /** What the service's table is for, as messages begin: `catalog table` or `ledger table`. */
  readonly tableRole: string;
  readonly tableName: string;
  /** The item it is about, where there is one. */
  readonly item?: string;
}

/**
 * Answers that say for certain that the request changed nothing: the service refuses before it writes, and
 * with each of them names its reason. A 5xx, a timeout, a reset or an answer that cannot be read is not among
 * them, nor is a name that is not listed here.
 */
const REFUSALS: Readonly<Record<string, ErrorKind>> = {
  ConditionalCheckFailedException: 'commit-conflict',
  // A transaction (Java's rename) or another region is writing this very item: the request was turned away.
  TransactionConflictException: 'commit-conflict',
  ReplicatedWriteConflictException: 'commit-conflict',

  AccessDeniedException: 'access-denied',
  ExpiredTokenException: 'access-denied',
  IncompleteSignatureException: 'access-denied',
  InvalidSignatureException: 'access-denied',
  MissingAuthenticationTokenException: 'access-denied',
  UnrecognizedClientException: 'access-denied',
  // Raised by the SDK before anything is sent.
  CredentialsProviderError: 'access-denied',

  ResourceNotFoundException: 'not-found',

  // Throttling: the request was not let in, whatever is short (table, index, account).
  LimitExceededException: 'unavailable',
  ProvisionedThroughputExceededException: 'unavailable',
  RequestLimitExceeded: 'unavailable',
  ThrottlingException: 'unavailable',

  // The request is malformed, does not fit the table's keys, or would make the item larger than 400 KB.
  ItemCollectionSizeLimitExceededException: 'invalid-config',
  SerializationException: 'invalid-config',
  UnknownOperationException: 'invalid-config',
  ValidationException: 'invalid-config',
};

/** No connection was made, so nothing was sent. */
const CONNECT_ERROR_CODES: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

const PROBLEMS: Readonly<Partial<Record<ErrorKind, string>>> = {
  'access-denied': 'access denied for',
  'commit-conflict': 'condition does not hold for',
  'commit-state-unknown': 'no readable answer to',
  'invalid-config': 'refused as malformed:',
  'not-found': 'no such table, for',
  unavailable: 'no success for',
};

/** The operating error for a failed read; what is not a refusal may succeed when done again. */
export function translateReadError(cause: unknown, call: DynamoDbCall): IcebergError {
  return describe(refusalKind(cause) ?? 'unavailable', cause, call);
}

/** The operating error for a failed write; what is not a refusal leaves open whether it was applied. */
export function translateWriteError(cause: unknown, call: DynamoDbCall): IcebergError {
  return describe(refusalKind(cause) ?? 'commit-state-unknown', cause, call);
}

function refusalKind(cause: unknown): ErrorKind | undefined {
  const { name, code } = errorLabels(cause);
  if (CONNECT_ERROR_CODES.includes(code)) return 'unavailable';
  return Object.hasOwn(REFUSALS, name) ? REFUSALS[name] : undefined;
}

function describe(kind: ErrorKind, cause: unknown, call: DynamoDbCall): IcebergError {
  const { name, code } = errorLabels(cause);
  const request = call.item === undefined ? call.action : `${call.action} of ${call.item}`;
  return new IcebergError(
    kind,
    `${call.tableRole} ${call.tableName}: ${PROBLEMS[kind]} ${request} (${code || name})`,
    { ...call },
    cause,
  );
}

function errorLabels(cause: unknown): { readonly name: string; readonly code: string } {
  if (!(cause instanceof Error)) return { name: typeof cause, code: '' };
  const code: unknown = 'code' in cause ? cause.code : undefined;
  return { name: cause.name, code: typeof code === 'string' ? code : '' };
}
