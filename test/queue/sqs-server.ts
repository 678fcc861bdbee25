import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryQueue, type ReceivedMessage } from '../../shared/queue/index.ts';

/** A request of the JSON protocol, as far as it is understood here. */
interface SqsRequest {
  readonly QueueName?: string;
  readonly QueueUrl?: string;
  readonly MessageBody?: string;
  readonly MessageGroupId?: string;
  readonly MessageAttributes?: Readonly<Record<string, { readonly StringValue: string }>>;
  readonly ReceiptHandle?: string;
  readonly VisibilityTimeout?: number;
}

interface Refusal {
  readonly __type: string;
}

/**
 * As much of SQS as the adapter needs, over the queue in memory: JSON protocol, standard queues, groups, message
 * attributes, and the service's own checks of texts and groups.
 */
export async function startSqsServer() {
  const clock = new ManualClock(1_000_000);
  const random = seededRandom(9);
  const queues = new Map<string, MemoryQueue>();
  const attributes = new Map<string, SqsRequest['MessageAttributes']>();

  const answer = async (operation: string, request: SqsRequest): Promise<object | Refusal> => {
    if (operation === 'CreateQueue') {
      const { QueueName: name = '' } = request;
      const limits = { visibilityTimeoutMs: 30_000, receiveCountMax: 100 };
      queues.set(name, new MemoryQueue({ name, ...limits, clock, random }));
      return { QueueUrl: `${endpoint}/000000000000/${name}` };
    }
    const queue = queues.get(request.QueueUrl?.split('/').at(-1) ?? '');
    if (queue === undefined) return { __type: 'com.amazonaws.sqs#QueueDoesNotExist' };
    const { ReceiptHandle = '', MessageBody = '', MessageGroupId = '' } = request;
    switch (operation) {
      case 'SendMessage': {
        if (!/^[\x21-\x7e]{1,128}$/.test(MessageGroupId)) {
          return { __type: 'com.amazonaws.sqs#InvalidParameterValueException' };
        }
        await queue.send({ body: MessageBody, groupId: MessageGroupId });
        attributes.set(MessageBody, request.MessageAttributes);
        return { MessageId: 'id', ...digests(MessageBody) };
      }
      case 'ReceiveMessage':
        return { Messages: queue.receive({ countMax: 1 }).map(toMessage) };
      case 'DeleteMessage':
        queue.delete(ReceiptHandle);
        return {};
      case 'ChangeMessageVisibility': {
        const visibilityMs = (request.VisibilityTimeout ?? 0) * 1000;
        const outcome = await queue.extendVisibility(ReceiptHandle, visibilityMs);
        return outcome === 'gone' ? { __type: 'com.amazonaws.sqs#MessageNotInflight' } : {};
      }
      default:
        return { __type: 'com.amazonaws.sqs#UnsupportedOperation' };
    }
  };

  const toMessage = (message: ReceivedMessage) => ({
    MessageId: message.messageId,
    ReceiptHandle: message.receiptHandle,
    Body: message.body,
    MD5OfBody: digests(message.body).MD5OfMessageBody,
    Attributes: { MessageGroupId: message.groupId },
    MessageAttributes: attributes.get(message.body),
  });

  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    request.on('end', () => {
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      const input = JSON.parse(Buffer.concat(chunks).toString()) as SqsRequest;
      void answer(operation, input).then((output) => {
        response.writeHead('__type' in output ? 400 : 200, {
          'content-type': 'application/x-amz-json-1.0',
        });
        response.end(JSON.stringify(output));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    endpoint,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function digests(body: string) {
  return { MD5OfMessageBody: createHash('md5').update(body).digest('hex') };
}
