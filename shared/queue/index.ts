/**
 * The queue port and its adapters: Amazon SQS standard queues with message groups, and memory with visibility
 * timeouts, redelivery, dead letters, fairness and faults. Senders and workers see a queue that delivers at least
 * once and in any order; receiving and deleting are the business of Lambda's event source mapping, or of the local
 * cloud. Knows nothing of what the messages mean; leaves out FIFO queues, batches and everything that changes a queue.
 */
export { Heartbeat, type HeartbeatOptions, type HeartbeatState } from './heartbeat.ts';
export {
  MemoryQueue,
  type MemoryQueueOptions,
  type QueueCounts,
  type QueueFaults,
  type ReceivedMessage,
  type SendFault,
} from './memory-queue.ts';
export type { DeadLetter, MessageQueue, OutgoingMessage } from './message-queue.ts';
export {
  createSqsClient,
  type SqsClientOptions,
  SqsQueue,
  type SqsQueueOptions,
} from './sqs-queue.ts';
