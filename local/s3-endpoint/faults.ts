import type { S3Operation } from './operations.ts';

/** A request as a fault hook sees it. */
export interface S3RequestFacts {
  readonly operation: S3Operation;
  readonly bucket: string;
  readonly key: string;
  /** Requests of this operation before this one. */
  readonly operationIndex: number;
}

/** What goes wrong with one request. */
export interface S3Fault {
  /** Passes on the endpoint's clock before anything happens. */
  readonly latencyMs?: number;
  /**
   * What the client gets instead of the true answer: an error such as 503 SlowDown or 409
   * ConditionalRequestConflict, or a broken connection. Without it only the latency happens.
   */
  readonly answer?: { readonly status: number; readonly code: string } | 'dropped';
  /** The request is carried out before the client gets that. By default it is not. */
  readonly takesEffect?: boolean;
}

/** Asked before each request is carried out. */
export type S3FaultHook = (request: S3RequestFacts) => S3Fault | undefined;
