import type { Clock, Random } from '../../shared/base/index.ts';
import type { Deployment } from '../../shared/deployment/index.ts';
import { MemoryQueue, type QueueFaults } from '../../shared/queue/index.ts';

/** What a deployment has to be told at least: everything else is as shipped. */
export const LEAST_ENVIRONMENT = {
  FIRN_CATALOG: 'dynamodb://us-east-1/iceberg',
  FIRN_STATE_LOCATION: 's3://firn-state/ledger/',
  FIRN_REWRITE_DATA_FILES_QUEUE: 'https://sqs.us-east-1.amazonaws.com/1/rewrite-data-files',
  FIRN_REWRITE_DATA_FILES_DEAD_LETTERS: 'https://sqs.us-east-1.amazonaws.com/1/rewrite-dead',
  FIRN_REWRITE_DELETES_QUEUE: 'https://sqs.us-east-1.amazonaws.com/1/rewrite-deletes',
  FIRN_REWRITE_DELETES_DEAD_LETTERS: 'https://sqs.us-east-1.amazonaws.com/1/deletes-dead',
  FIRN_EVENT_DEAD_LETTERS: 'https://sqs.us-east-1.amazonaws.com/1/events-dead',
} as const;

export interface MemoryQueues {
  readonly rewriteQueue: MemoryQueue;
  readonly deletesQueue: MemoryQueue;
  readonly eventQueue: MemoryQueue;
  /** As a deployment has them. */
  readonly queues: Deployment['queues'];
  readonly eventDeadLetters: Deployment['eventDeadLetters'];
}

/** The queues of a deployment, in memory. */
export function memoryQueues(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  faults: QueueFaults = {},
): MemoryQueues {
  const queue = (name: string): MemoryQueue =>
    new MemoryQueue({
      name,
      visibilityTimeoutMs: 180_000,
      receiveCountMax: 3,
      clock,
      random,
      faults,
    });
  const rewriteQueue = queue('rewrite-data-files');
  const deletesQueue = queue('rewrite-deletes');
  const eventQueue = queue('events');
  const queues = { 'rewrite-data-files': rewriteQueue, 'rewrite-deletes': deletesQueue };
  return { rewriteQueue, deletesQueue, eventQueue, queues, eventDeadLetters: eventQueue };
}
