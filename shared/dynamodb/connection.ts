import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type Clock, isIcebergError, type Random, randomFraction } from '../base/index.ts';
import { type DynamoDbCall, translateReadError, translateWriteError } from './errors.ts';

export interface DynamoDbConnectionOptions {
  readonly tableName: string;
  readonly region: string;
  /** Instead of the region's own endpoint. */
  readonly endpoint?: string;
  /** Instead of what the SDK finds in its surroundings. */
  readonly credentials?: NonNullable<DynamoDBClientConfig['credentials']>;
  /** How long one request may take, and how long its answer may pause; 10 s unless given. */
  readonly requestTimeoutMs?: number;
  readonly clock: Clock;
  readonly random: Random;
}

type RequestName = Omit<DynamoDbCall, 'tableName' | 'tableRole'>;

/** Far above DynamoDB's usual milliseconds, far below a Lambda's 15 minutes. */
const REQUEST_TIMEOUT_MS_DEFAULT = 10_000;
const CONNECTION_TIMEOUT_MS = 3_000;

/** Six attempts with full jitter: at most 6.2 s of waiting, enough for a partition that is being split. */
const READ_ATTEMPTS_MAX = 6;
const READ_WAIT_MS_FIRST = 200;

/**
 * Requests about one table. The SDK never repeats any of them: reads are repeated here, on our clock, and
 * writes are sent once, since a write whose answer was lost may have been applied.
 */
export class DynamoDbConnection {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** What the table is for and its name, as messages begin. */
  readonly subject: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly #tableRole: string;

  /** @param tableRole what the table is for, as messages begin, such as `catalog table` */
  constructor(tableRole: string, options: DynamoDbConnectionOptions) {
    const requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS_DEFAULT;
    this.tableName = options.tableName;
    this.subject = `${tableRole} ${options.tableName}`;
    this.#tableRole = tableRole;
    this.clock = options.clock;
    this.random = options.random;
    this.client = new DynamoDBClient({
      region: options.region,
      ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
      ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
      maxAttempts: 1,
      retryMode: 'standard',
      requestHandler: new NodeHttpHandler({
        connectionTimeout: CONNECTION_TIMEOUT_MS,
        requestTimeout: requestTimeoutMs,
        socketTimeout: requestTimeoutMs,
        throwOnRequestTimeout: true,
      }),
    });
  }

  /** Sends a read, again while it may help. @throws access-denied, not-found, invalid-config, unavailable */
  async read<Answer>(request: RequestName, send: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (cause) {
        const error = translateReadError(cause, this.#call(request));
        if (attempt === READ_ATTEMPTS_MAX || !isIcebergError(error, 'unavailable')) throw error;
      }
      const waitMsMax = READ_WAIT_MS_FIRST * 2 ** (attempt - 1);
      await this.clock.sleepMs(Math.floor(randomFraction(this.random) * waitMsMax));
    }
  }

  /**
   * Sends a write, once.
   *
   * @throws access-denied, not-found, invalid-config, commit-conflict, unavailable — certainly not applied
   * @throws commit-state-unknown — it may or may not have been applied, now or later
   */
  async write<Answer>(request: RequestName, send: () => Promise<Answer>): Promise<Answer> {
    try {
      return await send();
    } catch (cause) {
      throw translateWriteError(cause, this.#call(request));
    }
  }

  #call(request: RequestName): DynamoDbCall {
    return { ...request, tableRole: this.#tableRole, tableName: this.tableName };
  }
}
