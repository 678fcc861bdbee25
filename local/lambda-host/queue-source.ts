import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Clock } from '../../shared/base/index.ts';
import type { MemoryQueue, ReceivedMessage } from '../../shared/queue/index.ts';
import { type EventSource, failedIds, type InvocationReport, reportOf } from './event-source.ts';
import type { HostedFunction } from './hosted-function.ts';

export interface QueueSourceOptions {
  readonly queue: MemoryQueue;
  readonly target: HostedFunction;
  /** 1 for operations that rewrite. */
  readonly batchSizeMax: number;
  /** Invocations from this queue at a time. */
  readonly concurrencyMax: number;
  readonly clock: Clock;
}

/**
 * Hands the messages of a queue to a function and deletes those that it is done with. A message that failed stays
 * hidden until its visibility timeout is over, and is then delivered again or becomes a dead letter.
 */
export class QueueSource implements EventSource {
  readonly #options: QueueSourceOptions;
  #underWayCount = 0;

  constructor(options: QueueSourceOptions) {
    this.#options = options;
  }

  dispatch(): readonly Promise<InvocationReport>[] {
    const { queue, target, batchSizeMax, concurrencyMax } = this.#options;
    const begun: Promise<InvocationReport>[] = [];
    while (target.hasCapacity() && this.#underWayCount < concurrencyMax) {
      const messages = queue.receive({ countMax: batchSizeMax });
      if (messages.length === 0) break;
      begun.push(this.#invoke(messages));
    }
    return begun;
  }

  nextDueAtMs(): number | undefined {
    return this.#options.queue.nextVisibleAtMs();
  }

  async #invoke(messages: readonly ReceivedMessage[]): Promise<InvocationReport> {
    const { queue, target, clock } = this.#options;
    const startMs = clock.nowMs();
    this.#underWayCount++;
    const event: SQSEvent = { Records: messages.map((message) => toRecord(message, queue.name)) };
    const end = await target.invoke(event);
    this.#underWayCount--;
    const ids = messages.map(({ messageId }) => messageId);
    const failed = failedIds(end, ids);
    for (const { messageId, receiptHandle } of messages) {
      if (!failed.has(messageId)) queue.delete(receiptHandle);
    }
    return reportOf(end, {
      functionName: target.name,
      durationMs: clock.nowMs() - startMs,
      eventCount: messages.length,
      failedCount: failed.size,
    });
  }
}

/** @see AWS Lambda, "Using Lambda with Amazon SQS": example of a standard queue's message event */
function toRecord(message: ReceivedMessage, queueName: string): SQSRecord {
  return {
    messageId: message.messageId,
    receiptHandle: message.receiptHandle,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(message.sentAtMs),
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs),
      MessageGroupId: message.groupId,
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queueName}`,
    awsRegion: 'us-east-1',
  };
}
