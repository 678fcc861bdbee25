import { createHash } from 'node:crypto';
import {
  ChangeMessageVisibilityCommand,
  SendMessageCommand,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { assert, type Clock, isIcebergError, type Random, randomFraction } from '../base/index.ts';
import type { DeadLetter, MessageQueue, OutgoingMessage } from './message-queue.ts';
import { fittingLetter, requireMessageBody } from './message-text.ts';
import { isMessageGone, type SqsAction, sqsError } from './sqs-errors.ts';

export interface SqsClientOptions {
  readonly region: string;
  /** Instead of the region's own endpoint. */
  readonly endpoint?: string;
  /** Instead of what the SDK finds in its surroundings. */
  readonly credentials?: NonNullable<SQSClientConfig['credentials']>;
}

export interface SqsQueueOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly clock: Clock;
  readonly random: Random;
}

const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;

/** Four attempts wait 1.4 s at most: a message that cannot be sent is found by the next sweep. */
const ATTEMPTS_MAX = 4;
const WAIT_MS_FIRST = 200;

/** SQS refuses more, counted from the receive. */
const VISIBILITY_SECONDS_MAX = 12 * 60 * 60;

/** What SQS takes as a group: 128 letters, digits and punctuation marks of ASCII. */
const GROUP_ID = /^[\x21-\x7e]{1,128}$/;

/** The attribute of a dead letter that says why it is one. */
const REASON_ATTRIBUTE = 'firn-reason';

/** Makes the client of `SqsQueue`; once per process. It never repeats a request: the queue does. */
export function createSqsClient({ region, endpoint, credentials }: SqsClientOptions): SQSClient {
  return new SQSClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      socketTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    }),
  });
}

/**
 * A standard queue of Amazon SQS and its queue of dead letters. Every request is repeated while it may help: a
 * message that is sent twice is a doorbell rung twice.
 */
export class SqsQueue implements MessageQueue {
  readonly #options: SqsQueueOptions;

  constructor(options: SqsQueueOptions) {
    this.#options = options;
  }

  async send({ body, groupId }: OutgoingMessage): Promise<void> {
    const { client, queueUrl } = this.#options;
    requireMessageBody(body, `queue ${queueUrl}`);
    await this.#request('sqs:SendMessage', queueUrl, () =>
      client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: body,
          MessageGroupId: sqsGroupId(groupId),
        }),
      ),
    );
  }

  async extendVisibility(
    receiptHandle: string,
    visibilityMs: number,
  ): Promise<'extended' | 'gone'> {
    const { client, queueUrl } = this.#options;
    const VisibilityTimeout = Math.ceil(visibilityMs / 1000);
    assert(
      VisibilityTimeout > 0 && VisibilityTimeout <= VISIBILITY_SECONDS_MAX,
      `visibility of ${visibilityMs} ms is not between 1 ms and 12 hours`,
    );
    const command = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout };
    return this.#request('sqs:ChangeMessageVisibility', queueUrl, async () => {
      try {
        await client.send(new ChangeMessageVisibilityCommand(command));
        return 'extended';
      } catch (error) {
        if (isMessageGone(error)) return 'gone';
        throw error;
      }
    });
  }

  async sendToDeadLetters(letter: DeadLetter): Promise<void> {
    const { client, deadLetterQueueUrl } = this.#options;
    const { body, groupId, reason } = fittingLetter(letter);
    await this.#request('sqs:SendMessage', deadLetterQueueUrl, () =>
      client.send(
        new SendMessageCommand({
          QueueUrl: deadLetterQueueUrl,
          MessageBody: body,
          MessageGroupId: sqsGroupId(groupId),
          MessageAttributes: { [REASON_ATTRIBUTE]: { DataType: 'String', StringValue: reason } },
        }),
      ),
    );
  }

  async #request<Answer>(
    action: SqsAction,
    queueUrl: string,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, random } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await send();
      } catch (cause) {
        const error = sqsError(action, queueUrl, cause);
        if (attempt === ATTEMPTS_MAX || !isIcebergError(error, 'unavailable')) throw error;
      }
      const waitMsMax = WAIT_MS_FIRST * 2 ** (attempt - 1);
      await clock.sleepMs(Math.floor(randomFraction(random) * waitMsMax));
    }
  }
}

/** The group itself where SQS takes it as it is; else a hash of it, which tells groups apart as well. */
function sqsGroupId(groupId: string): string {
  if (GROUP_ID.test(groupId)) return groupId;
  return `sha256-${createHash('sha256').update(groupId).digest('hex')}`;
}
