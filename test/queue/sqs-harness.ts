import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { createSqsClient, SqsQueue } from '../../shared/queue/index.ts';
import type { QueueHarness } from './message-queue.conformance.ts';

/** The adapter on new queues of any server that speaks SQS's protocol, on a clock that never waits. */
export async function openSqsHarness(endpoint: string): Promise<QueueHarness> {
  const client = createSqsClient({
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const queueUrl = await createQueue(client, 'firn-conformance');
  const deadLetterQueueUrl = await createQueue(client, 'firn-conformance-dead-letters');
  const queue = new SqsQueue({
    client,
    queueUrl,
    deadLetterQueueUrl,
    clock: new ManualClock(0),
    random: seededRandom(1),
  });
  const deleteFrom = (url: string, ReceiptHandle: string) =>
    client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
  return {
    queue,
    receive: async () => {
      const message = await receiveFrom(client, queueUrl);
      if (message === undefined) return undefined;
      return { ...textOf(message), receiptHandle: message.ReceiptHandle ?? '' };
    },
    delete: async (receiptHandle) => {
      await deleteFrom(queueUrl, receiptHandle);
    },
    takeDeadLetters: async () => {
      const letters: Message[] = [];
      for (;;) {
        const letter = await receiveFrom(client, deadLetterQueueUrl);
        if (letter === undefined) break;
        await deleteFrom(deadLetterQueueUrl, letter.ReceiptHandle ?? '');
        letters.push(letter);
      }
      return letters.map((letter) => ({
        ...textOf(letter),
        reason: letter.MessageAttributes?.['firn-reason']?.StringValue ?? '',
      }));
    },
    close: async () => client.destroy(),
  };
}

async function createQueue(client: SQSClient, QueueName: string): Promise<string> {
  const Attributes = { VisibilityTimeout: '30' };
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

async function receiveFrom(client: SQSClient, QueueUrl: string): Promise<Message | undefined> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 1,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
  );
  return Messages[0];
}

function textOf({ Body = '', Attributes }: Message) {
  return { body: Body, groupId: Attributes?.MessageGroupId ?? '' };
}
