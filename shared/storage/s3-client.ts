import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/** Connections to S3 at one time: a planner reads manifests, a rewriter copies ranges, 16 to 32 at a time each. */
const CONNECTION_COUNT_MAX = 64;

/** Within a region a connection takes milliseconds; beyond this another attempt is the better bet. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The longest time without a byte in either direction. */
const IDLE_TIMEOUT_MS = 20_000;

/** Time for queueing, sending an 8 MiB part and the first byte of the answer, on a slow line. */
const REQUEST_TIMEOUT_MS = 60_000;

export interface S3ClientOptions {
  readonly region: string;
  /** For servers other than Amazon's, such as `http://127.0.0.1:9000`. */
  readonly endpoint?: string;
  /** Puts the bucket into the path instead of the host name; other servers need it. */
  readonly forcePathStyle?: boolean;
  /** By default those of the environment, the profile or the role. */
  readonly credentials?: NonNullable<S3ClientConfig['credentials']>;
}

/**
 * Makes the client that `S3ObjectStore` works with; made once per process. The client itself never
 * retries: the store does, so that retries are counted and timed in one place. The client checks
 * the checksums that S3 sends, and sends CRC-32 of what it writes.
 */
export function createS3Client(options: S3ClientOptions): S3Client {
  const agent = { keepAlive: true, maxSockets: CONNECTION_COUNT_MAX };
  return new S3Client({
    region: options.region,
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    forcePathStyle: options.forcePathStyle ?? false,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    }),
  });
}

/** Waiting for a free connection is normal here, not worth the handler's warnings on the console. */
const SILENT = { debug: noop, info: noop, warn: noop, error: noop };

function noop(): void {}
