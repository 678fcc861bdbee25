/**
 * What follows from each kind of operating error. No throw site decides about retries or clean-up: it
 * names the kind, and this table says the rest.
 *
 * - `isRetryable`: the same work may succeed when done again within the retry budget.
 * - `keepsStagedFiles`: files written by the failed attempt must not be offered for deletion, since the
 *   pointer may name them.
 */
export const ERROR_KINDS = {
  /** Bytes or metadata break the specification. */
  'invalid-data': { isRetryable: false, keepsStagedFiles: false },
  /** Valid, but not something Firn does. */
  unsupported: { isRetryable: false, keepsStagedFiles: false },
  /** The operator's mistake: a property, an environment variable, an option. */
  'invalid-config': { isRetryable: false, keepsStagedFiles: false },
  /** A right is missing; the message names the action and the resource. */
  'access-denied': { isRetryable: false, keepsStagedFiles: false },
  /** The table or an object is gone. */
  'not-found': { isRetryable: false, keepsStagedFiles: false },
  /** Somebody else moved the pointer: reload, validate again, retry. */
  'commit-conflict': { isRetryable: true, keepsStagedFiles: false },
  /** The table was replaced, or a requirement can no longer come true. */
  'commit-rejected': { isRetryable: false, keepsStagedFiles: false },
  /** Nobody can tell yet whether the pointer moved. */
  'commit-state-unknown': { isRetryable: false, keepsStagedFiles: true },
  /** Throttling, a 5xx answer, a timeout, a reset connection. */
  unavailable: { isRetryable: true, keepsStagedFiles: false },
  /** Not enough time left to begin the next step. */
  deadline: { isRetryable: false, keepsStagedFiles: false },
  /** The verify step refused what was about to be committed. */
  invariant: { isRetryable: false, keepsStagedFiles: false },
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

/** Facts beside the message: location, offset, field, counts. Bigints are kept as they are. */
export type ErrorContext = Readonly<Record<string, string | number | bigint | boolean>>;

/**
 * Every operating error of Firn. `message` is `<subject>: <what is wrong, with both numbers>`;
 * `context` holds where; `cause` holds the error this one translates.
 */
export class IcebergError extends Error {
  override readonly name = 'IcebergError';
  readonly kind: ErrorKind;
  readonly context: ErrorContext;

  constructor(kind: ErrorKind, message: string, context: ErrorContext = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.context = context;
  }
}

/** Whether `error` is an operating error, of the given kind if one is named. */
export function isIcebergError(error: unknown, kind?: ErrorKind): error is IcebergError {
  return error instanceof IcebergError && (kind === undefined || error.kind === kind);
}
