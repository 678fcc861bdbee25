/**
 * Lambda on this machine, in one process: functions with deadlines and concurrency limits, invoked by queues, a
 * DynamoDB stream and schedules with the semantics of Lambda's event source mappings: batches, partial batch
 * responses, bisecting, retries, dead letters. Leaves out cold starts, memory limits and killing.
 */
export type { EventSource, InvocationReport } from './event-source.ts';
export type {
  HostedFunction,
  InvocationEnd,
  LambdaContext,
  LambdaFunction,
} from './hosted-function.ts';
export { LambdaHost, type LambdaHostOptions } from './lambda-host.ts';
export { QueueSource, type QueueSourceOptions } from './queue-source.ts';
export { Schedule, type ScheduleOptions } from './schedule.ts';
export { StreamSource, type StreamSourceOptions } from './stream-source.ts';
